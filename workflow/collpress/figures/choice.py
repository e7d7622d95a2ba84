"""Which points a figure shows: those with a part of the cube that it needs, side by side where they are comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from collpress.analysis.table import Row, rows
from collpress.cube.axes import FACTORS
from collpress.figures.headings import parted
from collpress.figures.marks import MARKS, said

IN_BLOCK = ("algorithm", "codec", "error_bound")
"""What may differ between the points of a block; all else stands in its title or its heading."""
_NAMED = 3
"""Groups that a sentence names; the CSV has all."""


@dataclass(frozen=True)
class Group:
    """Points of one experiment that are equal in every factor but some, usually those of `IN_BLOCK`."""

    experiment: str
    factors: Mapping[str, Any]
    """Those in which they are equal."""
    points: Sequence[Row]


def entries(dataset: xr.Dataset, variable: str, dimension: str, prefix: str = "") -> xr.Dataset:
    """The dataset with each entry of `variable` along `dimension` as a variable of its own, named `prefix` + label.

    Without `variable` the dataset comes back unchanged.
    """
    if variable not in dataset:
        return dataset
    labelled = {str(label): dataset[variable].sel({dimension: label}, drop=True) for label in dataset[dimension].values}
    return dataset.assign({prefix + name: values for name, values in labelled.items()})


def identified(dataset: xr.Dataset, variables: Sequence[str]) -> list[Row]:
    """`analysis.table.rows` with the point's `id`, None where the cube does not name its points."""
    if "point" not in dataset:
        return [row | {"id": None} for row in rows(dataset, variables)]
    ids = dataset["point_id"].values.astype(str)
    return [row | {"id": str(ids[row["point"]])} for row in rows(dataset, [*variables, "point"])]


def chosen(dataset: xr.Dataset, variables: Sequence[str]) -> list[Row]:
    """`identified` rows with None for variables that the dataset lacks."""
    present = [name for name in variables if name in dataset]
    absent = dict.fromkeys(name for name in variables if name not in dataset)
    return [row | absent for row in identified(dataset, present)]


def groups(
    experiment: str, dataset: xr.Dataset, points: Sequence[Row], within: Collection[str] = IN_BLOCK
) -> list[Group]:
    """The points of an experiment as groups that differ in the factors `within`, in the order of the cube's axes."""
    names = [n for n in factor_names(dataset) if n not in within]
    place = {n: {label: i for i, label in enumerate(dataset[n].values.tolist())} for n in names}
    found: dict[tuple[Any, ...], list[Row]] = {}
    for point in points:
        found.setdefault(tuple(point[n] for n in names), []).append(point)
    order = sorted(found, key=lambda key: [place[n][value] for n, value in zip(names, key, strict=True)])
    return [Group(experiment, dict(zip(names, key, strict=True)), found[key]) for key in order]


def omissions(empty: Sequence[Group]) -> list[str]:
    """A sentence per experiment on groups that have nothing to draw."""
    found: dict[str, list[Group]] = {}
    for group in empty:
        found.setdefault(group.experiment, []).append(group)
    return [_omission(experiment, groups) for experiment, groups in found.items()]


def _omission(experiment: str, groups: Sequence[Group]) -> str:
    counts = Counter(str(point["status"]) for group in groups for point in group.points)
    told = ", ".join(f"{counts[s]} {said(s)}" for s in MARKS if counts[s])
    common, titles = parted([group.factors for group in groups])
    named = "; ".join(titles[:_NAMED])
    more = f"; … and {len(groups) - _NAMED} more" if groups[_NAMED:] else ""
    where = f"{named}{more}; each {common}" if common and titles[0] else common or f"{named}{more}"
    return f"{experiment}, without a panel because no point has numbers ({told}): {where}."


def factor_names(dataset: xr.Dataset) -> list[str]:
    """The factors of an experiment, the known ones first."""
    dims = [str(d) for d in dataset["status"].dims]
    return [*(n for n in FACTORS if n in dims), *(d for d in dims if d not in FACTORS)]
