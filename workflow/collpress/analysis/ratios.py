"""The ratio of two medians over launches, with the confidence that so few launches allow.

The limits come from the bootstrap over launches (Efron 1979), not simulated but exact: the law of the median of a
resample is known in closed form (Hutson and Ernst 2000), so that equal data give equal limits, without a seed. For few
values the bootstrap is too sure of itself: where nothing differs (simulated log-normal times) it tells four launches
from four in 7 % of all tries where 5 % are allowed, five from five in 3 %. A difference is therefore only claimed with
five launches on each side, and where a rank test could claim one at all, at the same corrected level: that takes six
launches where the best of ten was picked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from collpress.analysis.statistics import CONFIDENCE

Shown = Literal["greater", "less", "no difference", "unknown"]
Floats = npt.NDArray[np.float64]
FEWEST = 5
"""Launches on each side that can show a difference."""
_NEGLIGIBLE = 1e-12
"""Probability of a resample's median that is left out."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of medians; limits are None where a side has fewer than two launches.

    confidence : of the limits: the error probability that was asked for is divided by `choices`.
    n : launches of numerator and denominator.
    shown : whether the limits leave out 1, and on which side; `unknown` with too few launches to claim a difference.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    n: tuple[int, int]
    shown: Shown
    choices: int = 1

    @property
    def overall(self) -> float:
        """Confidence after the choice of the best of `choices`: what was asked for."""
        return 1 - (1 - self.confidence) * self.choices


def ratio_of_medians(
    numerator: Iterable[float], denominator: Iterable[float], *, choices: int = 1, confidence: float = CONFIDENCE
) -> Ratio:
    """Median of `numerator` over median of `denominator` with limits.

    Parameters
    ----------
    numerator, denominator : one positive value a launch; NaN is a launch without a value.
    choices : of how many rivals this one was picked for being the best: the error probability is divided by it
        (Bonferroni), because the best of many looks good by chance.

    Raises
    ------
    ValueError : a side has no value, or one that is not positive.
    """
    upper, lower = _values(numerator), _values(denominator)
    alpha = (1 - confidence) / choices
    value = float(np.median(upper) / np.median(lower))
    n = len(upper), len(lower)
    if min(n) < 2:
        return Ratio(value, None, None, 1 - alpha, n, "unknown", choices)
    low, high = _limits(upper, lower, alpha)
    shown: Shown = "greater" if low > 1 else "less" if high < 1 else "no difference"
    return Ratio(value, low, high, 1 - alpha, n, shown if _enough(n, alpha) else "unknown", choices)


def _values(values: Iterable[float]) -> Floats:
    kept = np.sort(np.asarray([v for v in values if not np.isnan(v)], dtype=np.float64))
    if not kept.size or kept[0] <= 0:
        raise ValueError("a ratio of medians needs positive values on both sides")
    return kept


def _enough(n: tuple[int, int], alpha: float) -> bool:
    """Whether launches are many, and their most extreme order rare enough by chance (two-sided rank test)."""
    return min(n) >= FEWEST and 2 / comb(sum(n), n[0]) <= alpha


def _limits(upper: Floats, lower: Floats, alpha: float) -> tuple[float, float]:
    """The percentile interval of the ratio: never narrower than `alpha` asks for."""
    above, p_above = _median_law(upper)
    below, p_below = _median_law(lower)
    ratios = np.divide.outer(above, below).ravel()
    chances = np.multiply.outer(p_above, p_below).ravel()
    order = np.argsort(ratios, kind="stable")
    ratios, chances = ratios[order], chances[order]
    at_most = np.cumsum(chances)
    at_least = np.cumsum(chances[::-1])[::-1]
    first = int(np.argmax(at_most > alpha / 2))
    last = len(ratios) - 1 - int(np.argmax(at_least[::-1] > alpha / 2))
    return float(ratios[first]), float(ratios[last])


def _median_law(values: Floats) -> tuple[Floats, Floats]:
    """Every median that a resample of sorted `values` can have, and its probability."""
    n = len(values)
    k = (n + 1) // 2
    cdf = np.array([_at_least(n, k, i / n) for i in range(n + 1)])
    middle = np.diff(cdf)  # of the k-th smallest being the i-th value
    if n % 2:
        return _kept(values, middle)
    # Even n: the mean of the k-th and (k+1)-th smallest. tail[i, j]: k draws among the first i, the others beyond j.
    i, j = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    tail = np.where(i <= j, comb(n, k) * (i / n) ** k * ((n - j) / n) ** k, 0.0)
    pair = np.triu(np.diff(tail[:, :-1] - tail[:, 1:], axis=0), 1)
    joint = pair + np.diag(middle - pair.sum(axis=1))
    means = (values[:, None] + values[None, :]) / 2
    return _kept(means.ravel(), joint.ravel())


def _at_least(n: int, k: int, p: float) -> float:
    """Probability of at least `k` successes in `n` trials."""
    return float(sum(comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(k, n + 1)))


def _kept(values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    kept = chances > _NEGLIGIBLE
    return values[kept], chances[kept]
