"""Two cubes side by side: ratios of medians with confidence over launches, and what cannot be compared.

A point is the same in both where experiment and all factors agree. Takes cubes, says nothing of where they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from collpress.analysis.counting import counted
from collpress.analysis.flags import decoded, meanings
from collpress.analysis.ratios import Ratio, ratio_of_medians

METRICS: Mapping[str, str] = {"latency_median": "latency_launch_median", "latency_p99": "latency_launch_p99"}
"""What can be compared, and the variable that holds its value of each launch. All are times: less is better."""

Verdict = Literal["better", "worse", "no difference shown", "unknown"]
_VERDICTS: Mapping[str, Verdict] = {
    "less": "better",
    "greater": "worse",
    "no difference": "no difference shown",
    "unknown": "unknown",
}
NOT_PLANNED = "not_planned"
_LIBRARY = "library:"

Factors = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class Side:
    """A point in one cube: its status, the reason where it is not ok, and the metric of each ok launch (s)."""

    status: str
    reason: str
    launches: tuple[float, ...]

    @property
    def median(self) -> float | None:
        return float(np.median(self.launches)) if self.launches else None


@dataclass(frozen=True)
class Pair:
    """A point that is ok in both: the ratio is B over A, the verdict says how B does."""

    experiment: str
    factors: dict[str, int | str]
    a: Side
    b: Side
    ratio: Ratio

    @property
    def verdict(self) -> Verdict:
        return _VERDICTS[self.ratio.shown]


@dataclass(frozen=True)
class Odd:
    """A point that cannot be compared: only one cube has it, or it is not ok in both."""

    experiment: str
    factors: dict[str, int | str]
    a: Side
    b: Side


@dataclass(frozen=True)
class Comparison:
    """All points of two cubes.

    algorithms : names of the library's algorithms in (A only, both, B only); two MPI libraries share few.
    """

    metric: str
    pairs: list[Pair]
    odd: list[Odd]
    algorithms: tuple[list[str], list[str], list[str]]

    def counts(self) -> dict[str, int]:
        """Pairs by verdict, zeros included, and the points that could not be compared."""
        seen = Counter(pair.verdict for pair in self.pairs)
        only_a, only_b = (sum(getattr(o, side).status == NOT_PLANNED for o in self.odd) for side in ("b", "a"))
        return {
            "compared": len(self.pairs),
            **{verdict: seen[verdict] for verdict in _VERDICTS.values()},
            "only_a": only_a,
            "only_b": only_b,
            "not_ok": len(self.odd) - only_a - only_b,
        }

    def expected_by_chance(self) -> float:
        """So many differences would be shown on average if there were none: the sum of the error probabilities."""
        return sum(1 - pair.ratio.confidence for pair in self.pairs if pair.verdict != "unknown")


def compare(a: xr.DataTree, b: xr.DataTree, metric: str = "latency_median") -> Comparison:
    """Compare B with A; KeyError for a metric that is not in METRICS.

    Order: experiments as in A, then those that only B has; points in the order of their factors' labels.
    """
    variable = METRICS[metric]
    sides = tuple(
        {name: _points(group.to_dataset(), variable) for name, group in cube.children.items()} for cube in (a, b)
    )
    pairs: list[Pair] = []
    odd: list[Odd] = []
    for experiment in dict.fromkeys([*sides[0], *sides[1]]):
        left, right = sides[0].get(experiment, {}), sides[1].get(experiment, {})
        for point in dict.fromkeys([*left, *right]):
            one, other = left.get(point, _ABSENT), right.get(point, _ABSENT)
            if one.launches and other.launches:
                ratio = ratio_of_medians(other.launches, one.launches)
                pairs.append(Pair(experiment, dict(point), one, other, ratio))
            else:
                odd.append(Odd(experiment, dict(point), one, other))
    names = tuple({str(dict(p)["algorithm"]) for points in side.values() for p in points} for side in sides)
    ours, theirs = ({name for name in side if name.startswith(_LIBRARY)} for side in names)
    return Comparison(metric, pairs, odd, (sorted(ours - theirs), sorted(ours & theirs), sorted(theirs - ours)))


_ABSENT = Side(NOT_PLANNED, "", ())


def _points(group: xr.Dataset, variable: str) -> dict[Factors, Side]:
    return dict(_cells(group, variable))


def _cells(group: xr.Dataset, variable: str) -> Iterator[tuple[Factors, Side]]:
    """Every planned cell of an experiment; only a point with status ok has launches that count."""
    status, codes = group["status"], meanings(group["status"])
    dims = [str(dim) for dim in status.dims]
    words = decoded(status.values, codes)
    values = group[variable].transpose(*dims, "launch").values
    reasons, texts = group["reason"].transpose(*dims).values, group["reason_text"].values
    for index in np.argwhere(status.values != codes[NOT_PLANNED]):
        place = tuple(index)
        factors = tuple((dim, _plain(group[dim].values[i])) for dim, i in zip(dims, index, strict=True))
        word, reason = str(words[place]), int(reasons[place])
        launches = counted(values[place]) if word == "ok" else ()
        yield factors, Side(word, str(texts[reason]) if reason else "", launches)


def _plain(value: Any) -> int | str:
    return str(value) if isinstance(value, np.str_ | str) else int(value)
