"""Our reference algorithms beside the library's algorithms of the same names, in the same launches.

1, 4 and 16 MiB on 2 ranks; a ratio is the library's median time over ours, the median over the launches: above 1 ours
is faster. Where both take segments, both get the same.

example: ./run bench collectives --json
"""

from __future__ import annotations

import statistics
from typing import Any

from _batches import answer, arguments, batch, journal_of, plugin, sound

from collpress.errors import CollpressError
from collpress.layout import build_record
from collpress.plan.built import read_build

RANKS = 2
SIZES = (1 << 20, 4 << 20, 16 << 20)
SEGMENT = "65536"
NAMESAKES: dict[str, dict[str, str]] = {
    "allreduce": {
        "linear": "basic_linear",
        "recursive_doubling": "recursive_doubling",
        "ring": "ring",
        "segmented_ring": "segmented_ring",
        "rabenseifner": "rabenseifner",
    },
    "reduce": {"linear": "linear", "binomial": "binomial", "pipeline": "pipeline", "rabenseifner": "rabenseifner"},
    "reduce_scatter": {"ring": "ring", "recursive_halving": "recursive_halving", "butterfly": "butterfly"},
    "allgather": {
        "ring": "ring",
        "recursive_doubling": "recursive_doubling",
        "bruck": "bruck",
        "neighbor_exchange": "neighbor",
        "sparbit": "sparbit",
    },
    "alltoall": {"linear": "linear", "pairwise": "pairwise", "bruck": "modified_bruck"},
    "bcast": {
        "linear": "basic_linear",
        "chain": "chain",
        "pipeline": "pipeline",
        "binary": "binary_tree",
        "binomial_halving": "binomial",
        "scatter_allgather": "scatter_allgather",
    },
    "gather": {"linear": "basic_linear", "binomial": "binomial"},
    "scatter": {"linear": "basic_linear", "binomial": "binomial"},
}
"""Collective -> our algorithm -> the library's."""
CUT = {
    ("allreduce", "segmented_ring"),
    ("reduce", "pipeline"),
    ("bcast", "chain"),
    ("bcast", "pipeline"),
    ("bcast", "binary"),
}
"""Those whose messages are cut into segments on both sides."""


def lines_of(build: dict[str, Any], at_most_s: float) -> list[dict[str, str]]:
    """Plan lines, ours and the library's behind each other."""
    limits = {"min_iterations": "10", "max_iterations": "1000", "precision": "0.01", "at_most": str(at_most_s)}
    lines = []
    for collective, names in NAMESAKES.items():
        for ours, theirs in names.items():
            path = plugin(build, collective, ours)
            if path is None:
                raise CollpressError(f"there is no reference algorithm {ours} of {collective}")
            cut = {"segment_bytes": SEGMENT} if (collective, ours) in CUT else {}
            for size in SIZES:
                shape = {"collective": collective, "message_bytes": str(size), **cut, **limits}
                lines.append({"algorithm": f"reference:{ours}", "plugin": path, **shape})
                lines.append({"algorithm": f"library:{theirs}", **shape})
    return lines


def rows_of(platform: str, launches: int, at_most_s: float) -> list[dict[str, Any]]:
    """One row a pair and size."""
    lines = lines_of(read_build(build_record(platform)), at_most_s)
    index = batch(platform, lines, RANKS, launches)
    with journal_of(index) as journal:
        records = sound(journal)
    medians = {(r.key, r.launch): r.time_s.median for r in records if r.time_s is not None}
    keys = [point.key for point in index.points]
    rows = []
    for ours, theirs, line in zip(keys[::2], keys[1::2], lines[::2], strict=True):
        ratios = [medians[theirs, launch] / medians[ours, launch] for launch in range(launches)]
        rows.append(
            {
                "collective": line["collective"],
                "algorithm": line["algorithm"].partition(":")[2],
                "message_bytes": int(line["message_bytes"]),
                "ours_s": statistics.median(medians[ours, launch] for launch in range(launches)),
                "library_s": statistics.median(medians[theirs, launch] for launch in range(launches)),
                "ratio": statistics.median(ratios),
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'collective':<16}{'algorithm':<20}{'MiB':>5}{'ours':>10}{'library':>10}{'ratio':>8}"]
    for row in rows:
        times = "".join(f"{row[name] * 1e3:>10.3f}" for name in ("ours_s", "library_s"))
        size = row["message_bytes"] >> 20
        lines.append(f"{row['collective']:<16}{row['algorithm']:<20}{size:>5}{times}{row['ratio']:>8.2f}")
    return "\n".join([*lines, "", "times in ms; ratio: the library's over ours"])


def summed_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    worst = min(rows, key=lambda row: float(row["ratio"]))
    return {
        "worst_ratio": worst["ratio"],
        "worst": f"{worst['collective']} {worst['algorithm']} {worst['message_bytes'] >> 20} MiB",
        "median_ratio": statistics.median(row["ratio"] for row in rows),
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--launches", type=int, default=7, help="starts of the core (default: 7)")
    parser.add_argument("--at-most", type=float, default=0.3, help="seconds a point and launch (default: 0.3)")
    args = parser.parse_args()

    def measured() -> tuple[list[dict[str, Any]], dict[str, Any]]:
        rows = rows_of(args.platform, args.launches, args.at_most)
        return rows, summed_up(rows)

    return answer("collectives", args.json, measured, table)


if __name__ == "__main__":
    raise SystemExit(main())
