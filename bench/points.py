"""What a point costs beyond its own measuring: 20 small allreduce points through the real supervisor and the real core.

10 algorithms, 2 sizes, 2 ranks, one launch, at most 50 ms a point; results go to a folder that is removed afterwards.

example: ./run bench points --json
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from _batches import answer, arguments, batch, journal_of, sound

from collpress.errors import CollpressError
from collpress.execute.batch import Batch
from collpress.layout import build_record
from collpress.plan.built import read_build
from collpress.plan.inventory import probe_core
from collpress.plan.launch import launch_of
from collpress.plan.machine import this_machine
from collpress.records import Record
from collpress.spec import load_platform

SIZES = (1024, 65536)
ALGORITHMS = 10
RANKS = 2
AT_MOST_S = 0.05
FORMULA = (
    "seconds_per_point = ((end - launch) - sum((warmup + n) * mean time)) / points, "
    "the first from the journal's moments: all that is not the start of processes and not a timed or warm-up iteration"
)


def algorithms(build: dict[str, Any], environment: dict[str, str]) -> list[dict[str, str]]:
    """Plan entries of the library's algorithms and the references, ten in all."""
    offered = [a for a in probe_core(build, environment)["algorithms"] if a["collective"] == "allreduce"]
    entries = [{"algorithm": f"library:{algorithm['name']}"} for algorithm in offered]
    entries += [
        {"algorithm": f"reference:{plugin['name']}", "plugin": str(Path(plugin["path"]).absolute())}
        for plugin in build["plugins"]
        if plugin["kind"] == "algorithm" and plugin["collective"] == "allreduce" and not plugin["compresses"]
    ]
    if len(entries) < ALGORITHMS:
        raise CollpressError(f"{ALGORITHMS} algorithms are needed, {len(entries)} are offered")
    return entries[:ALGORITHMS]


def index_of(platform: str) -> Batch:
    """The index of the 20 points."""
    build = read_build(build_record(platform))
    launch = launch_of(load_platform(platform), this_machine(), RANKS)
    limits = {"min_iterations": "10", "max_iterations": "1000", "precision": "0.05", "at_most": str(AT_MOST_S)}
    lines = [
        {"collective": "allreduce", **entry, "message_bytes": str(size), **limits}
        for entry in algorithms(build, launch.environment)
        for size in SIZES
    ]
    return batch(platform, lines, RANKS, samples="all")


def measure(index: Batch) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows, one a point, and the summary."""
    began = time.monotonic()
    with journal_of(index) as lines:
        wall_s = time.monotonic() - began
    records = sound(lines)
    moments = {line.kind: datetime.fromisoformat(line.utc) for line in lines}
    span_s = (moments["end"] - moments["launch"]).total_seconds()
    rows = [_row(record) for record in records]
    own_s = sum(row["measuring_s"] for row in rows)
    return rows, {
        "seconds_per_point": (span_s - own_s) / len(rows),
        "twenty_points_seconds": wall_s,
        "points": len(rows),
        "formula": FORMULA,
    }


def _row(record: Record) -> dict[str, Any]:
    assert record.time_s is not None
    assert record.requested is not None
    assert record.elapsed_s is not None
    own_s = ((record.warmup or 0) + (record.n or 0)) * record.time_s.mean
    return {
        "algorithm": record.requested["algorithm"],
        "message_bytes": record.message_bytes,
        "n": record.n,
        "median_s": record.time_s.median,
        "elapsed_s": record.elapsed_s,
        "measuring_s": own_s,
        "beyond_s": record.elapsed_s - own_s,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people; times in milliseconds."""
    lines = [f"{'algorithm':<32}{'bytes':>8}{'n':>6}{'median':>10}{'elapsed':>10}{'beyond':>10}"]
    for row in rows:
        times = "".join(f"{row[name] * 1e3:>10.3f}" for name in ("median_s", "elapsed_s", "beyond_s"))
        lines.append(f"{row['algorithm']:<32}{row['message_bytes']:>8}{row['n']:>6}{times}")
    return "\n".join([*lines, "", "times in ms; beyond: elapsed less warm-up and timed iterations"])


def main() -> int:
    args = arguments(__doc__).parse_args()
    return answer("points", args.json, lambda: measure(index_of(args.platform)), table)


if __name__ == "__main__":
    raise SystemExit(main())
