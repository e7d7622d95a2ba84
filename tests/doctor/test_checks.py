"""Each other check of the doctor, on a machine with that fault."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pytest
from faulty_machines import platform_from, program

from collpress.doctor import clock, processors, software, storage, variables
from collpress.doctor.compiler import compiler
from collpress.doctor.examination import examine
from collpress.doctor.mpi import Hello
from collpress.doctor.result import Result
from collpress.doctor.survey import survey
from collpress.layout import ROOT
from collpress.plan.machine import Machine
from collpress.spec import load_platform

MACHINE = Machine("made up", cpus=2, cores=2, memory_bytes=1 << 30)
REAL = shutil.which("g++")


def test_a_problem_has_a_fix_and_a_verdict_says_what_was_found() -> None:
    for wrong in (("problem", "broken", ""), ("ok", "fine", "mend it"), ("skipped", "", "")):
        with pytest.raises(ValueError, match=r"."):
            Result("check", wrong[0], wrong[1], wrong[2])  # type: ignore[arg-type]


def test_a_machine_without_a_compiler_is_told_what_to_install(bare: Path, tmp_path: Path) -> None:
    verdict, found = compiler(tmp_path)
    assert found is None
    assert verdict.verdict == "problem"
    assert "no compiler for C++20 was found" in verdict.found
    assert "g++" in verdict.fix


@pytest.mark.usefixtures("gxx")
@pytest.mark.parametrize(
    ("linking", "told"),
    [
        (
            'echo "ld: cannot find -lstdc++" >&2; exit 1',
            "does not make a program: exit code 1: ld: cannot find -lstdc++",
        ),
        (
            'for last; do :; done; printf "#!/bin/sh\\nexit 9\\n" > "$last"; chmod +x "$last"',
            "does not run as it should",
        ),
    ],
)
def test_a_compiler_whose_programs_do_not_link_or_run_is_a_problem(
    linking: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = program(tmp_path / "g++", f'case " $* " in *" -c "*|*--version*) exec {REAL} "$@";; esac; {linking}')
    monkeypatch.setenv("CXX", str(broken))
    verdict, found = compiler(tmp_path)
    assert found is None
    assert told in verdict.found


@pytest.mark.usefixtures("gxx")
def test_a_compiler_that_works_is_ok(tmp_path: Path) -> None:
    verdict, found = compiler(tmp_path)
    assert verdict.verdict == "ok"
    assert found is not None


def test_packages_are_those_of_the_list(tmp_path: Path) -> None:
    locked = tmp_path / "list.txt"
    locked.write_text("numpy==0.0.1 \\\n    --hash=sha256:00\nno-such-thing==1.0 \\\n", encoding="utf-8")
    verdict = software.packages(locked)
    assert verdict.verdict == "problem"
    assert "locked is 0.0.1" in verdict.found
    assert "no-such-thing is not installed" in verdict.found


def test_packages_of_other_systems_and_hashes_are_passed_over(tmp_path: Path) -> None:
    from importlib.metadata import version

    locked = tmp_path / "list.txt"
    lines = [f"pydantic=={version('pydantic')} \\", "    --hash=sha256:00", "other==1.0 ; sys_platform == 'win32' \\"]
    locked.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert software.packages(locked).found.startswith("all 1 as locked")


def test_without_a_list_packages_are_not_judged(tmp_path: Path) -> None:
    assert software.packages(tmp_path / "none.txt").verdict == "skipped"
    (tmp_path / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    assert software.packages(tmp_path / "empty.txt").verdict == "skipped"


def test_the_checkouts_own_list_is_understood() -> None:
    pins = [
        line for line in software.LOCKED.read_text(encoding="utf-8").splitlines() if "==" in line and line[0].isalnum()
    ]
    assert len(pins) > 50
    assert all(software._PIN.match(line) for line in pins)


def test_an_old_python_is_a_problem() -> None:
    assert software.python((3, 10, 9)).verdict == "problem"
    assert software.python().verdict == "ok"


def test_results_that_cannot_be_written_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file in the way", encoding="utf-8")
    verdict = storage.disk(tmp_path / "results" / "here")
    assert verdict.verdict == "problem"
    assert "cannot be written" in verdict.found


def test_a_disk_with_too_little_room_is_a_problem_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    verdict = storage.disk(tmp_path, room=1 << 60)
    assert verdict.verdict == "problem"
    assert "free" in verdict.found
    assert storage.disk(tmp_path, room=1).verdict == "ok"
    assert list(tmp_path.iterdir()) == []


def test_shared_memory_that_cannot_be_used_is_a_problem_and_none_is_told() -> None:
    assert storage.shared_memory(2, Path("/proc")).verdict == "problem"
    assert storage.shared_memory(2, Path("/no/such/folder")).verdict == "note"


def test_a_temporary_folder_must_be_writable_and_have_a_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    assert storage.temporary().verdict == "problem"
    long = tmp_path / ("x" * storage.LONGEST_TMPDIR)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    assert storage.temporary().verdict == "note"


def test_a_coarse_clock_is_a_problem() -> None:
    ticks = count()
    assert clock.monotonic(lambda: next(ticks) // 3 * 10_000_000).verdict == "problem"
    assert clock.monotonic(lambda: next(ticks) * 40).verdict == "ok"
    assert clock.mpi_wtime(Hello(tick_s=1e-9, step_s=1e-3)).verdict == "problem"
    assert clock.mpi_wtime(Hello(tick_s=1e-9, step_s=4e-8)).verdict == "ok"
    assert clock.mpi_wtime(None).verdict == "skipped"


def test_more_ranks_than_cpus_are_noted_unless_the_platform_refuses_them() -> None:
    assert processors.oversubscription(platform_from("wheel", ranks=4, oversubscribe=False), MACHINE).verdict == "ok"
    assert processors.oversubscription(platform_from("wheel", ranks=4), MACHINE).verdict == "note"
    assert processors.oversubscription(platform_from("wheel", ranks=2), MACHINE).verdict == "ok"
    two_hosts = load_platform(ROOT / "config/platforms/two-hosts.yaml")  # on the processors of one machine
    assert processors.oversubscription(two_hosts, MACHINE).found.startswith("up to 4 ranks on 2 CPUs: points with more")


@pytest.mark.parametrize(
    ("running", "verdict"), [("1/200", "ok"), ("2/200", "note"), ("3/200", "problem"), ("9/200", "problem")]
)
def test_a_busy_machine_is_a_problem_when_no_cpu_is_left(
    running: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loadavg").write_text(f"0.00 0.00 0.00 {running} 4711\n", encoding="utf-8")
    monkeypatch.setattr(processors, "_EVERY_S", 0)
    assert processors.load(MACHINE, tmp_path).verdict == verdict
    assert processors.load(MACHINE, tmp_path / "nothing").verdict == "skipped"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("max 100000", "ok"), ("200000 100000", "ok"), ("150000 100000", "problem"), ("100000 100000", "problem")],
)
def test_a_quota_of_processor_time_must_cover_whole_cpus(said: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "fs/cgroup").mkdir(parents=True)
    (tmp_path / "fs/cgroup/cpu.max").write_text(said + "\n", encoding="utf-8")
    assert processors.quota(MACHINE, tmp_path).verdict == verdict
    assert processors.quota(MACHINE, tmp_path / "nothing").verdict == "skipped"


def test_the_governor_is_information_only(tmp_path: Path) -> None:
    assert processors.governor(tmp_path).verdict == "skipped"
    folder = tmp_path / "devices/system/cpu/cpu0/cpufreq"
    folder.mkdir(parents=True)
    (folder / "scaling_governor").write_text("powersave\n", encoding="utf-8")
    verdict = processors.governor(tmp_path)
    assert (verdict.verdict, verdict.found) == ("note", "powersave")


def test_variables_that_change_builds_are_a_problem_and_those_that_do_not_arrive_are_noted() -> None:
    wrong = variables.variables({"OMPI_CXXFLAGS": "-O0", "OMPI_MCA_btl": "tcp"})
    assert (wrong.verdict, wrong.fix) == ("problem", "unset OMPI_CXXFLAGS")
    assert variables.variables({"OMPI_MCA_btl": "tcp"}).verdict == "note"
    assert variables.variables({"OMPI_CXXFLAGS": "", "HOME": "/root"}).verdict == "ok"


def test_root_is_noted() -> None:
    assert variables.user(0).verdict == "note"
    assert variables.user(1000).verdict == "ok"


def test_a_full_temporary_folder_is_told_first_and_no_compiler_is_blamed(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_written", lambda place, size: "No space left on device" if size < 2 << 20 else "")
    told = {result.check: result for result in examine(platform_from("wheel"), tmp_path / "results")}
    assert next(iter(told)) == "temporary folder"
    assert told["temporary folder"].verdict == "problem"
    assert "No space left" in told["temporary folder"].found
    for check in ("C++20 compiler", "MPI wrapper", "launcher", "MPI on 2 ranks"):
        assert (told[check].verdict, told[check].found) == ("skipped", "needs a temporary folder"), check
    assert told["MPI_Wtime"].verdict == "skipped"
    assert told["shared memory"].verdict != "problem"
    assert survey().compiler.startswith("not looked for: temporary folder")
