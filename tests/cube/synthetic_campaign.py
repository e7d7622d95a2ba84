"""SYNTHETIC fixture: fabricates plan/points.json and journals of a campaign that never ran.

The times come from a latency-bandwidth model with seeded noise, so that cubes and figures made of them look like real
ones; no number in it was measured. Formats: docs/contracts.md.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthetic_fidelity import METRICS, fidelity

KiB, MiB = 2**10, 2**20
SIZES = [8, 64, 512, 4 * KiB, 32 * KiB, 256 * KiB, 2 * MiB]
DATA = {"synthetic/power-law": [1 * MiB, 4 * MiB], "colpex/theta": [64 * KiB, 512 * KiB]}
LIBRARY = [
    "default",
    "basic_linear",
    "nonoverlapping",
    "recursive_doubling",
    "ring",
    "segmented_ring",
    "rabenseifner",
]
REFERENCE = ["recursive_doubling", "ring", "rabenseifner"]
# steps and volume factors of a model of each algorithm, for 4 ranks
MODEL = {
    "default": (2.0, 1.5),
    "basic_linear": (3.2, 6.0),
    "nonoverlapping": (4.0, 4.0),
    "recursive_doubling": (2.0, 2.0),
    "ring": (6.0, 1.5),
    "segmented_ring": (6.5, 1.45),
    "rabenseifner": (4.0, 1.52),
}
LATENCY_S, BYTE_S = 0.6e-6, 1 / 4.0e9
PHASES = ("compress", "send", "decompress", "reduce", "wait", "copy", "other")
Point = dict[str, Any]
Record = dict[str, Any]


@dataclass
class Campaign:
    """Points and records in memory; `write` puts them where `results/` has them."""

    name: str = "synthetic"
    platform: str = "fabricated"
    launches: int = 5
    points: list[Point] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return Path("campaigns") / self.name / self.platform

    def write(self, results: Path, *, attempts: int = 1) -> Path:
        """Write points.json and one journal per attempt under `results`; returns their folder."""
        folder = results / self.root
        (folder / "plan").mkdir(parents=True, exist_ok=True)
        plan = {
            "schema": 1,
            "campaign": self.name,
            "platform": self.platform,
            "digest": digest("plan", json.dumps(self.points, sort_keys=True)),
            "launches": self.launches,
            "precision": 0.05,
            "metrics": METRICS,
            "points": self.points,
            "excluded": [],
        }
        write_json(folder / "plan/points.json", plan)
        for batch in sorted({str(p["batch"]) for p in self.points if p["batch"]}):
            keys = {p["key"] for p in self.points if p["batch"] == batch}
            for attempt in range(1, attempts + 1):
                mine = [r for r in self.records if r["key"] in keys and r["attempt"] == attempt]
                self._journal(folder / "batches" / batch / f"journal-{attempt}.jsonl", mine, attempt)
        return folder

    def _journal(self, path: Path, records: list[Record], attempt: int) -> None:
        lines: list[Record] = []
        for launch in sorted({r["launch"] for r in records}):
            mine = [r for r in records if r["launch"] == launch]
            lines.append(launch_line(launch, attempt, [r["key"] for r in mine]))
            for record in mine:
                begin = {k: record[k] for k in ("schema", "key", "launch", "attempt", "utc")}
                lines += [{"kind": "begin", **begin}, record]
            lines.append({"kind": "end", "schema": 1, "launch": launch, "attempt": attempt, "utc": moment(launch, 59)})
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")

    def add(
        self,
        experiment: str,
        *,
        outcome: Callable[[int], dict[str, Any]] = lambda launch: {},
        unsupported: str | None = None,
        failed: str | None = None,
        launches: Iterable[int] | None = None,
        **factors: Any,
    ) -> Point:
        """Plan a point; `outcome(launch)` overrides fields of its record in a launch."""
        full = {
            "collective": "allreduce",
            "algorithm": "library:default",
            "codec": "none",
            "error_bound": "none",
            "dataset": "pattern",
            "dtype": "float32",
            "op": "sum",
            "message_bytes": 1 * MiB,
            "ranks": 4,
            "nodes": 1,
            "wrap": "none",
        } | factors
        asked = {name: value for name, value in full.items() if (name, value) != ("wrap", "none")}
        identity = digest(experiment, json.dumps(asked, sort_keys=True))[:32]
        point = {
            "key": None if unsupported or failed else digest("key", identity)[:32],
            "id": identity,
            "experiment": experiment,
            "factors": full,
            "batch": None if unsupported or failed else "b0c0ffee",
            "unsupported": unsupported,
            "failed": failed,
        }
        self.points.append(point)
        if point["key"] is not None:
            for launch in range(self.launches) if launches is None else launches:
                self.records.append(record(point, launch) | outcome(launch))
        return point


def quick(launches: int = 5, sizes: Sequence[int] = SIZES, data: Mapping[str, Sequence[int]] = DATA) -> Campaign:
    """Two experiments as in a first campaign, with one point for nearly every status."""
    campaign = Campaign(launches=launches)
    for kind, names in (("library", LIBRARY), ("reference", REFERENCE)):
        for name in names:
            for size in sizes:
                _tuning_point(campaign, f"{kind}:{name}", size)
    bounded = [("ours", b) for b in ("rel 1e-2", "rel 1e-3", "rel 1e-4")] + [
        ("zfp", b) for b in ("rel 1e-2", "rel 1e-3", "rel 1e-4")
    ]
    for dataset, data_sizes in data.items():
        for size in data_sizes:
            campaign.add("compression", algorithm="library:default", dataset=dataset, message_bytes=size)
            for codec, bound in [("none", "none"), ("int8", "none"), ("bf16", "none"), *bounded]:
                if codec == "zfp" and size == 4 * MiB:
                    continue
                outcome = (
                    failing("invalid", "error 3.1e-2 above the bound 1e-2")
                    if (codec, bound, size) == ("int8", "none", 64 * KiB)
                    else (lambda launch: {})
                )
                campaign.add(
                    "compression",
                    algorithm="compressed:ring",
                    codec=codec,
                    error_bound=bound,
                    dataset=dataset,
                    message_bytes=size,
                    outcome=outcome,
                )
    return campaign


def small() -> Campaign:
    """The corners of `quick`: fast to draw, and still every kind of cell."""
    return quick(sizes=[8, 512, 2 * MiB], data={"synthetic/power-law": [4 * MiB], "colpex/theta": [64 * KiB]})


def _tuning_point(campaign: Campaign, algorithm: str, size: int) -> None:
    if algorithm == "library:rabenseifner" and size < 512:
        campaign.add(
            "tuning", algorithm=algorithm, message_bytes=size, unsupported="needs at least as many elements as ranks"
        )
    elif algorithm == "library:segmented_ring" and size == 2 * MiB:
        campaign.add(
            "tuning", algorithm=algorithm, message_bytes=size, outcome=failing("crashed", "signal 11 in launch 3", {3})
        )
    elif algorithm == "library:nonoverlapping" and size == 2 * MiB:
        campaign.add(
            "tuning", algorithm=algorithm, message_bytes=size, outcome=failing("timed_out", "no word for 10 s")
        )
    elif algorithm == "reference:ring" and size == 512:
        campaign.add("tuning", algorithm=algorithm, message_bytes=size, launches=())
    else:
        campaign.add("tuning", algorithm=algorithm, message_bytes=size)


def failing(status: str, reason: str, launches: set[int] | None = None) -> Callable[[int], dict[str, Any]]:
    """An outcome that ends with `status` in `launches` (None: all of them)."""
    blank = dict.fromkeys(
        [
            *("n", "stop_reason", "time_s", "mean_over_ranks_s", "start_skew_s"),
            *("phases_s", "codec", "check", "fidelity", "resources", "samples"),
        ]
    )

    def outcome(launch: int) -> dict[str, Any]:
        if launches is not None and launch not in launches:
            return {}
        fields = {"status": status, "reason": reason}
        return fields if status == "invalid" else fields | blank | {"by": "supervisor"}

    return outcome


def taking(*seconds: float, **fields: Any) -> Callable[[int], dict[str, Any]]:
    """An outcome whose launches have these median times; `fields` are the record's other fields."""
    names = ["median", "ci_low", "ci_high", "min", "p05", "p25", "p75", "p95", "p99", "max", "mean", "sd", "mad"]
    return lambda launch: {"time_s": dict.fromkeys(names, seconds[launch % len(seconds)]), "noisy": False, **fields}


