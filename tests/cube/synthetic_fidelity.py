"""SYNTHETIC fixture: what metrics might say of a fabricated point. Nothing in it was measured.

Errors are those of a quantiser: uniform within its largest error in a message, and the sum of as many of them as there
are ranks in a result (Irwin-Hall, by its normal approximation). Data have the value range 1.
"""

from __future__ import annotations

from itertools import pairwise
from math import erf, log10, sqrt
from typing import Any

BINS = 40
METRICS: list[dict[str, Any]] = [
    {"name": "bias", "values": ["bias", "bias_over_range"], "units": ["data", "1"], "summary": "mean signed error"},
    {"name": "cosine", "values": ["cosine"], "units": ["1"], "summary": "cosine similarity"},
    {
        "name": "error_histogram",
        "values": ["below", *(f"b{n:02d}" for n in range(BINS)), "above"],
        "units": ["1"] * (BINS + 2),
        "summary": "errors over their bound, in bins",
    },
    {
        "name": "error_quantiles",
        "values": ["p50", "p90", "p99", "p999"],
        "units": ["data"] * 4,
        "summary": "quantiles of the absolute error",
    },
    {"name": "mae", "values": ["mae"], "units": ["data"], "summary": "mean absolute error"},
    {
        "name": "max_error",
        "values": ["absolute", "relative"],
        "units": ["data", "1"],
        "summary": "largest absolute and largest relative error",
    },
    {"name": "nrmse", "values": ["nrmse"], "units": ["1"], "summary": "root mean square error over the value range"},
    {"name": "psnr", "values": ["psnr"], "units": ["dB"], "summary": "peak signal-to-noise ratio"},
]
"""As `plan/points.json` lists the built-in metrics."""


def fidelity(error: float, bound: float, dataset: str, ranks: int, count: int = 10_000) -> dict[str, Any] | None:
    """The `fidelity` of a record.

    Parameters
    ----------
    error : the largest error of one compression; 0 where nothing is lost.
    bound : the codec's bound; 0 where it takes none, its largest error is then its bound.
    ranks : messages that were compressed on the way; 0 without a codec: then there is no message.
    """
    if dataset == "pattern":
        return None
    result = subject(error * max(ranks, 1) or 1e-7, (bound or error) * max(ranks, 1) + 1e-6, max(ranks, 1), count)
    return {"message": subject(error, bound or error, 1, count) if ranks else None, "result": result}


def subject(error: float, bound: float, terms: int, count: int) -> dict[str, Any]:
    """One subject whose errors are the sum of `terms` equal uniform ones, `error` at most."""
    sd = error / terms / sqrt(3) * sqrt(terms)
    exact = error == 0
    edges = [bound * (2 * n / BINS - 1) for n in range(BINS + 1)]
    share = [_below(edge, error, sd, terms) for edge in edges]
    counts = [share[0], *(b - a for a, b in pairwise(share)), 1 - share[-1]]
    quantiles = [_quantile(q, error, sd, terms) for q in (0.5, 0.9, 0.99, 0.999)]
    metrics: dict[str, list[float | None]] = {
        "bias": [_short(sd / 1000), _short(sd / 1000)],
        "cosine": [_short(1 - sd**2)],
        "error_histogram": [None if not bound else float(round(count * c)) for c in counts],
        "error_quantiles": [_short(q) for q in quantiles],
        "mae": [_short(error / 2 if terms == 1 else sd * 0.798)],
        "max_error": [_short(error), _short(error * 20)],
        "nrmse": [_short(sd)],
        "psnr": [None if exact else _short(-20 * log10(sd))],
    }
    problems = {"psnr": "every value is exact: the ratio is infinite"} if exact else {}
    if not bound:
        problems["error_histogram"] = "no bound above 0 is known"
    named = {m["name"]: dict(zip(m["values"], metrics[m["name"]], strict=True)) for m in METRICS}
    return {"bound": bound, "bound_ok": error <= bound, "left_out": 0, "metrics": named, "problems": problems}


def _below(x: float, error: float, sd: float, terms: int) -> float:
    """Share of the errors below x."""
    if error == 0:
        return float(x >= 0)
    if terms == 1:
        return min(max((x / error + 1) / 2, 0.0), 1.0)
    return 0.0 if x <= -error else 1.0 if x >= error else (1 + erf(x / sd / sqrt(2))) / 2


def _quantile(q: float, error: float, sd: float, terms: int) -> float:
    """Of the absolute error; the normal's by its values at these four levels."""
    return q * error if terms == 1 else min(sd * {0.5: 0.674, 0.9: 1.645, 0.99: 2.576, 0.999: 3.291}[q], error)


def _short(number: float) -> float:
    return float(f"{number:.6g}")  # no libm's last bits in golden files
