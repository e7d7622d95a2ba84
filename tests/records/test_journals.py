"""Journals: what is read, what is ignored and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.cube.flags import KNOWN_BY
from collpress.errors import CollpressError
from collpress.records import Record, Status, parse_line, point_status, read_campaign, read_journal
from collpress.records.schema import Effective, json_schema, json_schema_text
from collpress.records.upgrade import upgraded

UTC = "2026-01-31T12:00:00.000000Z"
KEY = "0" * 31 + "1"
TIMES = dict.fromkeys(
    ["median", "ci_low", "ci_high", "min", "p05", "p25", "p75", "p95", "p99", "max", "mean", "sd", "mad"], 1e-3
)
CONTRACT = Path(__file__).resolve().parents[2] / "docs" / "contracts.md"


def line(**changed: Any) -> dict[str, Any]:
    """A record as a journal holds it."""
    own = {"kind": "record", "schema": 1, "key": KEY, "id": KEY, "launch": 0, "attempt": 1, "utc": UTC, "by": "core"}
    return {**own, "status": "ok", "reason": None, "n": 3, "time_s": TIMES, **changed}


def record(**changed: Any) -> Record:
    parsed = parse_line(json.dumps(line(**changed)), "here:1")
    assert isinstance(parsed, Record)
    return parsed


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    return path


def test_the_schema_file_is_the_models() -> None:
    path = Path(__file__).resolve().parents[2] / "workflow" / "collpress" / "records" / "record.schema.json"
    assert path.read_text(encoding="utf-8") == json_schema_text()


def test_every_word_of_evidence_is_one_that_the_core_writes_and_the_cube_knows() -> None:
    words = get_args(Effective.model_fields["known_by"].annotation)
    native = CONTRACT.parents[1] / "native" / "src"
    source = "".join(path.read_text(encoding="utf-8") for path in native.rglob("*.?pp"))
    assert [word for word in words if f'"{word}"' not in source] == []
    assert {word.replace(" ", "_") for word in words} == set(KNOWN_BY) - {"unknown"}


def test_every_example_line_of_the_contract_is_a_valid_line() -> None:
    text = CONTRACT.read_text(encoding="utf-8").split("## Journal")[1].split("```json\n")[1].split("```")[0]
    text = (
        text.replace('["<key>", "..."]', f'["{KEY}"]')
        .replace('"..."', f'"{UTC}"')
        .replace(f'"{UTC}": "{UTC}"', '"op": "sum"')
    )
    text = text.replace(f'"key": "{UTC}"', f'"key": "{KEY}"').replace(f'"id": "{UTC}"', f'"id": "{KEY}"')
    decoder, kinds = json.JSONDecoder(), []
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        kinds.append(parse_line(json.dumps(document), "contract").kind)
        jsonschema.validate(document, json_schema())
    assert kinds == ["launch", "begin", "record", "end"]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"status": "fine"}, "status"),
        ({"colour": "blue"}, "colour"),
        ({"key": "x"}, "key"),
        ({"time_s": None}, "needs time_s"),
        ({"status": "failed"}, "needs a reason"),
        ({"utc": "2026-01-31T12:00:00"}, "UTC"),
        ({"utc": "2026-01-31T12:00:00+02:00"}, "UTC"),
        ({"elapsed_s": float("nan")}, "NaN is not allowed"),
        ({"elapsed_s": float("inf")}, "Infinity is not allowed"),
        ({"launch": -1}, "launch"),
        ({"schema": 2}, "newer than this program"),
        ({"schema": 0}, "older than any"),
        ({"kind": "note"}, "note"),
    ],
)
def test_a_line_that_breaks_the_contract_is_refused_with_its_place(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(CollpressError, match=complaint) as caught:
        parse_line(json.dumps(line(**changed)), "journal-1.jsonl:7")
    assert caught.value.where == "journal-1.jsonl:7"


def test_a_record_from_before_there_were_metrics_still_reads() -> None:
    assert record().fidelity is None
    subject = {"bound": None, "left_out": 2, "metrics": {"psnr": {"psnr": None}}, "problems": {"psnr": "exact"}}
    fidelity = record(fidelity={"message": None, "result": subject}).fidelity
    assert fidelity is not None
    assert fidelity.result is not None
    assert fidelity.result.metrics == {"psnr": {"psnr": None}}


def test_a_record_may_say_how_the_call_was_made_and_one_from_before_says_nothing() -> None:
    before = {"algorithm": "ring", "known_by": "construction", "segment_bytes": None, "abs_bound": None}
    older = record(effective=before)
    assert older.effective is not None
    assert (older.effective.fanout, older.effective.operation, older.effective.sync) == (None, None, None)
    assert (older.effective.consistent_with, older.overlap, older.noise, older.late) == (None, None, None, None)
    how = {"fanout": 4, "operation": "user-defined", "sync": "window", "consistent_with": ["ring", "segmented_ring"]}
    overlap = {
        "iterations": 3,
        "pure_s": 1.0,
        "compute_s": 1.0,
        "overlapped_s": 1.5,
        "omb_percent": 50.0,
        "imb_percent": None,
    }
    noise = {"cpu_pressure": 0.1, "steal": None, "preemptions": 0.0, "reasons": ["pressure"]}
    newer = record(effective=before | how, overlap=overlap, noise=noise, late=2)
    assert newer.effective is not None
    assert newer.effective.consistent_with == ["ring", "segmented_ring"]
    assert newer.overlap is not None
    assert newer.noise is not None
    assert (newer.overlap.overlapped_s, newer.noise.reasons, newer.late) == (1.5, ["pressure"], 2)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"effective": {"operation": "magic"}}, "operation"),
        ({"effective": {"sync": "prayer"}}, "sync"),
        ({"overlap": {"iterations": 1, "pure_s": -1.0}}, "overlap.pure_s"),
        ({"overlap": {"iterations": 1, "pure_s": 1.0}}, "overlap.compute_s"),
        ({"noise": {"load": "high"}}, "noise"),
        ({"noise": {"reasons": ["moon"]}}, "noise"),
    ],
)
def test_how_a_call_was_made_has_known_words_and_numbers(changed: dict[str, Any], complaint: str) -> None:
    before = {"algorithm": "ring", "known_by": "construction", "segment_bytes": None, "abs_bound": None}
    changed = {name: (before if name == "effective" else {}) | value for name, value in changed.items()}
    with pytest.raises(CollpressError, match=complaint):
        record(**changed)


def test_an_older_line_goes_through_every_upgrade_in_turn() -> None:
    upgrades = {1: lambda x: {**x, "path": "b"}, 2: lambda x: {**x, "path": x["path"] + "c"}}
    assert upgraded({"schema": 1}, upgrades, current=3) == {"schema": 3, "path": "bc"}


def test_a_torn_last_line_is_ignored_and_told(tmp_path: Path) -> None:
    path = write(tmp_path / "batches" / "b" / "journal-1.jsonl", line(), '{"kind": "rec')
    journals = read_campaign(tmp_path)
    assert list(journals.records) == [(KEY, 0)]
    assert [(t.path, t.line, t.bytes) for t in journals.torn] == [(path, 2, 13)]


@given(cut=st.integers(min_value=1))
def test_wherever_the_last_line_is_torn_the_lines_before_it_are_read(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = json.dumps(line(reason="é" * 3, status="failed"), ensure_ascii=False).encode() + b"\n"
    path = tmp_path_factory.getbasetemp() / "torn.jsonl"
    path.write_bytes(whole * 2 + whole[: cut % (len(whole) - 1) + 1])
    assert len(list(read_journal(path))) == (3 if cut % (len(whole) - 1) + 1 == len(whole) else 2)


def test_a_damaged_line_in_the_middle_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "batches" / "b" / "journal-1.jsonl", line(), "{broken\n", line(launch=1))
    with pytest.raises(CollpressError) as caught:
        read_campaign(tmp_path)
    assert caught.value.where == f"{path}:2"


def test_the_latest_record_of_a_launch_counts_whichever_journal_holds_it(tmp_path: Path) -> None:
    write(tmp_path / "batches" / "b" / "journal-10.jsonl", line(attempt=10, utc="2026-01-31T12:00:03Z"))
    late = line(attempt=1, utc="2026-01-31T12:00:09Z", status="crashed", reason="boom")
    write(tmp_path / "batches" / "a" / "journal-1.jsonl", line(utc="2026-01-31T12:00:01Z"), late)
    write(tmp_path / "batches" / "b" / "journal-9.jsonl", line(attempt=9, utc="2026-01-31T12:00:02Z", launch=1))
    journals = read_campaign(tmp_path)
    assert journals.records[KEY, 0].status is Status.CRASHED
    assert set(journals.of(KEY)) == {0, 1}
    assert not journals.done(KEY, 0)
    assert journals.done(KEY, 1)
    assert len(journals.files) == 3


def test_a_campaign_without_journals_is_empty(tmp_path: Path) -> None:
    assert read_campaign(tmp_path / "nowhere").records == {}


def test_a_point_is_ok_when_the_requested_number_of_launches_is() -> None:
    records = {0: record(), 1: record(launch=1)}
    assert point_status(records, 2).status is Status.OK
    short = point_status(records, 3)
    assert (short.status, short.n_ok, short.reason) == (Status.NOT_RUN, 2, "2 of 3 launches are measured")


def test_a_point_without_records_is_not_run() -> None:
    assert point_status({}, 5).status is Status.NOT_RUN


def test_launches_beyond_the_requested_number_do_not_count() -> None:
    assert point_status({0: record(), 1: record(launch=1, status="crashed", reason="x")}, 1).status is Status.OK


@given(statuses=st.lists(st.sampled_from(list(Status)), min_size=1, max_size=6))
def test_a_point_has_the_worst_status_of_its_launches(statuses: list[Status]) -> None:
    records = {n: record(launch=n, status=str(s), reason=str(s)) for n, s in enumerate(statuses)}
    became = point_status(records, len(statuses))
    assert became.status.severity == max(s.severity for s in statuses)
    assert became.n_ok == statuses.count(Status.OK)
    assert became.reason == (None if became.status is Status.OK else str(became.status))


def test_only_ok_unsupported_and_invalid_are_final() -> None:
    assert {s for s in Status if not s.retryable} == {Status.OK, Status.UNSUPPORTED, Status.INVALID}


def test_noisy_is_a_flag_of_the_point_if_one_launch_is() -> None:
    assert point_status({0: record(noisy=True), 1: record(launch=1)}, 2).noisy
