"""The planned points of an experiment, each with one time a launch: what comparisons are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt
import xarray as xr

from collpress.analysis.counting import counted
from collpress.analysis.flags import meanings
from collpress.analysis.table import rows
from collpress.errors import CollpressError

Factors = Mapping[str, str | int]
DEFAULT = "library:default"
"""The algorithm that leaves the choice to the library."""
_TIME = "latency_launch_median"


@dataclass(frozen=True)
class Point:
    """A point of the plan as its cube tells it.

    id, key : hex digits; the key is None where the plan says unsupported or failed.
    reason : why it is not ok; empty where it is.
    noisy : launches that missed the asked precision.
    times : s, the median of each launch that counts; empty where none does, or the status is not ok.
    numbers : the variables that were asked for, None where a value is missing.
    by_launch : the variables with a number a launch that were asked for, as `times`.
    """

    experiment: str
    id: str
    key: str | None
    factors: Factors
    status: str
    reason: str
    noisy: int
    times: tuple[float, ...]
    numbers: Mapping[str, float | None]
    by_launch: Mapping[str, tuple[float, ...]]

    @property
    def ok(self) -> bool:
        """Whether its status is ok and it has a time: `counting.counted` says which launches have one."""
        return bool(self.times)

    @property
    def time(self) -> float:
        """Median over launches, s; ValueError for a point without one."""
        if not self.times:
            raise ValueError(f"a point that is {self.status} has no time")
        return median(self.times)

    def without(self, *names: str) -> tuple[tuple[str, str | int], ...]:
        """All factors but `names`, to find the points that are equal in them."""
        return tuple((name, value) for name, value in self.factors.items() if name not in names)


def points(dataset: xr.Dataset, numbers: Sequence[str] = (), by_launch: Sequence[str] = ()) -> list[Point]:
    """The planned points of an experiment's group, in the order of its axes.

    `numbers` names variables with one number per point, `by_launch` those with one per launch. CollpressError for a
    cube that does not name its points.
    """
    if "point" not in dataset:
        raise CollpressError("this cube does not name its points", fix="make it again: collpress cube")
    status = dataset["status"]
    dims = [str(dim) for dim in status.dims]
    planned = np.argwhere(status.values != meanings(status)["not_planned"])
    launches = {name: dataset[name].transpose(*dims, "launch").values[tuple(planned.T)] for name in (_TIME, *by_launch)}
    ids, keys = (dataset[name].values.astype(str) for name in ("point_id", "point_key"))
    return [
        Point(
            str(dataset.attrs["experiment"]),
            str(ids[row["point"]]),
            str(keys[row["point"]]) if keys[row["point"]] != "-" else None,
            {dim: row[dim] for dim in dims},
            row["status"],
            row["reason"],
            row["n_noisy"],
            counted(launches[_TIME][i]) if row["status"] == "ok" else (),
            {name: row[name] for name in numbers},
            {name: _known(launches[name][i]) if row["status"] == "ok" else () for name in by_launch},
        )
        for i, row in enumerate(rows(dataset, ("point", "n_noisy", *numbers)))
    ]


def _known(values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(v) for v in values if not np.isnan(v))
