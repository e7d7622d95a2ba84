"""Mann and Whitney's rank test, exact also where values are equal: no law of the times is assumed.

Under the hypothesis that both sides follow one law, every choice of which ranks are whose is equally likely
(Mann and Whitney 1947; Hoefler and Belli 2015, rule 7). The law of the sum of ranks is counted out, with midranks for
equal values, so that few launches and equal times need no approximation. For values that all differ it is
`scipy.stats.mannwhitneyu(..., method="exact")`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class RankTest:
    """Probabilities under one law for both: of ranks so high or higher, so low or lower, and so extreme on any side.

    two_sided : twice the smaller of the other two, at most 1.
    """

    greater: float
    less: float

    @property
    def two_sided(self) -> float:
        return min(1.0, 2 * min(self.greater, self.less))


def mann_whitney(x: Sequence[float], y: Sequence[float]) -> RankTest:
    """Whether `x` tends to be greater (or less) than `y`; ValueError where a side is empty.

    >>> mann_whitney([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]).greater
    0.05
    """
    if not (len(x) and len(y)):
        raise ValueError("a rank test needs values on both sides")
    ranks = _doubled_midranks([*x, *y])
    law = _law(tuple(sorted(ranks)), len(x))
    observed = sum(ranks[: len(x)])
    return RankTest(min(1.0, float(law[observed:].sum())), min(1.0, float(law[: observed + 1].sum())))


def smallest_p(n: tuple[int, int]) -> float:
    """The smallest two-sided p that so many values can have: all of one side above all of the other.

    >>> round(smallest_p((5, 5)), 4), smallest_p((1, 1))
    (0.0079, 1.0)
    """
    return min(1.0, 2 / comb(sum(n), n[0]))


def _doubled_midranks(values: Sequence[float]) -> list[int]:
    """Twice the mean rank (from 1) of each value among all: an integer also where values are equal."""
    below = np.searchsorted(sorted(values), values, side="left")
    up_to = np.searchsorted(sorted(values), values, side="right")
    return [int(low + high + 1) for low, high in zip(below, up_to, strict=True)]


@lru_cache(maxsize=256)
def _law(ranks: tuple[int, ...], n: int) -> npt.NDArray[np.float64]:
    """The probability of every sum of `n` of the (doubled) ranks, drawn without putting back."""
    total = sum(ranks)
    ways = np.zeros((n + 1, total + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    return np.asarray(ways[n] / comb(len(ranks), n))
