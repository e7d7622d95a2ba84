"""Whether a comparison shows points that became slower, by more than a threshold, and how sure that is of all together.

Each point's hypothesis is "B takes at most (1 + threshold) times as long as A". It is tested by ranks, one-sided, with
A's times stretched by the threshold; over all points that have launches enough the false discovery rate is held. What
is called a regression has besides that the verdict "slower", and limits of its ratio that lie above the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from collpress.analysis.comparison import Comparison, Pair
from collpress.analysis.false_discovery import adjusted, fewest_together
from collpress.analysis.mann_whitney import mann_whitney
from collpress.analysis.ratios import FEWEST

RATE = 0.05
"""Of what is called a regression this share is expected to be none, at most."""
_MOST_LAUNCHES = 1000


@dataclass(frozen=True)
class Judged:
    """A point of the family: `p` of the one-sided rank test against the threshold, `q` after adjustment for all."""

    pair: Pair
    p: float
    q: float
    threshold: float

    @property
    def regression(self) -> bool:
        low = self.pair.ratio.low
        beyond = low is not None and low > 1 + self.threshold
        return beyond and self.q <= RATE and self.pair.verdict == "slower"


@dataclass(frozen=True)
class Judgement:
    """All points that were judged together.

    together : so many points must be as slow as can be at once before any is called a regression; None: never.
    launches : on each side, with which a single one would be.
    """

    threshold: float
    judged: Sequence[Judged]
    together: int | None
    launches: int

    @property
    def regressions(self) -> list[Judged]:
        """The worst first."""
        return sorted((j for j in self.judged if j.regression), key=lambda j: -j.pair.ratio.value)


def judgement(comparison: Comparison, threshold: float = 0.0) -> Judgement:
    """Judge all comparable points together; `threshold` 0.05 forgives 5 %."""
    pairs = comparison.judged
    p = [_p(pair, threshold) for pair in pairs]
    family = [Judged(pair, one, q, threshold) for pair, one, q in zip(pairs, p, adjusted(p), strict=True)]
    smallest = [1 / comb(sum(pair.ratio.n), pair.ratio.n[0]) for pair in pairs]
    return Judgement(threshold, family, fewest_together(smallest, RATE), _launches_for_one(len(pairs)))


def _p(pair: Pair, threshold: float) -> float:
    forgiven = [(1 + threshold) * time for time in pair.a.launches]
    return mann_whitney(pair.b.launches, forgiven).greater


def _launches_for_one(points: int) -> int:
    """The fewest launches on each side with which one point of so many can be a discovery alone."""
    return next(n for n in range(FEWEST, _MOST_LAUNCHES) if points <= RATE * comb(2 * n, n))
