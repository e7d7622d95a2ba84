"""What a person is told: counts, reasons, the most telling numbers; and which batches run again."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_in_campaign import BATCH, StandIn

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.execute.build import broken_plugins
from collpress.execute.progress import Progress
from collpress.execute.status import coverage, retire_incomplete_receipts, summarise
from collpress.files import sha256_of
from collpress.layout import Places
from collpress.records import Status


def test_every_status_has_a_count_and_they_add_up(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.plan("ok", "crash", "fail")
    stand_in.sweep()
    capsys.readouterr()
    monkeypatch.chdir(stand_in.root)
    assert main(["status", "made-up", "--platform", "here", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert list(counts) == ["planned", *map(str, Status)]
    assert {name: n for name, n in counts.items() if n} == {"planned": 3, "ok": 1, "crashed": 1, "failed": 1}
    assert summarise(stand_in.directory) == "3 planned, 1 ok, 1 failed, 1 crashed"


def test_before_the_first_sweep_every_point_is_not_run_or_unsupported(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok")
    path = stand_in.directory / "plan" / "points.json"
    plan = json.loads(path.read_text(encoding="utf-8"))
    plan["points"][1] |= {"key": None, "batch": None, "unsupported": "4 ranks are needed"}
    path.write_text(json.dumps(plan), encoding="utf-8")
    became = [outlook.became for outlook in coverage(stand_in.directory).points]
    assert [(b.status, b.reason) for b in became] == [
        (Status.NOT_RUN, "never started"),
        (Status.UNSUPPORTED, "4 ranks are needed"),
    ]


def test_status_names_each_point_with_its_reason(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.plan("ok", "fail", launches=2)
    stand_in.sweep()
    capsys.readouterr()
    monkeypatch.chdir(stand_in.root)
    assert main(["status", "made-up", "--platform", "here"]) == 0
    said = capsys.readouterr().out
    assert "failed (1): said no\n  allreduce reference:fail, 8 B, 2 ranks  [0 of 2 launches ok]" in said
    assert "allreduce reference:ok, 8 B, 2 ranks  [2 of 2 launches ok]" in said


def test_a_size_is_told_with_its_prefix(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.plan("ok")
    path = stand_in.directory / "plan" / "points.json"
    plan = json.loads(path.read_text(encoding="utf-8"))
    plan["points"][0]["factors"] |= {"message_bytes": 262144, "ranks": 1}
    path.write_text(json.dumps(plan), encoding="utf-8")
    monkeypatch.chdir(stand_in.root)
    assert main(["status", "made-up", "--platform", "here"]) == 0
    assert "allreduce reference:ok, 256 KiB, 1 rank  [" in capsys.readouterr().out


def test_without_a_plan_status_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["status", "nothing"]) == 2
    assert "there is no plan yet" in capsys.readouterr().err


def test_receipts_of_batches_with_something_to_run_again_are_retired(stand_in: StandIn) -> None:
    stand_in.plan("ok", "crash-once")
    stand_in.sweep()
    assert retire_incomplete_receipts(stand_in.directory) == [BATCH]
    assert not (stand_in.own / "receipt.json").exists()
    stand_in.sweep()
    assert retire_incomplete_receipts(stand_in.directory) == []
    assert (stand_in.own / "receipt.json").exists()


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    path = tmp_path / "plan" / "points.json"
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(CollpressError, match="not a plan") as caught:
        coverage(tmp_path)
    assert caught.value.where == str(path)


class _Stream:
    """A terminal or a file that remembers what was written."""

    def __init__(self, terminal: bool) -> None:
        self.terminal, self.text = terminal, ""

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("terminal", "seconds", "lines"), [(True, 0.3, 4), (False, 0.3, 0), (False, 6.0, 4)])
def test_progress_is_sparse_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, seconds: float, lines: int
) -> None:
    clock = [0.0]
    monkeypatch.setattr("collpress.execute.progress.time.monotonic", lambda: clock[0])
    stream = _Stream(terminal)
    progress = Progress("measuring", 8, 2, stream)  # type: ignore[arg-type]
    for done in range(1, 5):
        clock[0] += seconds
        progress.done = done
        progress.show(0, done, 4)
    assert stream.text.count("points, launch 1 of 2") == lines
    if lines:
        assert f"measuring: 4/4 points, launch 1 of 2, {round(seconds * 4)} s left" in stream.text


def test_every_run_tells_once_which_plugins_could_not_be_used(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.plan("ok")
    stand_in.sweep()
    places, own = Places("made-up", "here"), stand_in.directory / "plugins" / "build.json"
    (stand_in.directory / "cube.nc").write_bytes(b"a cube")
    found = {"schema": 1, "cube": {"sha256": sha256_of(stand_in.directory / "cube.nc")}, "headlines": []}
    (stand_in.directory / "findings.json").write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.chdir(stand_in.root)
    nothing = SimpleNamespace(places=places, figures=list, plugin_sources=list, datasets=list)
    monkeypatch.setattr("collpress.verbs.run.Wiring", lambda *_: nothing)
    words = ["made-up", "--platform", "here"]
    # What Snakemake's last rule calls where anything changed, and nothing.
    rules = (lambda *_: main(["complete", *words]) == 0), (lambda *_: True)
    broken = [
        {"name": "mine", "source": "a/mine.cpp", "reason": "mine.cpp:12: compiler error: no"},
        {"name": "yours", "source": "a/yours.c", "reason": "yours.so: not a usable plugin"},
    ]
    line = "broken plugins: mine.cpp:12: compiler error: no; yours.c: yours.so: not a usable plugin"
    for record, told in (({"broken": broken}, True), ({"broken": []}, False), ({}, False)):
        own.parent.mkdir(exist_ok=True)
        own.write_text(json.dumps({"schema": 1, "plugins": [], **record}), encoding="utf-8")
        for rule in rules:
            monkeypatch.setattr("collpress.verbs.run._snakemake", rule)
            assert main(["run", *words]) == 0
            said = capsys.readouterr()
            assert (line in (said.out + said.err).splitlines()) == told
            assert (said.out + said.err).count("broken plugins") == told
    own.unlink()
    assert broken_plugins(own) == []
