"""`collpress trace`: what the ranks did in a real launch, as a document in the Trace Event Format."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, Entry, point

sys.path.insert(0, str(Path(__file__).parents[1] / "dossier"))

from made_up_campaign import BATCH, write_plan

from collpress.cli import main
from collpress.dossier.search import find_point
from collpress.dossier.trace import trace_events

Document = dict[str, Any]
RANKS, ITERATIONS = 3, 2


@pytest.fixture(scope="module")
def measured(core: Core, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Entry]]:
    """A checkout with a frozen plan and what a real launch wrote."""
    root = tmp_path_factory.mktemp("a checkout é")
    ring = core.build / "tagged/reference/allreduce/ring.so"
    entries = {
        "ring": core.reference("ring", instrumented=ITERATIONS, tagged_plugin=ring),
        "none": core.reference("ring", instrumented=0),
        "library": point(instrumented=ITERATIONS),
    }
    cut = planned("cut", {"id": "f" * 32, "key": "", "algorithm": "reference:ring"})
    cut |= {"key": None, "batch": None, "unsupported": "2 CPUs for 3 ranks"}
    unmeasured = planned("later", {"id": "e" * 32, "key": "d" * 32, "algorithm": "reference:ring"})
    folder = write_plan(root, [*(planned(name, entry) for name, entry in entries.items()), cut, unmeasured], launches=1)
    batch = folder / "batches" / BATCH
    outcome = core.launch(batch, RANKS, entries.values(), "--traces", batch / "traces-1-0.jsonl")
    assert outcome.code == 0, outcome.errors
    (batch / "journal.jsonl").rename(batch / "journal-1.jsonl")
    return root, entries


def planned(experiment: str, entry: Entry) -> dict[str, Any]:
    factors = {"collective": "allreduce", "algorithm": entry["algorithm"], "codec": "none", "error_bound": "none"}
    factors |= {"dataset": "pattern", "dtype": "float32", "op": "sum", "message_bytes": 256, "ranks": RANKS, "nodes": 1}
    own = {"id": entry["id"], "key": entry["key"], "experiment": experiment, "factors": factors}
    return own | {"batch": BATCH, "unsupported": None, "failed": None}


@pytest.fixture
def entries(
    measured: tuple[Path, dict[str, Entry]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Entry]:
    """The points of a copy of the checkout, which is the working directory now."""
    root, entries = measured
    shutil.copytree(root, tmp_path / "checkout é")
    monkeypatch.chdir(tmp_path / "checkout é")
    return entries


def written(*arguments: str) -> Document:
    assert main(["trace", *arguments, "--out", "out.json"]) == 0
    document = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def slices(document: Document) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == "X"]


def check_format(document: Document) -> None:
    """What the Trace Event Format asks of documents, complete events and metadata."""
    assert isinstance(document["traceEvents"], list)
    assert document["displayTimeUnit"] in ("ms", "ns")
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is type(event["tid"]) is int
        if event["ph"] == "X":
            assert isinstance(event["cat"], str)
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            assert set(event) == {"name", "cat", "ph", "ts", "dur", "pid", "tid"}
        else:
            assert event["ph"] == "M"
            key = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}[event["name"]]
            assert set(event["args"]) == {key}


def test_the_document_is_in_the_trace_event_format(entries: dict[str, Entry]) -> None:
    check_format(written(entries["ring"]["id"][:8]))


def test_a_process_is_a_rank_and_a_thread_an_iteration_and_each_is_named(entries: dict[str, Entry]) -> None:
    document = written(entries["ring"]["id"][:8])
    names = {(e["name"], e["pid"], e["tid"]): e["args"] for e in document["traceEvents"] if e["ph"] == "M"}
    for rank in range(RANKS):
        assert names["process_name", rank, 0] == {"name": f"rank {rank}"}
        for i in range(ITERATIONS):
            assert names["thread_name", rank, i] == {"name": f"iteration {i}"}
    assert {(e["pid"], e["tid"]) for e in slices(document)} == {(r, i) for r in range(RANKS) for i in range(ITERATIONS)}


def test_slices_are_the_recorded_events_and_nest_by_time(entries: dict[str, Entry]) -> None:
    document = written(entries["ring"]["id"][:8])
    path = next(Path("results").glob("**/traces-1-0.jsonl"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        own = [e for e in slices(document) if (e["pid"], e["tid"]) == (line["rank"], line["iteration"])]
        assert own[0]["name"] == "reference:ring"
        assert [(e["name"], e["cat"]) for e in own[1:]] == [(e[0], e[1]) for e in line["events"]]
        assert [e["dur"] for e in own[1:]] == pytest.approx([e[4] / 1e3 for e in line["events"]])
        open_until: list[float] = []
        for event in own:
            while open_until and event["ts"] >= open_until[-1] - 1e-6 and event is not own[0]:
                open_until.pop()
            assert not open_until or event["ts"] + event["dur"] <= open_until[-1] + 1e-6
            open_until.append(event["ts"] + event["dur"])
    phases = {event["name"] for event in slices(document) if event["cat"] == "phase"}
    assert phases == {"reduce-scatter", "allgather"}


def test_the_first_moment_of_an_iteration_is_zero_and_ranks_keep_their_distance(entries: dict[str, Entry]) -> None:
    document = written(entries["ring"]["id"][:8])
    path = next(Path("results").glob("**/traces-1-0.jsonl"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for i in range(ITERATIONS):
        calls = {e["pid"]: e["ts"] for e in slices(document) if e["tid"] == i and e["cat"] == "call"}
        begins = {line["rank"]: line["begin_ns"] for line in lines if line["iteration"] == i}
        assert min(calls.values()) == 0
        assert calls[1] - calls[0] == pytest.approx((begins[1] - begins[0]) / 1e3)
    assert document["otherData"]["clock"] == "all ranks look at one clock"


def test_one_iteration_is_written_alone(entries: dict[str, Entry]) -> None:
    document = written(entries["ring"]["id"][:8], "--iteration", "1")
    assert {event["tid"] for event in slices(document)} == {1}


def test_without_a_name_the_file_goes_beside_the_campaigns_results(
    entries: dict[str, Entry], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", entries["ring"]["id"][:8], "--campaign", "quick", "--platform", "local"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == Path(f"results/campaigns/quick/local/traces/{entries['ring']['id']}-0.json")
    check_format(json.loads(path.read_text(encoding="utf-8")))


def test_clocks_of_their_own_are_told(entries: dict[str, Entry]) -> None:
    line = {"rank": 0, "iteration": 0, "origin": "own", "begin_ns": 0, "ns": 5, "events": []}
    found = find_point(entries["ring"]["id"][:8])
    document = trace_events(found, {"key": "k", "launch": 0}, [line, {**line, "rank": 1}])
    assert "moments of different ranks cannot be compared" in document["otherData"]["clock"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("library", (), "an algorithm of the library has no trace"),
        ("none", (), "its campaign asks for no instrumented pass"),
        ("f" * 8, (), "was not measured: 2 CPUs for 3 ranks"),
        ("e" * 8, (), "the point has no record yet"),
        ("ring", ("--launch", "7"), "the point has no record of launch 7"),
        ("ring", ("--iteration", "7"), "the trace has no iteration 7"),
    ],
)
def test_a_point_without_a_trace_says_why(
    name: str, arguments: tuple[str, ...], said: str, entries: dict[str, Entry], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", entries[name]["id"][:8] if name in entries else name, *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_a_file_that_is_gone_or_changed_is_told(entries: dict[str, Entry], capsys: pytest.CaptureFixture[str]) -> None:
    path = next(Path("results").glob("**/traces-1-0.jsonl"))
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"reduce-scatter"', b'"reduce-SCATTER"', 1))
    assert main(["trace", entries["ring"]["id"][:8]]) == 2
    assert "another sha256" in capsys.readouterr().err
    path.write_bytes(content[:-1])
    assert main(["trace", entries["ring"]["id"][:8]]) == 2
    assert "another sha256" in capsys.readouterr().err
    path.unlink()
    assert main(["trace", entries["ring"]["id"][:8]]) == 2
    told = capsys.readouterr().err
    assert f"{path}" in told
    assert "the trace cannot be read: No such file or directory" in told
