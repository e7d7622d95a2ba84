"""MADE UP: what was measured of campaigns that never ran, and comparisons of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from collpress.analysis.comparison import compare
from collpress.analysis.measured import Entry, Measured
from collpress.analysis.regression import judgement
from collpress.comparison.gate import Gate
from collpress.comparison.subject import Subject
from collpress.comparison.told import Order, Told

BASE = (1.00e-6, 1.01e-6, 1.02e-6, 1.03e-6, 1.04e-6, 1.05e-6, 1.06e-6, 1.07e-6)
LATER = tuple(1.001 * time for time in BASE)
SLOW = tuple(1.3 * time for time in BASE)
FAST = tuple(0.7 * time for time in BASE)
PROVENANCE: dict[str, Any] = {
    "world": {"mpi_libraries": ["Open MPI 5, made up"], "hosts": ["node-a"]},
    "hardware": {"cpu_model": "made up"},
    "datasets": {},
    "measure": {"warmup": ["5"], "at_most": ["0.33333333333333331"]},
    "load": {"load_average": [0.5, 0.9], "runnable": [1, 2], "cpus": 2, "launches": 8},
    "last_record_utc": "2026-01-31T12:07:30.000000Z",
}


def entry(size: int = 8, content: Sequence[float] | str = BASE, experiment: str = "e", **factors: int | str) -> Entry:
    """A point with these launches, or with a status."""
    full = {"collective": "allreduce", "algorithm": "library:ring", "codec": "none", "error_bound": "none"}
    full |= {"message_bytes": size, "ranks": 2, **factors}  # type: ignore[dict-item]
    status, times = (content, ()) if isinstance(content, str) else ("ok", tuple(content))
    launches = {"latency_median": times, "latency_p99": tuple(2 * time for time in times)}
    name = json.dumps(full, sort_keys=True).encode().hex()
    return Entry(experiment, name, f"key {name}", dict(full), status, "why" if status != "ok" else "", launches)


def side(entries: Sequence[Entry], sha256: str = "", platform: str = "one", **changes: Any) -> Measured:
    attrs = {"campaign": "quick", "platform": platform, "id": f"id of {platform}", "launches": 8, "schema_version": 1}
    return Measured(attrs | {"provenance": json.dumps(PROVENANCE | changes)}, sha256, tuple(entries))


def told(
    a: Mapping[int, Sequence[float] | str],
    b: Mapping[int, Sequence[float] | str],
    threshold: float | None = None,
    *,
    require_all: bool = False,
    order: Order = "factors",
    **changes: Any,
) -> Told:
    """Points by message size, each with its launches or its status."""
    one = Subject("quick/one", side([entry(*point) for point in a.items()], "a" * 64), baseline=False)
    other = side([entry(*point) for point in b.items()], "b" * 64, "two", **changes)
    comparison = compare(one.measured, other)
    gate = Gate(threshold, require_all)
    judged = judgement(comparison, threshold or 0.0)
    return Told(one, Subject("quick/two", other, baseline=False), comparison, judged, gate, "./run it", order)
