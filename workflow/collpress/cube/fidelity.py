"""What the metrics say, as variables of a cube: `<subject>_<metric>`, and why a value is missing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from collpress.cube.plan import BrokenMetric, PlannedMetric, PlannedPoint
from collpress.fidelity import measures_fidelity
from collpress.printable import one_line
from collpress.records import Journals, Record, Status

SUBJECTS: Mapping[str, str] = {
    "message": "rank 0's message after compression and decompression",
    "result": "rank 0's result against the float64 oracle",
}
_ANCILLARY = "status fidelity_problem"
_NO_PROBLEM = "no problem: every value is there, or nothing was measured"


@dataclass(frozen=True)
class Column:
    """One variable before it is spread over the axes: (points, ...) rows, the dimensions beyond the factors' and what
    stands in cells without a point."""

    rows: npt.NDArray[Any]
    empty: object
    attrs: Mapping[str, object]
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fidelity:
    """All that the metrics bring into an experiment's group; empty where no point has a fidelity."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    texts: Mapping[str, xr.DataArray] = field(default_factory=dict)
    coords: Mapping[str, xr.DataArray] = field(default_factory=dict)


def widest(points: Sequence[PlannedPoint], metrics: Sequence[PlannedMetric]) -> int:
    """The length of the longest dimension beyond the factors."""
    return max((len(m.values) for m in metrics), default=0) if _any_measured(points) else 0


def fidelity(
    points: Sequence[PlannedPoint],
    journals: Journals,
    launches: int,
    metrics: Sequence[PlannedMetric],
    broken: Sequence[BrokenMetric] = (),
) -> Fidelity:
    """The metrics' values of P points: medians over the launches of the points that are ok.

    Those in `broken` have no values; the points that would have them have the reason as a problem.
    """
    if not (metrics or broken) or not _any_measured(points):
        return Fidelity()
    records = [_ok_records(point, journals, launches) for point in points]
    columns: dict[str, Column] = {}
    for subject, about in SUBJECTS.items():
        bounds = np.array([_median([[_bound(r, subject)] for r in own], 1) for own in records])[:, 0]
        comment = "in units of the data; what codec and rounding may cause; NaN where nothing is known"
        columns[f"{subject}_bound"] = Column(bounds, np.nan, _attrs(f"bound of the errors of {about}", comment))
        held = np.array([_bound_ok(own, subject) for own in records])
        comment = "1: each finite value came out within the bound in every launch; 0: not so; NaN where unknown"
        attrs = {"long_name": f"whether the bound of the errors of {about} holds", "comment": comment, "units": "1"}
        columns[f"{subject}_bound_ok"] = Column(held, np.nan, attrs)
        for metric in metrics:
            rows = np.array(
                [_median([_values(r, subject, metric) for r in own], len(metric.values)) for own in records]
            )
            columns[f"{subject}_{metric.name}"] = _column(rows, about, metric)
    lacking = [f"{metric.name}: {metric.reason}" for metric in broken]
    told = [
        [*_told(own), *(lacking if own and measures_fidelity(point.factors) else ())]
        for point, own in zip(points, records, strict=True)
    ]
    problems, texts = _problems(told)
    return Fidelity(columns | problems, texts, {f"{m.name}_value": _names(m) for m in metrics if len(m.values) > 1})


def _any_measured(points: Sequence[PlannedPoint]) -> bool:
    return any(measures_fidelity(point.factors) for point in points)


def _ok_records(point: PlannedPoint, journals: Journals, launches: int) -> list[Record]:
    if point.key is None or journals.status(point.key, launches).status is not Status.OK:
        return []
    return [record for launch, record in sorted(journals.of(point.key).items()) if launch < launches]


def _bound(record: Record, subject: str) -> float:
    seen = getattr(record.fidelity, subject) if record.fidelity else None
    return np.nan if seen is None or seen.bound is None else float(seen.bound)


def _bound_ok(records: Sequence[Record], subject: str) -> float:
    seen = (getattr(record.fidelity, subject) if record.fidelity else None for record in records)
    told = [one.bound_ok for one in seen if one is not None and one.bound_ok is not None]
    return float(all(told)) if told else np.nan


def _values(record: Record, subject: str, metric: PlannedMetric) -> list[float]:
    seen = getattr(record.fidelity, subject) if record.fidelity else None
    told = seen.metrics.get(metric.name, {}) if seen is not None else {}
    return [np.nan if (value := told.get(name)) is None else float(value) for name in metric.values]


def _median(rows: Sequence[Sequence[float]], width: int) -> npt.NDArray[np.float64]:
    """(launches, width) → (width,), NaN where no launch has a value."""
    if not rows:
        return np.full(width, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN columns are expected, and NaN is what they give
        return np.asarray(np.nanmedian(np.array(rows, dtype=np.float64), axis=0))


def _column(rows: npt.NDArray[np.float64], about: str, metric: PlannedMetric) -> Column:
    long_name, comment, units = f"{metric.summary}, of {about}", _comment(metric), set(metric.units)
    attrs = _attrs(long_name, comment) | ({} if "data" in units or len(units) > 1 else {"units": metric.units[0]})
    if len(metric.values) == 1:
        return Column(rows[:, 0], np.nan, attrs)
    return Column(rows, np.nan, attrs | {"value_units": " ".join(metric.units)}, (f"{metric.name}_value",))


def _attrs(long_name: str, comment: str) -> dict[str, object]:
    return {
        "long_name": long_name,
        "comment": comment,
        "cell_methods": "launch: median",
        "ancillary_variables": _ANCILLARY,
    }


def _comment(metric: PlannedMetric) -> str:
    in_data = [name for name, unit in zip(metric.values, metric.units, strict=True) if unit == "data"]
    which = f"{', '.join(in_data)} " if len(in_data) < len(metric.values) else ""
    missing = "NaN where undefined; fidelity_problem says why"
    return f"{which}in units of the data; {missing}" if in_data else missing


def _names(metric: PlannedMetric) -> xr.DataArray:
    attrs = {"long_name": f"value of the metric {metric.name}"}
    return xr.DataArray(np.array(metric.values), dims=[f"{metric.name}_value"], attrs=attrs)


def _problems(of_points: Sequence[Sequence[str]]) -> tuple[dict[str, Column], dict[str, xr.DataArray]]:
    told = ["; ".join(dict.fromkeys(texts)) for texts in of_points]
    texts = [_NO_PROBLEM, *sorted({text for text in told if text})]
    index = {text: position for position, text in enumerate(texts)}
    rows = np.array([index[text] if text else 0 for text in told], dtype=np.int32)
    attrs = {"long_name": "why values of metrics are missing", "comment": "index into fidelity_problem_text; 0: none"}
    text = xr.DataArray(
        np.array(texts), dims=["fidelity_problem_index"], attrs={"long_name": "problems of metrics, by index"}
    )
    return {"fidelity_problem": Column(rows, 0, attrs)}, {"fidelity_problem_text": text}


def _told(records: Sequence[Record]) -> Iterator[str]:
    for record, subject in product(records, SUBJECTS):
        seen = getattr(record.fidelity, subject) if record.fidelity else None
        for metric, problem in sorted(seen.problems.items()) if seen is not None else ():
            yield one_line(f"{subject} {metric}: {problem}")
