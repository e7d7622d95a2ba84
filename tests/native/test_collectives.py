"""Every collective under MPI: with every dtype and operation, root, imbalance, in place and started early."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, Entry, Outcome, point
from required import skip_unless_required

MEMINFO = Path("/proc/meminfo")
BYTES = {"float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2}
OPS = ("sum", "max", "min", "prod")
REDUCING = ("allreduce", "reduce", "reduce_scatter")
ROOTED = ("reduce", "gather", "scatter", "bcast")
MOVING = ("allgather", "allgatherv", "gather", "scatter", "alltoall", "alltoallv", "bcast", "pingpong")
IN_PLACE = ("allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "alltoall")


def call(collective: str, count: int = 257, dtype: str = "float32", **changes: object) -> Entry:
    return point(collective=collective, dtype=dtype, message_bytes=count * BYTES[dtype], **changes)


def everything(ranks: int) -> list[Entry]:
    entries = [call("barrier", 0)]
    for collective, dtype, op in itertools.product(REDUCING, BYTES, OPS):
        entries += [call(collective, count, dtype, op=op) for count in (1, ranks + 1, 257)]
    for collective, dtype in itertools.product(MOVING, ("float32", "float16", "int8")):
        if collective == "pingpong" and ranks == 1:
            continue
        entries += [call(collective, count, dtype) for count in (1, 257)]
    for collective, root in itertools.product(ROOTED, range(1, ranks)):
        entries.append(call(collective, root=root))
    for collective in IN_PLACE:
        entries.append(call(collective, buffers="in-place"))
    if ranks > 1:
        entries += [call(c, buffers="in-place", root=ranks - 1) for c in ("reduce", "gather")]
    for collective, imbalance in itertools.product(("allgatherv", "alltoallv"), ("linear", "one-large", "random")):
        entries.append(call(collective, imbalance=imbalance, imbalance_seed=7))
    return entries


def launched(core: Core, folder: Path, ranks: int, entries: list[Entry]) -> Outcome:
    outcome = core.launch(folder, ranks, entries)
    assert outcome.code == 0, outcome.errors
    return outcome


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_library_is_right_whatever_is_asked(core: Core, tmp_path: Path, ranks: int) -> None:
    entries = everything(ranks)
    records = launched(core, tmp_path, ranks, entries).records()
    assert [(r["requested"], r["reason"]) for r in records if r["status"] != "ok"] == []
    assert len(records) == len(entries)
    moved = [r for r in records if r["requested"]["collective"] not in REDUCING]
    assert {r["check"]["max_abs_error"] for r in moved} <= {0, None}


def test_total_bytes_are_what_all_ranks_contribute(core: Core, tmp_path: Path) -> None:
    ranks, count = 4, 8
    blocks = {
        "allreduce": ranks, "reduce": ranks, "reduce_scatter": ranks, "allgather": ranks, "gather": ranks,
        "allgatherv": ranks, "scatter": ranks, "alltoall": ranks**2, "alltoallv": ranks**2, "bcast": 1,
        "pingpong": 2,
    }  # fmt: skip
    entries = {name: call(name, count, warmup=0) for name in blocks}
    outcome = launched(core, tmp_path, ranks, list(entries.values()))
    found = {name: outcome.record(entry)["total_bytes"] for name, entry in entries.items()}
    assert found == {name: number * count * 4 for name, number in blocks.items()}


def test_halves_are_reduced_by_an_operation_of_our_own_and_say_so(core: Core, tmp_path: Path) -> None:
    half, whole = call("allreduce", dtype="bfloat16"), call("allreduce")
    moved = call("bcast", dtype="bfloat16")
    outcome = launched(core, tmp_path, 2, [half, whole, moved])
    told = [outcome.record(entry)["effective"]["operation"] for entry in (half, whole, moved)]
    assert told == ["user-defined", "built-in", None]


def test_a_nonblocking_call_tells_how_much_of_it_a_computation_hides(core: Core, tmp_path: Path) -> None:
    entries = [call(c, 4096, call="nonblocking") for c in ("allreduce", "allgather", "alltoall", "bcast", "reduce")]
    entries += [call("barrier", 0, call="nonblocking")]
    for record in launched(core, tmp_path, 2, entries).records():
        assert record["status"] == "ok", record["reason"]
        overlap = record["overlap"]
        pure, compute, overlapped = overlap["pure_s"], overlap["compute_s"], overlap["overlapped_s"]
        assert min(pure, compute, overlapped) > 0
        omb = max(0.0, 100 * (1 - (overlapped - compute) / pure))
        imb = 100 * max(0.0, min(1.0, (pure + compute - overlapped) / max(pure, compute)))
        assert overlap["omb_percent"] == pytest.approx(omb)
        assert overlap["imb_percent"] == pytest.approx(imb)
        assert overlapped >= compute * 0.5  # the computation was in between


def refused(core: Core, folder: Path, entry: Entry, ranks: int = 2) -> str:
    (record,) = launched(core, folder, ranks, [entry]).records()
    assert record["status"] == "unsupported"
    return str(record["reason"])


def test_what_cannot_be_is_refused_with_the_reason(core: Core, tmp_path: Path) -> None:
    assert "rank 2 cannot be root of 2 ranks" in refused(core, tmp_path / "root", call("bcast", root=2))
    assert "at least 2 ranks" in refused(core, tmp_path / "alone", call("pingpong"), ranks=1)
    assert "no whole number" in refused(core, tmp_path / "part", point(dtype="int64", message_bytes=12))
    started = core.reference("ring", call="nonblocking")
    assert "only the library's can be started" in refused(core, tmp_path / "started", started)
    cut = core.reference("ring", segment_bytes=64)
    assert "does not cut messages into segments" in refused(core, tmp_path / "cut", cut)
    wide = core.reference("ring", fanout=4)
    assert "has no fan-out" in refused(core, tmp_path / "wide", wide)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"collective": "allreduce", "root": 1}, "this collective has no root"),
        ({"collective": "scatter", "buffers": "in-place"}, "not called in place"),
        ({"collective": "bcast", "imbalance": "linear"}, "all blocks of this collective are alike"),
        ({"collective": "allgater"}, 'did you mean "allgather"'),
        ({"collective": "allreduce", "sync": "fence"}, "known: dissemination, barrier, window, none"),
        ({"collective": "allreduce", "alignment": 96}, "power of two from 64"),
        ({"collective": "allreduce", "fanout": 1}, "from 2 to 1000000"),
        ({"collective": "allreduce", "segment_bytes": 0}, "at least 1"),
    ],
)
def test_a_plan_that_makes_no_sense_starts_nothing(
    core: Core, tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    outcome = core.launch(tmp_path, 1, [point(**changes)])
    assert outcome.code == 2
    assert told in outcome.errors
    assert outcome.lines == []


def test_a_message_beyond_two_gigabytes_arrives_whole(core: Core, tmp_path: Path) -> None:
    """MPI counts in ints: ours go in pieces, the library's need its large-count functions or are refused."""
    needed = 9 << 30
    available = next(int(line.split()[1]) << 10 for line in MEMINFO.open(encoding="utf-8") if "MemAvailable" in line)
    if available < needed:
        skip_unless_required("memory", f"needs {needed >> 30} GiB of memory, {available >> 30} are available")
    shape = {"collective": "bcast", "dtype": "int8", "message_bytes": 2**31 + 17, "warmup": 0, "instrumented": 0}
    shape |= {"min_iterations": 1, "max_iterations": 1, "at_most": 60}
    plugin = core.build / "plugins/reference/bcast/linear.so"
    ours, theirs = point(algorithm="reference:linear", plugin=plugin, **shape), point(**shape)
    outcome = launched(core, tmp_path, 2, [ours, theirs])
    assert (outcome.record(ours)["status"], outcome.record(ours)["count"]) == ("ok", 2**31 + 17)
    assert outcome.record(theirs)["status"] == "unsupported"
    assert "2^31" in outcome.record(theirs)["reason"]
