"""Two campaigns side by side: ratios of medians with confidence over launches, and what cannot be compared.

Takes what was measured, says nothing of where it comes from.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from collpress.analysis.mann_whitney import mann_whitney
from collpress.analysis.matching import matches
from collpress.analysis.measured import METRICS, NOT_PLANNED, Entry, Factors, Measured
from collpress.analysis.ratios import FEWEST, Ratio, ratio_of_medians

Verdict = Literal["faster", "slower", "no difference shown", "not comparable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_LIBRARY = "library:"


@dataclass(frozen=True)
class Side:
    """A point in one cube: its status, the reason where it is not ok, and the metric of each ok launch (s)."""

    status: str
    reason: str
    launches: tuple[float, ...]

    @property
    def median(self) -> float | None:
        return float(np.median(self.launches)) if self.launches else None

    @property
    def words(self) -> str:
        """`crashed: killed by SIGSEGV`."""
        word = "does not have it" if self.status == NOT_PLANNED else self.status
        return f"{word}: {self.reason}" if self.reason else word


@dataclass(frozen=True)
class Pair:
    """A point that is ok in both: the ratio is B over A, the verdict says how B does.

    id : hex digits of the point in B, else in A; None where no cube tells.
    differs : in what the two points are not quite the same question (`matching`).
    p : two-sided, of the rank test that both sides follow one law.
    """

    experiment: str
    id: str | None
    factors: Factors
    differs: str
    a: Side
    b: Side
    ratio: Ratio
    p: float

    @property
    def verdict(self) -> Verdict:
        """A difference is only claimed where the limits of the ratio and the rank test both show it."""
        if self.ratio.shown == "unknown":
            return "not comparable"
        if self.ratio.shown == "no difference" or self.p > 1 - self.ratio.confidence:
            return "no difference shown"
        return "faster" if self.ratio.shown == "less" else "slower"

    @property
    def reason(self) -> str:
        """Why the two are not comparable; empty where they are."""
        of_b, of_a = self.ratio.n
        few = f"too few launches: {of_a} in A, {of_b} in B; {FEWEST} each can show a difference"
        return few if self.verdict == "not comparable" else ""

    @property
    def medians(self) -> tuple[float, float]:
        """Of A and of B over launches, s."""
        return float(np.median(self.a.launches)), float(np.median(self.b.launches))

    @property
    def same_launches(self) -> bool:
        """Whether both hold the very same times: it was measured once, and not again."""
        return sorted(self.a.launches) == sorted(self.b.launches)


@dataclass(frozen=True)
class Odd:
    """A point that cannot be compared: only one side has it, or it is not ok in both."""

    experiment: str
    id: str | None
    factors: Factors
    a: Side
    b: Side

    @property
    def reason(self) -> str:
        return f"A {self.a.words}; B {self.b.words}"

    @property
    def excused(self) -> bool:
        """Whether nothing is missing: neither side can have a time here."""
        return all(side.status in ("unsupported", NOT_PLANNED) for side in (self.a, self.b))


@dataclass(frozen=True)
class Comparison:
    """All points of two campaigns.

    algorithms : names of the library's algorithms in (A only, both, B only); two MPI libraries share few.
    """

    metric: str
    pairs: list[Pair]
    odd: list[Odd]
    algorithms: tuple[list[str], list[str], list[str]]

    def counts(self) -> dict[str, int]:
        """Pairs by verdict, zeros included, and the points that have no pair. `not comparable`: too few launches."""
        seen = Counter(pair.verdict for pair in self.pairs)
        only_a, only_b = (sum(getattr(o, side).status == NOT_PLANNED for o in self.odd) for side in ("b", "a"))
        return {
            "compared": len(self.pairs),
            **{verdict: seen[verdict] for verdict in VERDICTS},
            "only_a": only_a,
            "only_b": only_b,
            "not_ok": len(self.odd) - only_a - only_b,
        }

    @property
    def judged(self) -> list[Pair]:
        """The pairs of which something could have been claimed: launches enough, and measured twice."""
        return [pair for pair in self.pairs if pair.verdict != "not comparable" and not pair.same_launches]

    def expected_by_chance(self) -> float:
        """So many differences would be shown on average if there were none, at most: the sum of the error
        probabilities.
        """
        return sum(1 - pair.ratio.confidence for pair in self.judged)


def compare(a: Measured, b: Measured, metric: str = "latency_median") -> Comparison:
    """Compare B with A; KeyError for a metric that is not in METRICS.

    Order: experiments as in A, then those that only B has; in each the points of A in their order, then B's.
    """
    if metric not in METRICS:
        raise KeyError(metric)
    pairs: list[Pair] = []
    odd: list[Odd] = []
    for match in matches(a.entries, b.entries):
        one, other = _side(match.a, match.rivals, metric), _side(match.b, match.rivals, metric)
        first = match.entry
        identity = (match.b.id if match.b else None) or first.id
        if one.launches and other.launches:
            ratio = ratio_of_medians(other.launches, one.launches)
            p = mann_whitney(other.launches, one.launches).two_sided
            pairs.append(Pair(first.experiment, identity, first.factors, match.differs, one, other, ratio, p))
        else:
            odd.append(Odd(first.experiment, identity, first.factors, one, other))
    names = ({str(e.factors.get("algorithm")) for e in side.entries} for side in (a, b))
    ours, theirs = ({name for name in side if name.startswith(_LIBRARY)} for side in names)
    return Comparison(metric, pairs, odd, (sorted(ours - theirs), sorted(ours & theirs), sorted(theirs - ours)))


def _side(entry: Entry | None, rivals: int, metric: str) -> Side:
    if entry is not None:
        return Side(entry.status, entry.reason, entry.launches[metric])
    why = f"points that agree in all that both sides tell: {rivals}; which is meant is not known" if rivals else ""
    return Side(NOT_PLANNED, why, ())
