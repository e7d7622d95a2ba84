"""Where a codec pays: what was measured over a link of known rate beside what the break-even rate predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import xarray as xr

from collpress.analysis.link import Link, link, share
from collpress.analysis.payoff import Payoff, payoffs

Verdict = Literal["pays", "does not pay", "unknown"]


@dataclass(frozen=True)
class Place:
    """A point with a codec on the map of link rate × size.

    campaign, platform : of the cube that it is from.
    link : what its cube was measured over; None where the cube does not tell of one link.
    share : a rank's byte/s over it; None where no rate is known.
    """

    campaign: str
    platform: str
    link: Link | None
    payoff: Payoff
    share: float | None

    @property
    def measured(self) -> Verdict:
        """Whether the codec is shown to pay, or not to; `unknown` where the limits hold 1 or there is no ratio."""
        ratio = self.payoff.over_plain
        return _WORDS[ratio.shown] if ratio is not None and ratio.shown in _WORDS else "unknown"

    @property
    def margin(self) -> float | None:
        """Break-even rate over the rank's share of the link: above 1 the codec is predicted to pay."""
        rate = self.payoff.break_even
        return None if rate is None or self.share is None else rate.value / self.share

    @property
    def predicted(self) -> Verdict:
        return "unknown" if self.margin is None else "pays" if self.margin > 1 else "does not pay"

    @property
    def agrees(self) -> bool | None:
        """Whether both verdicts are the same; None where one is unknown."""
        return None if "unknown" in (self.measured, self.predicted) else self.measured == self.predicted


_WORDS: dict[str, Verdict] = {"greater": "pays", "less": "does not pay"}


def places(cube: xr.DataTree) -> list[Place]:
    """Every planned point with a codec of a cube, in its order. CollpressError: see `payoffs`."""
    over = link(cube)
    campaign, platform = str(cube.attrs["campaign"]), str(cube.attrs["platform"])
    names = str(cube.attrs["experiments"]).split(" ")
    return [
        Place(campaign, platform, over, p, _share(over, p)) for name in names for p in payoffs(cube[name].to_dataset())
    ]


def _share(over: Link | None, p: Payoff) -> float | None:
    if over is None:
        return None
    return share(over, str(p.point.factors["collective"]), int(p.point.factors["ranks"]))
