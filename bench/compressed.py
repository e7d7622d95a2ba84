"""Allreduce that compresses beside MPI_Allreduce, in the same launches: in shared memory, and over a link of 1 Gbit/s.

2 ranks, the power-law field, deltapack at rel 1e-3. `speed-up` is MPI_Allreduce's median time over the algorithm's, the
median over the launches; the summary has the algorithm with the highest. The link is the platform throttled-1g: two
network namespaces, checked by a pingpong first; without root it is left out, and said so.

example: ./run bench compressed --json
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _batches import Rows, Summary, algorithms, answer, arguments, batch, codec, journal_of

from collpress.data.generate import generate
from collpress.errors import CollpressError
from collpress.layout import build_record
from collpress.plan.built import read_build
from collpress.provenance.namespaces import namespaces_lack
from collpress.records import Record, Status

RANKS = 2
MIB = 1 << 20
PLACES = {"shm": ("local", 1, (1 * MIB, 4 * MIB, 16 * MIB)), "1g": ("throttled-1g", 2, (1 * MIB, 4 * MIB, 16 * MIB))}
"""Name -> platform, nodes, sizes."""
SUMMED = (("1g", 16), ("shm", 4), ("shm", 16))
SHAPE = (128, 256, 256)
"""Of the field: 16 MiB for each rank."""


def lines_of(build: dict[str, Any], data: Path, sizes: Sequence[int], at_most_s: float) -> list[dict[str, str]]:
    """Plan lines: the library, then every algorithm that compresses, size by size."""
    elements = SHAPE[0] * SHAPE[1] * SHAPE[2]
    common = {"collective": "allreduce", "data": "file", "data_path": str(data), "data_elements": str(elements)}
    common |= {"data_unique_bytes": str(4 * elements), "row": str(SHAPE[2]), "plane": str(SHAPE[1] * SHAPE[2])}
    common |= {"min_iterations": "10", "max_iterations": "1000", "precision": "0.01", "at_most": str(at_most_s)}
    squeezed = codec(build, "deltapack") | {"bound": "rel", "bound_value": "1e-3"}
    lines = []
    for size in sizes:
        shape = common | {"message_bytes": str(size)}
        lines.append({"algorithm": "library:default", **shape})
        for name, path in algorithms(build, "allreduce", compresses=True).items():
            lines.append({"algorithm": f"compressed:{name}", "plugin": path, **squeezed, **shape})
    return lines


def rows_of(place: str, data: Path, launches: int, at_most_s: float) -> Rows:
    """One row an algorithm and size."""
    platform, nodes, sizes = PLACES[place]
    lines = lines_of(read_build(build_record("local"), "./run collpress build"), data, sizes, at_most_s)
    index = batch(platform, lines, RANKS, launches, nodes=nodes, built="local")
    with journal_of(index) as journal:
        records = [line for line in journal if isinstance(line, Record)]
    times = {(r.key, r.launch): r.time_s.median for r in records if r.status is Status.OK and r.time_s is not None}
    reasons = {r.key: f"{r.status.value}: {r.reason}" for r in records if r.status is not Status.OK}
    rows: Rows = []
    library = ""
    for point, line in zip(index.points, lines, strict=True):
        if line["algorithm"] == "library:default":
            library = point.key
            if point.key in reasons:
                raise CollpressError(f"MPI_Allreduce on {platform} cannot be measured: {reasons[point.key]}")
            continue
        both = [n for n in range(launches) if (library, n) in times and (point.key, n) in times]
        whole = len(both) == launches
        rows.append(
            {
                "place": place,
                "message_bytes": int(line["message_bytes"]),
                "algorithm": line["algorithm"],
                "library_s": statistics.median(times[library, n] for n in range(launches)),
                "time_s": statistics.median(times[point.key, n] for n in both) if whole else None,
                "speed_up": statistics.median(times[library, n] / times[point.key, n] for n in both) if whole else None,
                "reason": reasons.get(point.key, ""),
            }
        )
    return rows


def table(rows: Rows) -> str:
    lines = [f"{'link':<6}{'MiB':>4}  {'algorithm':<32}{'MPI':>10}{'ours':>10}{'speed-up':>10}"]
    for row in rows:
        head = (
            f"{row['place']:<6}{row['message_bytes'] // MIB:>4}  {row['algorithm']:<32}{row['library_s'] * 1e3:>10.3f}"
        )
        numbers = "" if row["time_s"] is None else f"{row['time_s'] * 1e3:>10.3f}{row['speed_up']:>10.2f}"
        lines.append(head + (numbers or f"  {row['reason']}"))
    return "\n".join([*lines, "", "times in ms; speed-up: MPI_Allreduce's time over ours; shm: shared memory"])


def summed_up(rows: Rows, link_lacks: str | None) -> Summary:
    summary: Summary = {}
    for place, mib in SUMMED:
        found = [r for r in rows if (r["place"], r["message_bytes"]) == (place, mib * MIB) and r["speed_up"]]
        best = max(found, key=lambda row: float(row["speed_up"]), default=None)
        name = f"speedup_{place}_{mib}MiB"
        summary[name] = best["speed_up"] if best else None
        summary[f"{name}_by"] = best["algorithm"] if best else None
    if link_lacks:
        summary["no_link"] = link_lacks
    return summary


def main() -> int:
    parser = arguments(__doc__, platform=False)
    parser.add_argument("--launches", type=int, default=5, help="starts of the core (default: 5)")
    parser.add_argument("--at-most", type=float, default=1.0, help="seconds a point and launch (default: 1)")
    parser.add_argument("--only", choices=sorted(PLACES), help="one of the links")
    args = parser.parse_args()

    def measured() -> tuple[Rows, Summary]:
        lack = namespaces_lack()
        places = [p for p in PLACES if args.only in (None, p) and (lack is None or PLACES[p][1] == 1)]
        with tempfile.TemporaryDirectory(prefix="collpress-bench-") as folder:
            data = Path(folder) / "power-law.bin"
            generate("power-law", 1, SHAPE).tofile(data)
            rows = [row for place in places for row in rows_of(place, data, args.launches, args.at_most)]
        return rows, summed_up(rows, lack)

    return answer("compressed", args.json, measured, table)


if __name__ == "__main__":
    raise SystemExit(main())
