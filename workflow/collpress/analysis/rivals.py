"""The library's own choice against the best algorithm that could have run in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import xarray as xr

from collpress.analysis.points import DEFAULT, Factors, Point, points
from collpress.analysis.ratios import Ratio, ratio_of_medians

Verdict = Literal[
    "rival faster",
    "default faster",
    "no difference",
    "unknown",
    "no rival",
    "no rival ok",
    "default missing",
    "default unsupported",
    "default failed",
]
_VERDICTS: dict[str, Verdict] = {"greater": "rival faster", "less": "default faster", "no difference": "no difference"}


@dataclass(frozen=True)
class Choice:
    """One cell of all factors but the algorithm: what the library chose by itself, and what else there was.

    factors : all but the algorithm, the codec and the bound.
    default : the point of `library:default`; None where none was planned.
    rivals : the other library algorithms and the reference algorithms, whatever became of them.
    best : the ok rival with the smallest median time; None where no rival is ok.
    ratio : time of the default over that of `best`, above 1 where the rival is faster; its error probability is divided
        by the number of rivals, because the best of them was picked (Bonferroni). None where a side has no time.
    verdict : `unknown` with too few launches to show a difference, or none with a time; `default failed` is every
        status but ok and unsupported.
    """

    experiment: str
    factors: Factors
    default: Point | None
    rivals: tuple[Point, ...]
    best: Point | None
    ratio: Ratio | None
    verdict: Verdict


def choices(dataset: xr.Dataset) -> list[Choice]:
    """A `Choice` for every cell that holds a library or a reference algorithm without a codec, in the cube's order."""
    cells: dict[tuple[tuple[str, str | int], ...], list[Point]] = {}
    for point in points(dataset):
        kind = str(point.factors["algorithm"]).partition(":")[0]
        if kind in ("library", "reference") and point.factors["codec"] == "none":
            cells.setdefault(point.without("algorithm", "codec", "error_bound"), []).append(point)
    return [_choice(str(dataset.attrs["experiment"]), dict(cell), found) for cell, found in cells.items()]


def _choice(experiment: str, factors: Factors, found: Sequence[Point]) -> Choice:
    default = next((p for p in found if p.factors["algorithm"] == DEFAULT), None)
    rivals = tuple(p for p in found if p is not default)
    best = min((p for p in rivals if p.ok), key=lambda p: p.time, default=None)
    ratio = None
    if default is not None and default.ok and best is not None:
        ratio = ratio_of_medians(default.times, best.times, choices=len(rivals))
    return Choice(experiment, factors, default, rivals, best, ratio, _verdict(default, rivals, ratio))


def _verdict(default: Point | None, rivals: Sequence[Point], ratio: Ratio | None) -> Verdict:
    if ratio is not None:
        return _VERDICTS.get(ratio.shown, "unknown")
    if not rivals:
        return "no rival"
    if default is None:
        return "default missing"
    if default.status == "unsupported":
        return "default unsupported"
    if default.status != "ok":
        return "default failed"
    return "unknown" if any(p.status == "ok" for p in rivals) else "no rival ok"
