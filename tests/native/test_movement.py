"""The reference algorithms that move data, under MPI: messages that are buffered and messages that are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from native_core import Core, Entry, point
from test_schedules_of_movement import ALGORITHMS, IN_PLACE, ROOTED


def calls_of(core: Core, ranks: int) -> Iterator[Entry]:
    for name in ALGORITHMS:
        collective, algorithm = name.split("/")
        plugin = core.build / f"plugins/reference/{name}.so"
        for count in (1, 257, 300_000):
            call = {
                "collective": collective,
                "algorithm": f"reference:{algorithm}",
                "plugin": plugin,
                "message_bytes": 4 * count,
                "max_iterations": 3,
            }
            yield point(**call)
            if collective in IN_PLACE:
                yield point(**call, buffers="in-place")
            if collective in ROOTED:
                yield point(**call, root=ranks - 1)
            if name in ("bcast/chain", "bcast/pipeline", "bcast/binary"):
                yield point(**call, segment_bytes=20_000)
            if name in ("allgather/k_bruck", "bcast/chain", "alltoall/rotation"):
                yield point(**call, fanout=2)


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_algorithm_is_right_under_mpi(core: Core, tmp_path: Path, ranks: int) -> None:
    entries = list(calls_of(core, ranks))
    outcome = core.launch(tmp_path, ranks, entries)
    assert outcome.code == 0, outcome.errors
    records = outcome.records()
    assert [(r["requested"], r["reason"]) for r in records if r["status"] != "ok"] == []
    assert {r["check"]["max_abs_error"] for r in records} == {0}
    assert len(records) == len(entries)
