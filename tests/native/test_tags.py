"""Tags: scopes that nest on every rank in every instrumented iteration, and nothing at all in timed ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, Entry, Outcome, point

from collpress.records.journal import parse_line

PARTS = ("compress", "send", "decompress", "reduce", "wait", "copy")
KINDS = {"send": "network", "wait": "network", "reduce": "reduction", "copy": "movement"}
KINDS |= {"compress": "codec", "decompress": "codec"}
PHASES = {
    "ring": ["reduce-scatter", "allgather"],
    "rabenseifner": ["fold", "reduce-scatter", "allgather", "unfold"],
    "recursive_doubling": ["fold", "exchange", "unfold"],
    "tree": ["reduce", "bcast"],
}
ITERATIONS = 3


@dataclass(frozen=True)
class Traced:
    """A launch on three ranks with its file of traces."""

    outcome: Outcome
    file: Path
    entries: dict[str, Entry]

    def record(self, name: str) -> dict[str, Any]:
        return self.outcome.record(self.entries[name])

    def lines(self, name: str) -> list[dict[str, Any]]:
        entry = self.record(name)["trace"]
        content = self.file.read_bytes()[entry["offset"] :][: entry["bytes"]]
        assert hashlib.sha256(content).hexdigest() == entry["sha256"]
        return [json.loads(line) for line in content.splitlines()]


@pytest.fixture(scope="module")
def traced(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    folder = tmp_path_factory.mktemp("traced")
    file = folder / "traces-1-0.jsonl"
    entries = {
        name: core.reference(
            name,
            instrumented=ITERATIONS,
            message_bytes=3000,
            tagged_plugin=core.build / "tagged/reference/allreduce" / f"{name}.so",
        )
        for name in PHASES
    }
    entries["untagged"] = core.reference("ring", instrumented=ITERATIONS)
    entries["none"] = core.reference("ring", instrumented=0, message_bytes=64)
    entries["library"] = point(instrumented=ITERATIONS)
    entries["compressed"] = core.compressed(
        "bf16",
        core.build / "plugins/codecs/bf16.so",
        instrumented=ITERATIONS,
        tagged_plugin=core.build / "tagged/compressed/allreduce/ring.so",
    )
    outcome = core.launch(folder, 3, entries.values(), "--traces", file)
    assert outcome.code == 0, outcome.errors
    assert {record["status"] for record in outcome.records()} == {"ok"}
    return Traced(outcome, file, entries)


TAGGED = [*PHASES, "compressed"]


@pytest.mark.parametrize("name", TAGGED)
def test_every_rank_tells_of_every_iteration(traced: Traced, name: str) -> None:
    lines = traced.lines(name)
    assert {line["key"] for line in lines} == {traced.entries[name]["key"]}
    told = Counter((line["rank"], line["iteration"]) for line in lines)
    assert told == {(rank, i): 1 for rank in range(3) for i in range(ITERATIONS)}


@pytest.mark.parametrize("name", TAGGED)
def test_scopes_nest(traced: Traced, name: str) -> None:
    for line in traced.lines(name):
        call = (line["begin_ns"], line["begin_ns"] + line["ns"])
        spans = [(begin, begin + ns) for _, _, _, begin, ns in line["events"]]
        last_end: dict[int | None, int] = {}
        for i, (_, _, parent, begin, ns) in enumerate(line["events"]):
            assert parent is None or parent < i
            outer = call if parent is None else spans[parent]
            assert outer[0] <= begin <= begin + ns <= outer[1]
            assert last_end.get(parent, begin) <= begin, "neighbours overlap"
            last_end[parent] = begin + ns


@pytest.mark.parametrize("name", TAGGED)
def test_calls_of_the_interface_lie_in_steps_and_these_in_phases(traced: Traced, name: str) -> None:
    for line in traced.lines(name):
        kinds = {i: event[1] for i, event in enumerate(line["events"])}
        for event, kind, parent, _, _ in line["events"]:
            if kind not in ("phase", "step"):  # a phase may be called as a call of the interface is
                assert kind == KINDS[event]
            inside = None if parent is None else kinds[parent]
            assert inside in {"phase": (None,), "step": ("phase",)}.get(kind, ("step", "phase", None))
        assert "step" in kinds.values()


@pytest.mark.parametrize(("name", "phases"), PHASES.items())
def test_phases_have_the_names_that_the_source_gives_them(traced: Traced, name: str, phases: list[str]) -> None:
    found = {event[0] for line in traced.lines(name) for event in line["events"] if event[1] == "phase"}
    assert found == set(phases)
    told = [phase["name"] for phase in traced.record(name)["phases_s"]["phases"] if phase["name"]]
    assert told == phases


@pytest.mark.parametrize("name", TAGGED)
def test_the_record_is_the_median_of_the_slowest_ranks_traces(traced: Traced, name: str) -> None:
    phases, lines = traced.record(name)["phases_s"], traced.lines(name)
    by_rank = [sorted(line["ns"] for line in lines if line["rank"] == rank)[1] for rank in range(3)]
    assert phases["rank"] == by_rank.index(max(by_rank))
    assert phases["total"] == pytest.approx(max(by_rank) * 1e-9)
    own = [line for line in lines if line["rank"] == phases["rank"]]
    for part in PARTS:
        spent = sorted(sum(e[4] for e in line["events"] if (e[0], e[1]) == (part, KINDS[part])) for line in own)
        assert phases[part] == pytest.approx(spent[1] * 1e-9), part


@pytest.mark.parametrize("name", TAGGED)
def test_the_parts_of_an_iteration_add_up_to_its_call(traced: Traced, name: str) -> None:
    for line in traced.lines(name):
        outermost = sum(event[4] for event in line["events"] if event[2] is None)
        assert outermost <= line["ns"]
        for i, (event, kind, _, _, ns) in enumerate(line["events"]):
            if kind in ("phase", "step"):
                inside = sum(inner[4] for inner in line["events"] if inner[2] == i)
                assert inside <= ns, event


def test_a_plugin_without_tags_has_its_calls_and_steps_but_no_phase(traced: Traced) -> None:
    kinds = {event[1] for line in traced.lines("untagged") for event in line["events"]}
    assert kinds == {"step", "network", "reduction"}
    (outside,) = traced.record("untagged")["phases_s"]["phases"]
    assert outside["name"] == ""


def test_without_an_instrumented_pass_and_of_the_library_there_is_no_trace(traced: Traced) -> None:
    for name in ("none", "library"):
        assert traced.record(name)["trace"] is None
        assert traced.record(name)["phases_s"] is None


def test_traces_of_ranks_on_one_machine_are_on_one_clock(traced: Traced) -> None:
    lines = traced.lines("ring")
    assert {line["origin"] for line in lines} == {"rank 0"}
    assert all(line["begin_ns"] == 0 for line in lines if line["rank"] == 0)


def test_records_with_phases_and_a_trace_are_records(traced: Traced) -> None:
    for name in traced.entries:
        parse_line(json.dumps(traced.record(name)), name)


def test_the_tagged_plugin_runs_in_the_instrumented_pass_only(core: Core, tmp_path: Path) -> None:
    """The tagged sister is a plugin that does nothing: a check or a timed iteration that ran it would be wrong."""
    wrong = core.build / "user/writes_nothing.so"
    entry = core.reference("ring", instrumented=2, tagged_plugin=wrong, message_bytes=512)
    record = core.launch(tmp_path, 2, [entry]).record(entry)
    # Neither the check nor a timed iteration ran it; the pass with tags did, and it sends nothing.
    assert record["reason"].startswith("the result of the pass with tags is wrong in")
    assert record["phases_s"]["send"] == 0
    swapped = core.reference("ring", plugin=wrong, instrumented=2, message_bytes=512)
    assert core.launch(tmp_path / "swapped", 2, [swapped]).record(swapped)["status"] == "invalid"


def test_phases_that_change_from_call_to_call_are_all_told(core: Core, user: Path, tmp_path: Path) -> None:
    """A phase that an iteration does not have took no time there."""
    plugin, tagged = (folder / "tags_by_turns.so" for folder in (user, core.build / "tagged/user"))
    entry = point(algorithm="reference:tags_by_turns", plugin=plugin, tagged_plugin=tagged, instrumented=3)
    outcome = core.launch(tmp_path, 2, [entry], "--traces", tmp_path / "traces.jsonl")
    assert outcome.code == 0, outcome.errors
    phases = {phase["name"]: phase["total"] for phase in outcome.record(entry)["phases_s"]["phases"]}
    assert list(phases) == ["first", "all", "second"]
    assert 0 < phases["first"] < phases["all"]


def test_the_pass_with_tags_is_checked_too(core: Core, user: Path, tmp_path: Path) -> None:
    """A plugin of its own runs there, whose phases would be those of a wrong algorithm."""
    right, wrong = user / "right_allreduce.so", user / "wrong_element.so"
    entry = point(algorithm="reference:right_allreduce", plugin=right, tagged_plugin=wrong, instrumented=2)
    record = core.launch(tmp_path, 3, [entry]).record(entry)
    assert record["status"] == "invalid"
    assert record["reason"].startswith("the result of the pass with tags is wrong in 1 elements")