def record(point: Point, launch: int) -> Record:
    """An ok record with every field of the contract."""
    factors = point["factors"]
    seed = random.Random(f"{point['id']}/{launch}")
    size, ranks, codec = int(factors["message_bytes"]), int(factors["ranks"]), str(factors["codec"])
    name = str(factors["algorithm"]).split(":")[1]
    steps, volume = MODEL[name]
    compressed = str(factors["algorithm"]).startswith("compressed:")
    ratio = compression_ratio(codec, str(factors["error_bound"])) if compressed else 1.0
    speed = {"none": 9e9, "ours": 3.2e9, "int8": 5.5e9, "bf16": 8e9, "zfp": 0.35e9}[codec]
    slow = 1.18 if str(factors["algorithm"]).startswith("reference:") else 1.0
    send = steps * LATENCY_S * slow + size * volume * BYTE_S / ratio
    pack = 2 * size / speed if compressed else 0.0
    median = float(f"{(send + pack) * seed.lognormvariate(0, 0.06):.5g}")  # no libm's last bits in golden files
    spread = abs(seed.gauss(0.03, 0.01)) + 0.005
    wire = int(2 * (ranks - 1) / ranks * size / ratio)
    bound = bound_of(str(factors["error_bound"]))
    error = {"none": 1e-7, "int8": 4e-3, "bf16": 3e-3}.get(codec, bound * 0.7)
    requested = {k: str(v) for k, v in factors.items()}
    return {
        "kind": "record",
        "schema": 1,
        "key": point["key"],
        "id": point["id"],
        "launch": launch,
        "attempt": 1,
        "order": launch * 7 % 5,
        "utc": moment(launch, 30),
        "elapsed_s": 0.4,
        "by": "core",
        "status": "ok",
        "reason": None,
        "noisy": spread > 0.05,
        "requested": requested,
        "effective": {
            "algorithm": name if not str(factors["algorithm"]).startswith("library:default") else "recursive_doubling",
            "segment_bytes": None,
            "known_by": "read back" if str(factors["algorithm"]).startswith("library") else "construction",
            "abs_bound": bound if bound else None,
        },
        "count": size // 4,
        "message_bytes": size,
        "total_bytes": size * ranks,
        "unique_bytes": size * ranks,
        "warmup": 5,
        "n": 40 + launch,
        "stop_reason": "precision",
        "time_s": {
            "median": median,
            "ci_low": median * (1 - spread),
            "ci_high": median * (1 + spread),
            "min": median * 0.9,
            "p05": median * 0.92,
            "p25": median * 0.97,
            "p75": median * 1.05,
            "p95": median * 1.3,
            "p99": median * 1.8,
            "max": median * 4,
            "mean": median * 1.1,
            "sd": median * 0.3,
            "mad": median * 0.03,
        },
        "mean_over_ranks_s": median * 0.95,
        "start_skew_s": 1e-7,
        "phases_s": {
            "iterations": 5,
            "total": median,
            "compress": pack / 2,
            "send": send * 0.3,
            "decompress": pack / 2,
            "reduce": send * 0.2,
            "wait": send * 0.4,
            "other": send * 0.1,
        }
        if not str(factors["algorithm"]).startswith("library")
        else None,
        "codec": {"raw_bytes": size, "compressed_bytes": int(size / ratio), "ratio": ratio, "wire_bytes": wire}
        if compressed
        else None,
        "check": {
            "max_abs_error": error,
            "bound": bound * 4,
            "rounding_bound": 1e-6,
            "mean_error": 1e-9,
            "value_range": 1.0,
            "psnr_db": 70.0 if error else None,
            "worst": {"rank": 0, "index": 7, "expected": 1.0, "got": 1.0 + error},
        },
        "fidelity": fidelity(
            0.0 if codec == "none" else error, bound, str(factors["dataset"]), ranks if compressed else 0
        ),
        "resources": {"max_rss_bytes": 1, "voluntary_switches": 1, "involuntary_switches": 1},
        "samples": None,
    }


def compression_ratio(codec: str, bound: str) -> float:
    if codec in ("none", "int8", "bf16"):
        return {"none": 1.0, "int8": 3.76, "bf16": 2.0}[codec]
    return {"rel 1e-2": 7.9, "rel 1e-3": 4.6, "rel 1e-4": 2.9}.get(bound, 5.0) * (1.25 if codec == "zfp" else 1.0)


def bound_of(text: str) -> float:
    return 0.0 if text == "none" else float(text.split()[1])


def launch_line(launch: int, attempt: int, order: list[str]) -> Record:
    return {
        "kind": "launch",
        "schema": 1,
        "launch": launch,
        "attempt": attempt,
        "utc": moment(launch, 0),
        "seed": 7,
        "ranks": 4,
        "mpi_library": "Open MPI v5.0.11 (fabricated)",
        "hosts": ["node-a"] * 4,
        "cpus": [[0], [1], [2], [3]],
        "clock": {"name": "CLOCK_MONOTONIC", "resolution_s": 1e-9, "overhead_s": 3e-8},
        "load_average": 0.4,
        "runnable": 3,
        "order": order,
    }


def moment(launch: int, second: int) -> str:
    return f"2026-01-31T12:{launch:02d}:{second:02d}.000000Z"


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
