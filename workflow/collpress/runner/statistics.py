"""Order statistics of one launch's values, the same numbers as the core's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def median_interval(sorted_values: Values) -> tuple[float, float] | None:
    """The 95 % confidence interval of the median, by ranks; None below 6 values: no pair of ranks reaches 95 %.

    Exact binomial below 50 values, from there the normal approximation of Hoefler and Belli (Scientific Benchmarking of
    Parallel Computing Systems, SC 2015).
    """
    n = sorted_values.size
    if n < 6:
        return None
    if n < 50:
        # The largest k with P(fewer than k of n fair coins show heads) <= 2.5 %.
        k, ways, total = 0, 1, 1
        while total <= 0.025 * 2**n:
            k += 1
            ways = ways * (n - k + 1) // k
            total += ways
        return float(sorted_values[k - 1]), float(sorted_values[n - k])
    spread = 1.96 * math.sqrt(n)
    low, high = math.floor((n - spread) / 2), math.ceil(1 + (n + spread) / 2)
    return float(sorted_values[max(low, 1) - 1]), float(sorted_values[min(high, n) - 1])


def quantile(sorted_values: Values, fraction: float) -> float:
    """Linear interpolation between the nearest ranks; `fraction` from 0 to 1; not for an empty array."""
    position = fraction * (sorted_values.size - 1)
    below = int(position)
    above = min(below + 1, sorted_values.size - 1)
    low, high = float(sorted_values[below]), float(sorted_values[above])
    return low + (position - below) * (high - low)


@dataclass(frozen=True)
class Summary:
    """What a record says of a launch's times, in the unit of the values."""

    median: float
    ci_low: float | None
    ci_high: float | None
    min: float
    p05: float
    p25: float
    p75: float
    p95: float
    p99: float
    max: float
    mean: float
    sd: float | None
    mad: float

    def reaches(self, precision: float) -> bool:
        """Whether half the interval's width is at most `precision` of the median."""
        if self.ci_low is None or self.ci_high is None:
            return False
        return (self.ci_high - self.ci_low) / 2 <= precision * self.median


def summarise(values: Values) -> Summary:
    """Of at least one value. `sd` is that of a sample; `mad` the median of |value - median|."""
    ordered = np.sort(values)
    median = quantile(ordered, 0.5)
    interval = median_interval(ordered)
    at = {name: quantile(ordered, fraction) for name, fraction in _FRACTIONS.items()}
    return Summary(
        median=median,
        ci_low=interval[0] if interval else None,
        ci_high=interval[1] if interval else None,
        min=float(ordered[0]),
        max=float(ordered[-1]),
        mean=float(ordered.mean()),
        sd=float(ordered.std(ddof=1)) if ordered.size > 1 else None,
        mad=quantile(np.sort(np.abs(ordered - median)), 0.5),
        **at,
    )


_FRACTIONS = {"p05": 0.05, "p25": 0.25, "p75": 0.75, "p95": 0.95, "p99": 0.99}
