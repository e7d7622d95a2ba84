"""How errors grow where results are fed back, as variables of a cube along the dimension `round`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from collpress.cube.fidelity import Column
from collpress.cube.plan import PlannedPoint
from collpress.records import Journals, Status
from collpress.records.schema import Feedback

_COMMENT = (
    "results of the rounds over the number of ranks, each moved by one element, against the exact mean of all first "
    "contributions, over all ranks; NaN where a round was not kept, or an element is no longer finite"
)
_VARIABLES: Mapping[str, tuple[str, dict[str, object]]] = {
    "feedback_max_abs_error": ("largest absolute error of a round", {}),
    "feedback_nrmse": ("root mean square error of a round over the value range", {"units": "1"}),
    "feedback_bias": ("mean signed error of a round", {}),
}
_ABOUT = {
    "long_name": "round of feedback",
    "units": "1",
    "comment": "the first is the call on the data; all are kept up to 64, and 8 for each doubling behind",
}


class FedBack:
    """The rounds of P points: medians over the launches of those that are ok; nothing where no result is fed back."""

    def __init__(self, points: Sequence[PlannedPoint], journals: Journals, launches: int) -> None:
        self._told = [_fed_back(point, journals, launches) for point in points]
        self.rounds = sorted({number for told in self._told for one in told for number in one.round})

    def columns(self) -> dict[str, Column]:
        """`feedback_*`: (P, rounds); `feedback_done`, (P,): the rounds that every launch did."""
        if not self.rounds:
            return {}
        columns = {}
        for name, (long_name, attrs) in _VARIABLES.items():
            rows = np.array([self._median(told, name.removeprefix("feedback_")) for told in self._told])
            about = {"long_name": long_name, "comment": _COMMENT, "cell_methods": "launch: median", **attrs}
            columns[name] = Column(rows, np.nan, about | {"ancillary_variables": "status"}, ("round",))
        done = np.array([min((one.done for one in told), default=0) for told in self._told], dtype=np.float64)
        about = {"long_name": "rounds that were done", "units": "1", "cell_methods": "launch: minimum"}
        columns["feedback_done"] = Column(
            np.where(done > 0, done, np.nan), np.nan, about | {"comment": "fewer than asked: the time was up"}
        )
        return columns

    def coords(self) -> dict[str, xr.DataArray]:
        """`round`: the numbers of the rounds that any point kept."""
        numbers = xr.DataArray(np.array(self.rounds, dtype=np.int32), dims=["round"], attrs=_ABOUT)
        return {"round": numbers} if self.rounds else {}

    def _median(self, told: Sequence[Feedback], column: str) -> npt.NDArray[np.float64]:
        out = np.full((max(len(told), 1), len(self.rounds)), np.nan)
        for row, one in zip(out, told, strict=False):
            for number, value in zip(one.round, getattr(one, column), strict=True):
                row[self.rounds.index(number)] = np.nan if value is None else value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN columns are expected, and NaN is what they give
            return np.asarray(np.nanmedian(out, axis=0))


def _fed_back(point: PlannedPoint, journals: Journals, launches: int) -> list[Feedback]:
    if point.key is None or journals.status(point.key, launches).status is not Status.OK:
        return []
    records = (record for launch, record in sorted(journals.of(point.key).items()) if launch < launches)
    return [record.feedback for record in records if record.feedback is not None]
