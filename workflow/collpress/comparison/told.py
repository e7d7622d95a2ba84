"""A comparison with all that was asked of it: what every way of telling it (table, JSON, JUnit, picture) is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from collpress.analysis.circumstances import differences
from collpress.analysis.comparison import Comparison, Pair
from collpress.analysis.mann_whitney import smallest_p
from collpress.analysis.regression import RATE, Judgement
from collpress.comparison.gate import Gate
from collpress.comparison.subject import Subject
from collpress.comparison.words import percent

Order = Literal["factors", "ratio"]


@dataclass(frozen=True)
class Told:
    """B beside A.

    command : that makes the same again.
    order : of the points: as the cube has its factors, or by how much slower B is.
    """

    a: Subject
    b: Subject
    comparison: Comparison
    judgement: Judgement
    gate: Gate
    command: str
    order: Order = "factors"

    @property
    def pairs(self) -> list[Pair]:
        """Those of an experiment together, in the order that was asked for."""
        if self.order == "factors":
            return self.comparison.pairs
        place = list(dict.fromkeys(pair.experiment for pair in self.comparison.pairs))
        return sorted(self.comparison.pairs, key=lambda pair: (place.index(pair.experiment), -pair.ratio.value))

    @property
    def warnings(self) -> list[str]:
        """What makes the comparison doubtful, most serious first."""
        return [*self._unlike(), *differences(self.a.measured, self.b.measured)]

    def _unlike(self) -> list[str]:
        """What two sides are to each other, where that makes a comparison doubtful."""
        a, b = self.a.measured, self.b.measured
        if a.sha256 and a.sha256 == b.sha256:
            return ["A and B are the same cube"]
        said = []
        campaigns = [side.attrs.get("campaign") for side in (a, b)]
        if campaigns[0] != campaigns[1]:
            said.append(f"different campaigns: A is {campaigns[0]}, B is {campaigns[1]}")
        same = sum(pair.same_launches for pair in self.comparison.pairs)
        if same:
            said.append(
                f"{same} of {len(self.comparison.pairs)} points have the very same launches in both: "
                "they were not measured again"
            )
        return said

    @property
    def power(self) -> str:
        """What so few launches can show of so many points at once; empty where nothing could be judged."""
        judged, together = self.judgement.judged, self.judgement.together
        if not judged:
            return ""
        n = sorted({min(j.pair.ratio.n) for j in judged})
        launches = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
        least = min(smallest_p(j.pair.ratio.n) for j in judged)
        said = f"{launches} launches a side: the smallest possible p of a point is {least:.2g}"
        if together is None:
            return f"{said}; so few launches cannot show a regression, however many points are slower"
        if together == 1:
            return f"{said}; a single slower point can be told from chance"
        return (
            f"{said}; of {len(judged)} points at least {together} must be slower at once to be told from chance, "
            f"with {self.judgement.launches} launches a side one is enough"
        )

    @property
    def verdict(self) -> str:
        """What is claimed of all points together."""
        judged, found = self.judgement.judged, self.judgement.regressions
        rule = self.gate.rule or "slower"
        return (
            f"judged together (Benjamini and Hochberg, false discovery rate {percent(RATE)}): {rule} in {len(found)} "
            f"of {len(judged)} points"
        )


def parted(points: Sequence[dict[str, int | str]]) -> tuple[list[str], dict[str, int | str]]:
    """The factors in which points differ, and those in which they do not, with their values."""
    names = list(dict.fromkeys(name for point in points for name in point))
    varying = [name for name in names if len({point.get(name) for point in points}) > 1]
    return varying, {name: value for name, value in points[0].items() if name not in varying}
