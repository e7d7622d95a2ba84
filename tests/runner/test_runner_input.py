"""What cannot be read starts nothing: exit 2, FILE:LINE, and the core's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from native_core import Core, plan_text, point
from runner_process import Runner

from collpress.errors import CollpressError
from collpress.runner.command_line import read_command_line
from collpress.runner.plan import PlanError, read_plan

FILE = {"data": "file", "data_path": "x.bin", "data_elements": 12}
COMPRESSED = {"algorithm": "compressed:ring", "plugin": "x.so", "codec": "zfp", "codec_plugin": "zfp.so"}
BAD_POINTS: list[dict[str, Any]] = [
    {"collective": "allgater"},
    {"collective": "allreduce", "root": 1},
    {"collective": "bcast", "root": "two"},
    {"collective": "scatter", "buffers": "in-place"},
    {"collective": "bcast", "imbalance": "linear"},
    {"call": "later"},
    {"sync": "fence"},
    {"alignment": 96},
    {"alignment": 32},
    {"fanout": 1},
    {"segment_bytes": 0},
    {"algorithm": "ring"},
    {"algorithm": "library:default", "plugin": "x.so"},
    {"algorithm": "reference:ring"},
    {"tagged_plugin": "x.so"},
    {"at_least": "0"},
    {"algorithm": "compressed:ring", "plugin": "x.so"},
    {"codec": "zfp"},
    {"codec_parameters": "1"},
    *({**COMPRESSED, "codec_parameters": text} for text in ("", " 1", "1  2", "1,2", "nan", "1e999")),
    {"bound": "rel", "bound_value": "1e-3"},
    {"bound_value": "1e-3"},
    {"dtype": "float80"},
    {"op": None},
    {"message_bytes": -1},
    {"message_bytes": 2**64},
    {"min_iterations": 0},
    {"max_iterations": 1},
    {"precision": "0"},
    {"precision": "nan"},
    {"at_most": "1e999"},
    {"at_most": " 1"},
    {"warmup": "1_000"},
    {"instrumented": None},
    {"data": "pattern", "wrap": "repeat"},
    {**FILE, "data_parts": 5},
    {**FILE, "data_parts": 0},
    {**FILE, "row": 1},
    {**FILE, "row": 7},
    {**FILE, "row": 0},
    {**FILE, "plane": 6},
    {**FILE, "row": 4, "plane": 4},
    {**FILE, "row": 4, "plane": 6},
    {**FILE, "row": 4, "plane": 8},
    {"row": 8},
    {"feedback": 0},
    {"feedback": 1_000_001},
    {"feedback": 2, "op": "max"},
    {"feedback": 2, "dtype": "int32"},
    {"feedback": 2, "collective": "reduce"},
    {**FILE, "data_dtype": "float64"},
    {**FILE, "dtype": "float64", "data_dtype": "bfloat16"},
    {**FILE, "wrap": "perturb"},
    {**FILE, "wrap": "mirror", "wrap_seed": 1},
    {**FILE, "wrap": "perturb", "wrap_seed": 1, "wrap_amplitude": 1},
    {**FILE, "wrap": "perturb", "dtype": "int32"},
    {"metrics": "a.so"},
    {**FILE, "metrics": "a/x.so\nb/x.so"},
    {**FILE, "metrics": "a.so\n"},
    {**FILE, "metrics": "a.so", "dtype": "int32"},
]
IDENTITY = "key=" + "0" * 32 + "\tid=" + "0" * 32
BAD_TEXTS = [
    "",
    "collpress-plan\t2\n",
    "collpress-plan\t1\nnonsense\n",
    "collpress-plan\t1\n\n",
    "collpress-plan\t1\nkey=1\tid=2\n",
    f"collpress-plan\t1\n{IDENTITY}\tcolour=red\n",
    f"collpress-plan\t1\n{IDENTITY}\tcollective=allreduce\tcollective=reduce\n",
    f"collpress-plan\t1\n{IDENTITY}\tcollective=all%2\n",
    plan_text([point()]) + plan_text([point()]).partition("\n")[2],
]


def without_hint(message: str) -> str:
    """Which word is nearest, each finds in its own way; and the core knows no other backend."""
    message = message.replace(", backend", "")
    before, found, after = message.partition(' (did you mean "')
    return before + after.partition('"?)')[2] if found else before


@pytest.mark.parametrize(
    "text",
    [
        plan_text([point(), point(message_bytes=512, **changes)])
        for changes in BAD_POINTS
        if "message_bytes" not in changes
    ]
    + [plan_text([point(), point(**changes)]) for changes in BAD_POINTS if "message_bytes" in changes]
    + BAD_TEXTS,
)
def test_a_bad_plan_is_told_in_the_cores_words(core: Core, tmp_path: Path, text: str) -> None:
    plan = tmp_path / "plan.tsv"
    plan.write_text(text, encoding="utf-8")
    arguments = ("--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    theirs = core.call("--plan", plan, "--journal", tmp_path / "journal.jsonl", *arguments)
    assert theirs.returncode == 2
    with pytest.raises(PlanError) as own:
        read_plan(str(plan))
    assert without_hint(str(own.value)) == without_hint(theirs.stderr.strip())
    assert str(own.value).startswith(f"{plan}:")


def test_a_bad_plan_ends_every_rank_with_2_before_mpi(runner: Runner, tmp_path: Path) -> None:
    outcome = runner.launch(tmp_path, 2, [point(), point(op="mean")])
    assert (outcome.code, outcome.lines) == (2, [])
    assert outcome.errors.count(f'{tmp_path / "plan.tsv"}:3: key "op": unknown value "mean"') == 1
    assert "Traceback" not in outcome.errors


def test_a_world_of_another_size_is_told(runner: Runner, tmp_path: Path) -> None:
    outcome = runner.launch(tmp_path, 2, [point()], claimed_ranks=3)
    assert outcome.code == 4
    assert "the launcher started 2 ranks, the plan is for 3" in outcome.errors


def test_a_journal_that_cannot_be_written_ends_the_launch(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "plan.tsv").write_text(plan_text([point()]), encoding="utf-8")
    arguments = ["--plan", tmp_path / "plan.tsv", "--journal", tmp_path / "no" / "journal.jsonl"]
    done = runner.program_on_ranks(2, "", *arguments, "--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 2)
    assert done.returncode == 5
    assert "No such file or directory" in done.stderr


def test_a_torn_last_line_is_cut_before_the_journal_goes_on(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"kind": "end"}\n{"kind": "rec', encoding="utf-8")
    outcome = runner.launch(tmp_path, 1, [point()])
    assert [line["kind"] for line in outcome.lines] == ["end", "launch", "begin", "record", "end"]


USAGE = {"--plan": "p", "--journal": "j", "--launch": "0", "--attempt": "1", "--seed": "1", "--ranks": "1"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"--plan": None}, "--plan"),
        ({"--ranks": "0"}, '"0" is not a whole number from 1 to'),
        ({"--seed": "-1"}, "whole number"),
        ({"--seed": str(2**64)}, "whole number"),
        ({"--samples-mode": "some"}, "invalid choice: 'some'"),
        ({"--samples-mode": "all"}, "--samples-mode needs --samples FILE"),
        ({"--colour": "red"}, "unrecognized arguments: --colour"),
    ],
)
def test_a_bad_command_line_is_told(changes: dict[str, str | None], told: str) -> None:
    words = [word for name, value in (USAGE | changes).items() if value is not None for word in (name, value)]
    with pytest.raises(CollpressError, match=told):
        read_command_line(words)
