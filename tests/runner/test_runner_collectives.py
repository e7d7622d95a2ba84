"""Every collective from Python under MPI: right, and judged as the core judges its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, Entry, Outcome, point
from runner_process import Runner

from collpress.collectives import COLLECTIVES, REDUCING, ROOTED, UNEVEN
from collpress.records.schema import LINE
from collpress.runner.dtypes import DTYPES
from collpress.runner.exchange import IMBALANCES, IN_PLACE
from collpress.runner.plan import OPS

QUICK = {"warmup": 0, "min_iterations": 2, "max_iterations": 2, "at_most": 20}
COUNT = 57
MEASURED = {
    "utc", "elapsed_s", "noisy", "time_s", "mean_over_ranks_s", "start_skew_s", "noise", "overlap", "resources",
    "stop_reason", "measuring_s", "by", "backend", "effective",
}  # fmt: skip


def call(collective: str, count: int = COUNT, dtype: str = "float32", **changes: object) -> Entry:
    return point(collective=collective, dtype=dtype, message_bytes=count * DTYPES[dtype].bytes, **QUICK | changes)


def everything(ranks: int) -> list[Entry]:
    """Every collective with every dtype, reductions with every operation; other roots, in place, uneven blocks."""
    entries = [call("barrier", 0)]
    moving = [name for name in COLLECTIVES if name not in REDUCING and name != "barrier"]
    if ranks == 1:
        moving.remove("pingpong")
    entries += [call(c, dtype=dtype, op=op) for c, dtype, op in itertools.product(sorted(REDUCING), DTYPES, OPS)]
    entries += [call(c, dtype=dtype) for c, dtype in itertools.product(moving, DTYPES)]
    entries += [call(c, count=1) for c in (*sorted(REDUCING), *moving)]
    entries += [call(c, root=root) for c, root in itertools.product(sorted(ROOTED), range(1, ranks))]
    entries += [call(c, buffers="in-place") for c in sorted(IN_PLACE)]
    entries += [call(c, buffers="in-place", root=ranks - 1) for c in ("reduce", "gather") if ranks > 1]
    entries += [
        call(c, imbalance=imbalance, imbalance_seed=7)
        for c, imbalance in itertools.product(sorted(UNEVEN), IMBALANCES[1:])
    ]
    return entries


def launched(runner: Core, folder: Path, ranks: int, entries: list[Entry]) -> Outcome:
    outcome = runner.launch(folder, ranks, entries)
    assert outcome.code == 0, outcome.errors
    return outcome


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_call_is_right_and_judged_like_the_cores(core: Core, runner: Runner, tmp_path: Path, ranks: int) -> None:
    entries = everything(ranks)
    own = launched(runner, tmp_path / "runner", ranks, entries).records()
    assert [(r["requested"], r["reason"]) for r in own if r["status"] != "ok"] == []
    cores = launched(core, tmp_path / "core", ranks, entries).records()
    assert [r["key"] for r in own] == [r["key"] for r in cores], "one order for both"
    for mine, theirs in zip(own, cores, strict=True):
        assert {k: v for k, v in mine.items() if k not in MEASURED} == {
            k: v for k, v in theirs.items() if k not in MEASURED
        }
        assert mine["effective"]["operation"] == theirs["effective"]["operation"]


def test_a_journal_is_as_the_schema_says_and_tells_what_ran(runner: Runner, tmp_path: Path) -> None:
    entries = [call("allreduce"), call("bcast", call="nonblocking", at_most=1), call("allreduce", dtype="bfloat16")]
    samples = tmp_path / "samples.bin"
    outcome = runner.launch(tmp_path, 2, entries, "--samples", samples, "--samples-mode", "all")
    for line in outcome.lines:
        LINE.validate_python(line)
    assert [line["kind"] for line in outcome.lines] == ["launch", *["begin", "record"] * 3, "end"]
    launch = outcome.lines[0]
    assert set(launch["runner"]) == {"backend", "mpi4py", "numpy", "python", "thread_level"}
    assert launch["clock"]["overhead_s"] > 0
    plain, started, half = (outcome.record(entry) for entry in entries)
    assert (plain["by"], plain["backend"]) == ("runner", "mpi4py")
    assert plain["effective"] | {"sync": None} == {
        "algorithm": "default", "known_by": "unverified", "abs_bound": None, "segment_bytes": None, "fanout": None,
        "operation": "built-in", "sync": None,
    }  # fmt: skip
    assert half["effective"]["operation"] == "user-defined"
    overlap = started["overlap"]
    assert min(overlap["pure_s"], overlap["compute_s"]) > 0
    assert overlap["overlapped_s"] > overlap["compute_s"] / 2, "the computation was in between"
    assert samples.stat().st_size == sum(r["samples"]["bytes"] for r in (plain, started, half)) == 3 * 2 * 2 * 16


@pytest.mark.parametrize("sync", ["dissemination", "barrier", "none"])
def test_ranks_start_as_asked(runner: Runner, tmp_path: Path, sync: str) -> None:
    (record,) = launched(
        runner, tmp_path, 3, [call("allreduce", sync=sync, min_iterations=20, max_iterations=20)]
    ).records()
    assert (record["status"], record["n"], record["late"], record["effective"]["sync"]) == ("ok", 20, 0, sync)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"algorithm": "library:ring"}, "has library:default only, not library:ring"),
    ({"algorithm": "reference:ring", "plugin": "ring.so"}, "has library:default only, not reference:ring"),
    ({"segment_bytes": 64, "fanout": 4}, "cannot set segment_bytes and fanout"),
    ({"cache": "cold"}, "cannot flush the processor's caches"),
    ({"sync": "window"}, "needs a clock that all ranks share"),
    ({"collective": "pingpong", "call": "nonblocking"}, "no form that only starts"),
    ({"collective": "bcast", "root": 2}, "rank 2 cannot be root of 2 ranks"),
    ({"dtype": "int64", "message_bytes": 12}, "12 bytes are no whole number of int64 values"),
]


def test_what_cannot_be_is_unsupported_with_the_reason(runner: Runner, tmp_path: Path) -> None:
    entries = [point(**changes) for changes, _ in REFUSED]
    outcome = launched(runner, tmp_path, 2, entries)
    for entry, (_, reason) in zip(entries, REFUSED, strict=True):
        record = outcome.record(entry)
        assert record["status"] == "unsupported"
        assert reason in record["reason"]
