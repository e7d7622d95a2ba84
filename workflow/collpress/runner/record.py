"""What a journal says of one point: the entries of its record, as the core writes them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from collpress.runner.check import CheckResult
from collpress.runner.overlap import Overlap
from collpress.runner.plan import PlanPoint
from collpress.runner.resources import Noise, Usage
from collpress.runner.samples import Samples
from collpress.runner.statistics import Summary
from collpress.runner.verdict import Verdict

BACKEND = "mpi4py"


@dataclass(frozen=True)
class Times:
    """mean_over_ranks_s : of all ranks' own times. start_skew_s : only where all ranks share a clock."""

    summary: Summary
    iterations: int
    stop_reason: str
    mean_over_ranks_s: float
    start_skew_s: float | None
    noise: Noise
    usage: Usage


@dataclass
class Report:
    """Everything that a record says beyond its plan line. Whole on rank 0 only.

    operation : of a reduction. measuring_s : of warm-up and timed iterations, with all that is between them.
    """

    verdict: Verdict
    operation: str | None = None
    total_bytes: int = 0
    unique_bytes: int | None = None
    warmup: int = 0
    measuring_s: float = 0.0
    times: Times | None = None
    overlap: Overlap | None = None
    check: CheckResult | None = None
    samples: Samples | None = None


def record_entries(point: PlanPoint, report: Report) -> dict[str, Any]:
    """A record's entries behind those that say which it is and when it was made."""
    times = report.times
    overlap = report.overlap
    return {
        "by": "runner",
        "backend": BACKEND,
        "status": report.verdict.status.word,
        "reason": None if report.verdict.ok else report.verdict.reason,
        "noisy": times is not None and bool(times.noise.reasons),
        "requested": dict(point.entries),
        "effective": {
            "algorithm": point.algorithm.partition(":")[2],
            "known_by": "unverified",
            "abs_bound": None,
            "segment_bytes": None,
            "fanout": None,
            "operation": report.operation,
            "sync": point.sync if times is not None else None,
        },
        "count": point.count,
        "message_bytes": point.message_bytes,
        "total_bytes": report.total_bytes,
        "unique_bytes": report.unique_bytes,
        "warmup": report.warmup,
        "measuring_s": report.measuring_s,
        **_times(times),
        "phases_s": None,
        "overlap": None
        if overlap is None
        else {**asdict(overlap), "omb_percent": overlap.omb_percent, "imb_percent": overlap.imb_percent},
        "codec": None,
        "check": None if report.check is None else _check(report.check),
        "fidelity": None,
        "feedback": None,
        "resources": None if times is None else asdict(times.usage),
        "samples": None if report.samples is None else asdict(report.samples),
        "trace": None,
    }


def _times(times: Times | None) -> dict[str, Any]:
    if times is None:
        nothing = ("stop_reason", "time_s", "mean_over_ranks_s", "start_skew_s", "late", "clock_residual_s", "noise")
        return {"n": 0, **dict.fromkeys(nothing)}
    return {
        "n": times.iterations,
        "stop_reason": times.stop_reason,
        "time_s": asdict(times.summary),
        "mean_over_ranks_s": times.mean_over_ranks_s,
        "start_skew_s": times.start_skew_s,
        "late": 0,
        "clock_residual_s": None,
        "noise": asdict(times.noise),
    }


def _check(result: CheckResult) -> dict[str, Any]:
    worst = result.worst
    checked: dict[str, Any] = dict.fromkeys(
        ("max_abs_error", "bound", "rounding_bound", "mean_error", "value_range", "psnr_db")
    )
    checked["bound"] = 0.0  # of a codec, of which there is none
    if result.compared:
        mean_square = result.error_squares / result.compared
        checked |= {
            "max_abs_error": result.max_abs_error,
            "rounding_bound": result.rounding_bound,
            "mean_error": result.error_sum / result.compared,
            "value_range": result.value_range,
            "psnr_db": _psnr_db(result.value_range, mean_square),
        }
    checked["identical"] = result.identical
    checked["worst"] = (
        None
        if worst is None
        else {"rank": worst.rank, "index": worst.index, "expected": worst.expected, "got": worst.got}
    )
    return checked


def _psnr_db(value_range: float, mean_square: float) -> float | None:
    """None where infinite or undefined."""
    if value_range <= 0 or not 0 < mean_square < math.inf:
        return None
    return 20 * math.log10(value_range) - 10 * math.log10(mean_square)
