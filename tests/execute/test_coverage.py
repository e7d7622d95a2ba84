"""What a person is told: counts, reasons, the most telling numbers; and which batches run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stand_in_campaign import BATCH, StandIn, key

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.execute.findings import findings
from collpress.execute.progress import Progress
from collpress.execute.status import coverage, retire_incomplete_receipts, summarise
from collpress.records import Status

UTC = "2026-01-31T12:00:00.000000Z"


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


def test_complete_fails_while_a_point_is_not_ok_and_writes_its_summary_when_all_are(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = stand_in.directory / "summary.json"
    monkeypatch.chdir(stand_in.root)
    stand_in.plan("ok", "crash-once")
    stand_in.sweep()
    assert main(["complete", "made-up", "--platform", "here"]) == 3
    said = capsys.readouterr()
    assert "2 points planned, 1 ok" in said.out
    assert "1 crashed: killed by SIGSEGV" in said.out
    assert "1 of 2 points should be ok and are not" in said.err
    assert not summary.exists()
    stand_in.sweep()
    assert main(["complete", "made-up", "--platform", "here"]) == 0
    assert json.loads(summary.read_text(encoding="utf-8"))["counts"]["ok"] == 2


def _seen(directory: Path, points: list[dict[str, Any]]) -> Any:
    """Coverage of points given as factors with `times` (medians of the launches) and a `check`."""
    planned, lines = [], []
    for n, given in enumerate(points):
        point = {
            "collective": "allreduce",
            "codec": "none",
            "error_bound": "none",
            "message_bytes": 8,
            "ranks": 2,
            **given,
        }
        times, check = point.pop("times"), point.pop("check", None)
        own = {"key": key(n), "id": key(n), "experiment": "e", "batch": "b", "unsupported": None, "failed": None}
        planned.append({**own, "factors": point})
        for launch, seconds in enumerate(times):
            names = [
                "median",
                "ci_low",
                "ci_high",
                "min",
                "p05",
                "p25",
                "p75",
                "p95",
                "p99",
                "max",
                "mean",
                "sd",
                "mad",
            ]
            record = {"kind": "record", "schema": 1, "key": key(n), "id": key(n), "launch": launch, "attempt": 1}
            record |= {"utc": UTC, "by": "core", "status": "ok", "reason": None, "n": 9, "check": check}
            lines.append(json.dumps({**record, "time_s": dict.fromkeys(names, seconds)}))
    plan = {"campaign": "c", "platform": "p", "launches": len(points[0]["times"]), "points": planned}
    for name, text in {
        "plan/points.json": json.dumps(plan),
        "batches/b/journal-1.jsonl": "\n".join(lines) + "\n",
    }.items():
        (directory / name).parent.mkdir(parents=True)
        (directory / name).write_text(text, encoding="utf-8")
    return coverage(directory)


def test_the_best_algorithm_is_told_only_where_launches_lie_apart(tmp_path: Path) -> None:
    found = findings(
        _seen(
            tmp_path,
            [
                {"algorithm": "library:default", "times": [8.0, 9.0, 10.0]},
                {"algorithm": "reference:overlaps", "times": [1.0, 2.0, 8.5]},
                {"algorithm": "reference:apart", "times": [5.0, 6.0, 7.0]},
                {"algorithm": "reference:other_size", "message_bytes": 16, "times": [1.0, 1.0, 1.0]},
            ],
        )
    )
    assert [(f.name, f.value, f.keys) for f in found] == [("best_over_default", 1.5, [key(2), key(0)])]
    assert "1.50 times as fast (allreduce reference:apart, 8 B, 2 ranks)" in found[0].text


@pytest.mark.parametrize(
    ("seconds", "value", "words"),
    [
        ([2.0], 2.0, "best codec: 2.00 times as fast"),
        ([8.0], 0.5, "no codec paid off: the nearest took 2.00 times as long"),
        ([4.0, 4.1], 0.988, "best codec: no difference shown"),
    ],
)
def test_a_codec_is_compared_with_the_same_collective_without_one(
    tmp_path: Path, seconds: list[float], value: float, words: str
) -> None:
    same = {"algorithm": "compressed:ring"}
    coded = {**same, "codec": "zfp", "error_bound": "rel 1e-3", "times": seconds}
    found = findings(_seen(tmp_path, [{**same, "times": [4.0] * len(seconds)}, coded]))
    assert [(f.name, round(f.value, 3)) for f in found] == [("codec_over_none", value)]
    assert words in found[0].text


def test_the_largest_error_is_measured_against_codec_and_rounding_bound_together(tmp_path: Path) -> None:
    other = {"mean_error": None, "value_range": None, "psnr_db": None, "worst": None}
    checks: list[tuple[float, float | None, float | None]] = [(0.5, 0.75, 0.25), (0.1, 1.0, None), (9.0, None, 1.0)]
    points = []
    for number, (error, bound, rounding) in enumerate(checks):
        check = {**other, "max_abs_error": error, "bound": bound, "rounding_bound": rounding}
        points.append({"algorithm": "compressed:ring", "codec": f"c{number}", "times": [1.0], "check": check})
    found = findings(_seen(tmp_path, points))
    assert [(f.name, f.value, f.keys) for f in found] == [("error_over_bound", 0.5, [key(0)])]


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
