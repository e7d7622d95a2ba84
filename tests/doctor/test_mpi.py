"""The doctor's MPI checks: a program on two ranks must be one world, started as a batch's core is."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty_machines import RUN_PROGRAM, Prefix, platform_from, program

from collpress.doctor import mpi
from collpress.doctor.result import Result
from collpress.execute.toolchain import Toolchain, resolve_toolchain
from collpress.plan.machine import Machine
from collpress.spec import Platform


def examined(platform: Platform, machine: Machine, folder: Path, seconds: float = 60) -> Result:
    folder.mkdir(exist_ok=True)
    verdict, toolchain = mpi.wrapper(platform, folder)
    assert toolchain is not None, verdict
    return mpi.hello(platform, toolchain, machine, folder, seconds)[0]


def test_the_wheel_is_one_world_of_two_and_tells_the_resolution_of_its_clock(
    wheel: Platform, machine: Machine, tmp_path: Path
) -> None:
    verdict, toolchain = mpi.wrapper(wheel, tmp_path)
    assert verdict.verdict == "ok"
    assert "Open MPI 5" in verdict.found
    assert toolchain is not None
    assert mpi.launcher(toolchain).verdict == "ok"
    verdict, hello = mpi.hello(wheel, toolchain, machine, tmp_path)
    assert (verdict.verdict, verdict.found.split(",")[0]) == ("ok", "one world of 2")
    assert hello is not None
    assert 0 < hello.step_s < 1
    assert 0 < hello.tick_s < 1


def test_a_launcher_of_another_mpi_starts_worlds_of_one_rank_and_is_named(
    prefix: Prefix, machine: Machine, tmp_path: Path
) -> None:
    prefix.launcher(f'{RUN_PROGRAM}; for rank in $(seq "$n"); do "$@" & done; wait')
    verdict = examined(prefix.platform, machine, tmp_path / "work")
    assert verdict.verdict == "problem"
    assert verdict.found == "2 worlds of 1 rank each, not one of 2: mpiexec belongs to another MPI than the wrapper"
    assert "toolchain.from" in verdict.fix


def test_mpich_is_one_world_of_two_and_its_launcher_behind_another_wrapper_is_named(
    mpich: Path, prefix: Prefix, machine: Machine, tmp_path: Path
) -> None:
    assert examined(platform_from("wheel", "mpich"), machine, tmp_path / "one").found.startswith(
        "one world of 2, MPICH"
    )
    prefix.launcher(f'{RUN_PROGRAM}; exec "{mpich}/bin/mpiexec" -n "$n" "$@"')
    verdict = examined(prefix.platform, machine, tmp_path / "other")
    assert (verdict.verdict, verdict.found.split(",")[0]) == ("problem", "2 worlds of 1 rank each")


def test_a_launcher_that_starts_fewer_ranks_is_a_problem(prefix: Prefix, machine: Machine, tmp_path: Path) -> None:
    prefix.launcher(f'{RUN_PROGRAM}; exec "$@"')
    verdict = examined(prefix.platform, machine, tmp_path / "work")
    assert (verdict.verdict, verdict.found) == ("problem", "a world of 1 ranks, not of 2")


@pytest.mark.parametrize(
    ("launcher", "told"),
    [
        ("echo 'no slots are left' >&2; exit 3", "exit code 3: no slots are left"),
        ("exit 0", "exit code 0"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
    ],
)
def test_a_launcher_that_fails_is_told_in_its_own_words(
    launcher: str, told: str, prefix: Prefix, machine: Machine, tmp_path: Path
) -> None:
    prefix.launcher(launcher)
    verdict = examined(prefix.platform, machine, tmp_path / "work")
    assert verdict.verdict == "problem"
    assert told in verdict.found


def test_a_launcher_that_hangs_is_ended_with_all_that_it_started(
    prefix: Prefix, machine: Machine, tmp_path: Path
) -> None:
    left = tmp_path / "pid"
    prefix.launcher(f"sleep 600 & echo $! > '{left}'; wait")
    verdict = examined(prefix.platform, machine, tmp_path / "work", seconds=0.5)
    assert "no end within 0.5 s, killed" in verdict.found
    state = Path(f"/proc/{left.read_text(encoding='utf-8').strip()}/stat")
    assert not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_a_wrapper_that_does_not_make_programs_is_told_in_its_own_words(
    prefix: Prefix, machine: Machine, tmp_path: Path
) -> None:
    program(
        prefix.folder / "bin" / "mpicxx",
        '[ "$1" = --showme:version ] && echo "mpicxx: Open MPI 5.0.11" && exit; echo "no mpi.h here" >&2; exit 1',
    )
    verdict = examined(prefix.platform, machine, tmp_path / "work")
    assert "exit code 1: no mpi.h here" in verdict.found


def test_a_launcher_that_is_not_there_is_a_problem(prefix: Prefix, tmp_path: Path) -> None:
    (prefix.folder / "bin" / "mpiexec").unlink()
    toolchain: Toolchain = resolve_toolchain(str(prefix.folder), tmp_path)
    verdict = mpi.launcher(toolchain)
    assert verdict.verdict == "problem"
    assert str(prefix.folder / "bin" / "mpiexec") in verdict.found


def test_a_wrapper_of_another_kind_than_the_platform_says_is_a_problem(wheel: Platform, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "mpicxx", '[ "$1" = -v ] || exit 1; echo "mpicxx for MPICH version 4.2.0"')
    verdict, toolchain = mpi.wrapper(platform_from(str(tmp_path)), tmp_path)
    assert toolchain is None
    assert verdict.verdict == "problem"
    assert "belongs to MPICH 4.2.0, but toolchain.mpi says openmpi" in verdict.found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("exit 1", "does not say which MPI"),
        ('echo "mpicxx: Open MPI 4.1.4 (Language: C++)"', "no libmpi.so under its own prefix"),
    ],
)
def test_an_installation_that_is_not_whole_is_a_problem(text: str, told: str, wheel: Platform, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "mpicxx", text)
    verdict, _ = mpi.wrapper(platform_from(str(tmp_path)), tmp_path)
    assert verdict.verdict == "problem"
    assert told in verdict.found


def test_a_prefix_without_a_wrapper_is_a_problem(wheel: Platform, tmp_path: Path) -> None:
    verdict, _ = mpi.wrapper(platform_from(str(tmp_path / "nowhere")), tmp_path)
    assert "no MPI compiler wrapper at" in verdict.found
