"""An algorithm's own phases, by the names that it tags them with, as a variable of a cube."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from collpress.cube.fidelity import Column
from collpress.cube.plan import PlannedPoint
from collpress.cube.quantities import FIELDS, OUTSIDE, PHASES
from collpress.records import Journals, Status
from collpress.records.schema import Phase, Phases

_ATTRS = {
    "long_name": "time in each phase that the algorithm tags, by what it does there",
    "units": "s",
    "cell_methods": "launch: median",
    "comment": f"{OUTSIDE}: in none of its phases; NaN where an algorithm has no such phase. The sum over tagged_phase "
    "is phase_time but for medians, which do not add up exactly; for the same reason other may be a little below 0",
    "ancillary_variables": "phase_time phase_total status",
}
_ABOUT = {"long_name": "phase that algorithms tag", "comment": "in the order in which they begin"}


class Tagged:
    """The phases of P points: medians over the launches of those that are ok; nothing where no algorithm has any."""

    def __init__(self, points: Sequence[PlannedPoint], journals: Journals, launches: int) -> None:
        self._told = [_instrumented(point, journals, launches) for point in points]
        names = merged([[phase.name for phase in one.phases if phase.name] for told in self._told for one in told])
        self.names = [*names, OUTSIDE] if names else []

    def columns(self) -> dict[str, Column]:
        """`tagged_phase_time`: (P, names, `PHASES`) seconds."""
        if not self.names:
            return {}
        rows = np.array([self._median(told) for told in self._told])
        return {"tagged_phase_time": Column(rows, np.nan, _ATTRS, ("tagged_phase", "phase"))}

    def coords(self) -> dict[str, xr.DataArray]:
        """`tagged_phase`: the names."""
        labels = xr.DataArray(np.array(self.names), dims=["tagged_phase"], attrs=_ABOUT)
        return {"tagged_phase": labels} if self.names else {}

    def _median(self, told: Sequence[Phases]) -> npt.NDArray[np.float64]:
        if not told:
            return np.full((len(self.names), len(PHASES)), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN rows are expected, and NaN is what they give
            return np.asarray(np.nanmedian([self._spread(one) for one in told], axis=0))

    def _spread(self, told: Phases) -> npt.NDArray[np.float64]:
        """(names, `PHASES`) of one launch; all NaN for an algorithm without a phase of its own."""
        out = np.full((len(self.names), len(PHASES)), np.nan)
        own = [phase for phase in told.phases if phase.name]
        for phase in own:
            out[self.names.index(phase.name)] = _parts(phase)
        if own:
            outside = [_parts(phase) for phase in told.phases if not phase.name]
            out[-1] = outside[0] if outside else 0.0
            out[-1, -1] = told.other - sum(_parts(phase)[-1] for phase in own)
        return out


def merged(orders: Sequence[Sequence[str]]) -> list[str]:
    """All names once, each sequence's in its own order as far as they agree.

    >>> merged([["reduce-scatter", "allgather"], ["fold", "reduce-scatter", "allgather", "unfold"]])
    ['fold', 'reduce-scatter', 'allgather', 'unfold']
    """
    out: list[str] = []
    for order in orders:
        at = 0
        for name in order:
            if name not in out:
                out.insert(at, name)
            at = out.index(name) + 1
    return out


def _instrumented(point: PlannedPoint, journals: Journals, launches: int) -> list[Phases]:
    if point.key is None or journals.status(point.key, launches).status is not Status.OK:
        return []
    records = (record for launch, record in sorted(journals.of(point.key).items()) if launch < launches)
    return [record.phases_s for record in records if record.phases_s is not None]


def _parts(phase: Phase) -> list[float]:
    """In the order of `PHASES`; `other` is what the phase spends in none of the calls."""
    parts = [float(getattr(phase, FIELDS.get(part, part))) for part in PHASES if part != "other"]
    return [*parts, phase.total - sum(parts)]
