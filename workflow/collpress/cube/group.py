"""One experiment as a Dataset: points spread over the cross product of the factors, launches summarised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from collpress.analysis.bandwidth import algbw, busbw, busbw_formula, operation_formula, wire_bandwidth
from collpress.analysis.payoff import ASSUMPTIONS, FORMULA, break_even_rates
from collpress.analysis.statistics import coverage, median_over
from collpress.cube.axes import Axes, axes_of, coordinates
from collpress.cube.feedback import FedBack
from collpress.cube.fidelity import fidelity, widest
from collpress.cube.flags import KNOWN_BY, NOISY, STATUS, flag_attributes, safe_word, vocabulary
from collpress.cube.measured import Measured, measured
from collpress.cube.plan import BrokenMetric, PlannedMetric, PlannedPoint
from collpress.cube.quantities import CELL, LAUNCH, OVERLAP, PHASE, PHASES, Quantity
from collpress.cube.tagged import Tagged
from collpress.records import Journals

Array = npt.NDArray[np.generic]


def group(
    experiment: str,
    points: Sequence[PlannedPoint],
    journals: Journals,
    launches: int,
    metrics: Sequence[PlannedMetric] = (),
    broken: Sequence[BrokenMetric] = (),
) -> xr.Dataset:
    """The Dataset of one experiment, with CF attributes.

    Dimensions: the factors (`axes.FACTORS` and any further ones), then `launch`, `tagged_phase`, `phase`,
    `round` or `<metric>_value` where a variable has them.
    NaN means that `status` is not ok, or what the variable's comment says; raises CollpressError for a cube that would
    explode.
    """
    tagged = Tagged(points, journals, launches)
    fed_back = FedBack(points, journals, launches)
    deepest = max(
        launches * len(PHASES), len(tagged.names) * len(PHASES), widest(points, metrics), len(fed_back.rounds)
    )
    axes = axes_of(experiment, [p.factors for p in points], launches=deepest)
    rows = measured(points, journals, launches)
    data = {
        **_identities(axes, points),
        **_verdicts(axes, rows),
        **_launches(axes, rows),
        **_times(axes, rows, launches),
        **_summaries(axes, rows, {**CELL, **OVERLAP} if "call" in axes.labels else CELL),
        **_phases(axes, rows),
    }
    faithful = fidelity(points, journals, launches, metrics, broken)
    columns = {**faithful.columns, **tagged.columns(), **fed_back.columns()}
    data |= {n: _variable(axes, c.rows, c.empty, *c.dims, **c.attrs) for n, c in columns.items()}
    data |= faithful.texts
    coords = {**coordinates(axes), **faithful.coords, **tagged.coords(), **fed_back.coords()}
    coords["launch"] = xr.DataArray(
        np.arange(launches, dtype=np.int32),
        dims=["launch"],
        attrs={"long_name": "start of the core under the launcher", "units": "1"},
    )
    coords["phase"] = xr.DataArray(np.array(PHASES), dims=["phase"], attrs={"long_name": "phase of a call"})
    dataset = xr.Dataset(data, coords=coords)
    _add_bandwidths(dataset)
    return dataset.assign_attrs(
        title=f"experiment {experiment}",
        experiment=experiment,
        launches=launches,
        planned_points=len(points),
        ok_points=int(np.count_nonzero(rows.status == STATUS["ok"])),
        fill_fraction=len(points) / axes.cells,
    )


def _spread(axes: Axes, rows: Array, empty: object) -> Array:
    """(P, ...) rows into a dense (axes, ...) array, `empty` in cells without a point."""
    dense = np.full((axes.cells, *rows.shape[1:]), empty, dtype=rows.dtype)
    dense[axes.cell] = rows
    return dense.reshape(*axes.shape, *rows.shape[1:])


def _variable(axes: Axes, rows: Array, empty: object, *dims: str, **attrs: object) -> xr.DataArray:
    return xr.DataArray(
        _spread(axes, rows, empty),
        dims=[*axes.dims, *dims],
        attrs={k: v for k, v in attrs.items() if not (isinstance(v, str) and not v)},
    )


def _identities(axes: Axes, points: Sequence[PlannedPoint]) -> dict[str, xr.DataArray]:
    """Ids and keys as the plan and the journals have them, so that a number can be followed to its records."""
    place = _spread(axes, np.arange(len(points), dtype=np.int32), -1)
    about = {"long_name": "point of the cell", "comment": "index into point_id and point_key; -1: not planned"}
    id_about = {"long_name": "id of the point", "comment": "hash of what was asked for"}
    key_about = {
        "long_name": "key of the point in the journals",
        "comment": "hash of the id and all that could change the value; -: the plan says unsupported or failed",
    }
    return {
        "point": xr.DataArray(place, dims=axes.dims, attrs=about),
        "point_id": xr.DataArray(np.array([p.id for p in points]), dims=["point_index"], attrs=id_about),
        "point_key": xr.DataArray(np.array([p.key or "-" for p in points]), dims=["point_index"], attrs=key_about),
    }


def _verdicts(axes: Axes, rows: Measured) -> dict[str, xr.DataArray]:
    texts = ["no reason: the point is ok or not planned", *sorted({r for r in rows.reasons if r})]
    reason = np.array([texts.index(r) if r else 0 for r in rows.reasons], dtype=np.int32)
    effective = vocabulary(rows.effective, first=["unknown", "differs"])
    ran = np.array([effective[safe_word(e)] for e in rows.effective], dtype=np.int16)
    ok = rows.launch_status == STATUS["ok"]
    noisy = np.count_nonzero(rows.noisy, axis=1).astype(np.int32)
    return {
        "status": _variable(
            axes,
            rows.status,
            STATUS["not_planned"],
            long_name="status of the point",
            ancillary_variables="reason n_ok",
            **flag_attributes(STATUS, np.int8),
        ),
        "reason": _variable(axes, reason, 0, long_name="why the status is not ok", comment="index into reason_text"),
        "reason_text": xr.DataArray(np.array(texts), dims=["reason_index"], attrs={"long_name": "reasons, by index"}),
        "n_ok": _variable(
            axes,
            np.count_nonzero(ok, axis=1).astype(np.int32),
            0,
            long_name="number of launches that are ok",
            units="1",
        ),
        "n_iterations": _variable(
            axes,
            rows.iterations.sum(axis=1, dtype=np.int64),
            0,
            long_name="timed iterations in the ok launches",
            units="1",
        ),
        "n_noisy": _variable(axes, noisy, 0, long_name="ok launches that did not reach the asked precision", units="1"),
        "noisy": _variable(
            axes,
            (noisy > 0).astype(np.int8),
            0,
            long_name="whether any ok launch missed the asked precision",
            **flag_attributes(NOISY, np.int8),
        ),
        "effective_algorithm": _variable(
            axes,
            ran,
            0,
            long_name="algorithm in effect, as far as known_by warrants",
            ancillary_variables="known_by",
            comment="differs: not the same in all launches",
            **flag_attributes(effective, np.int16),
        ),
        "known_by": _variable(
            axes,
            rows.known_by,
            0,
            long_name="how the algorithm that ran is known",
            comment="the weakest evidence of the ok launches",
            **flag_attributes(KNOWN_BY, np.int8),
        ),
    }


def _launches(axes: Axes, rows: Measured) -> dict[str, xr.DataArray]:
    out = {
        "launch_status": _variable(
            axes,
            rows.launch_status,
            STATUS["not_planned"],
            "launch",
            long_name="status of the launch",
            **flag_attributes(STATUS, np.int8),
        ),
        "n_iterations_launch": _variable(
            axes,
            rows.iterations,
            0,
            "launch",
            long_name="timed iterations in a launch",
            units="1",
            comment="0 where the launch is not ok",
        ),
    }
    for name, q in LAUNCH.items():
        out[name] = _variable(
            axes,
            rows.values[name],
            np.nan,
            "launch",
            long_name=q.long_name,
            units=q.units,
            comment=q.comment,
            ancillary_variables="launch_status n_iterations_launch",
        )
    return out


def _times(axes: Axes, rows: Measured, launches: int) -> dict[str, xr.DataArray]:
    ok = rows.status == STATUS["ok"]
    table = median_over(xr.DataArray(rows.values["latency_launch_median"], dims=["point", "launch"]))
    limits = _limits_text(launches)
    about = {
        "median": (
            "latency_median",
            "time of the operation: median over launches of the launches' medians",
            "s",
            "launch: median",
        ),
        "ci_low": ("latency_ci_low", "lower confidence limit of latency_median", "s", ""),
        "ci_high": ("latency_ci_high", "upper confidence limit of latency_median", "s", ""),
        "coverage": ("latency_ci_coverage", "probability that the limits hold the median", "1", ""),
    }
    out: dict[str, xr.DataArray] = {}
    for statistic, (name, long_name, units, methods) in about.items():
        values = np.where(ok, table[statistic].values, np.nan)
        out[name] = _variable(
            axes, values, np.nan, long_name=long_name, units=units, cell_methods=methods, comment=limits
        )
    out["latency_median"].attrs["ancillary_variables"] = (
        "latency_ci_low latency_ci_high latency_ci_coverage n_ok n_iterations noisy status"
    )
    return out


def _summaries(axes: Axes, rows: Measured, quantities: Mapping[str, Quantity]) -> dict[str, xr.DataArray]:
    ok = rows.status == STATUS["ok"]
    out: dict[str, xr.DataArray] = {}
    for name, q in quantities.items():
        keep = ok | (rows.status == STATUS["invalid"]) if q.evidence else ok
        values = np.where(keep, _over_launches(rows.values[name], q), np.nan)
        out[name] = _variable(
            axes,
            values,
            np.nan,
            long_name=q.long_name,
            units=q.units,
            comment=q.comment,
            cell_methods=f"launch: {q.over_launches}",
            ancillary_variables="status n_ok",
        )
    return out


def _phases(axes: Axes, rows: Measured) -> dict[str, xr.DataArray]:
    ok = rows.status == STATUS["ok"]
    columns = [np.where(ok, _over_launches(rows.values[name], q), np.nan) for name, q in PHASE.items()]
    attrs = {
        "long_name": "time in each phase of a call",
        "units": "s",
        "cell_methods": "launch: median",
        "comment": "instrumented pass, rank with the largest total; NaN for library algorithms",
        "ancillary_variables": "phase_total status",
    }
    launches = np.stack([np.where(ok[:, None], rows.values[name], np.nan) for name in PHASE], axis=2)
    each = {name: text for name, text in attrs.items() if name != "cell_methods"}
    each |= {"long_name": "time in each phase of a call, in each launch", "ancillary_variables": "launch_status"}
    return {
        "phase_time": _variable(axes, np.stack(columns, axis=1), np.nan, "phase", **attrs),
        "phase_time_launch": _variable(axes, launches, np.nan, "launch", "phase", **each),
    }


def _add_bandwidths(dataset: xr.Dataset) -> None:
    """Rates and the compression ratio: quotients of medians, made last."""
    time, where = dataset["latency_median"], (dataset["collective"], dataset["message_bytes"], dataset["ranks"])
    collectives = dataset["collective"].values.astype(str).tolist()
    factors = "; ".join(f"{c}: {busbw_formula(c)}" for c in collectives if _has_factor(c))
    moved = "; ".join(f"{c}: {formula}" for c in collectives if (formula := operation_formula(c)))
    dataset["algbw"] = algbw(time, *where).assign_attrs(
        long_name="algorithm bandwidth",
        units="byte s-1",
        formula=f"bytes / latency_median; bytes of the operation on p ranks: {moved or 'none'}",
        ancillary_variables="status",
    )
    dataset["busbw"] = busbw(time, *where).assign_attrs(
        long_name="bus bandwidth",
        units="byte s-1",
        formula=f"algbw * factor; factor for p ranks: {factors or 'none'}",
        comment="uncompressed bytes, also for operations that compress",
        ancillary_variables="status",
    )
    dataset["effective_bandwidth"] = dataset["algbw"].assign_attrs(
        long_name="effective bandwidth",
        comment="uncompressed bytes of the operation, however few are sent: algbw by the name that CC-Bench uses",
    )
    dataset["wire_bandwidth"] = wire_bandwidth(time, dataset["wire_bytes"]).assign_attrs(
        long_name="wire bandwidth of rank 0",
        units="byte s-1",
        formula="wire_bytes / latency_median",
        comment="bytes that rank 0 really sends, compressed where a codec is; NaN without a codec",
        ancillary_variables="status",
    )
    dataset["break_even_rate"] = break_even_rates(dataset).assign_attrs(
        long_name="link rate of a rank below which the codec saves time",
        units="byte s-1",
        cell_methods="launch: median",
        formula=FORMULA,
        comment=f"{ASSUMPTIONS}; w_plain: with the codec none; 0 where no bytes are saved; NaN without a codec",
        ancillary_variables="status",
    )
    dataset["compression_ratio"] = (dataset["raw_bytes"] / dataset["compressed_bytes"]).assign_attrs(
        long_name="compression ratio of rank 0's message",
        units="1",
        comment="raw_bytes / compressed_bytes; NaN without a codec",
        ancillary_variables="status",
    )


def _has_factor(collective: str) -> bool:
    try:
        return bool(busbw_formula(collective))
    except KeyError:
        return False


def _over_launches(values: npt.NDArray[np.float64], quantity: Quantity) -> npt.NDArray[np.float64]:
    """(P, L) → (P,), NaN where no launch has a value."""
    functions: dict[str, Callable[..., Any]] = {"median": np.nanmedian, "minimum": np.nanmin, "maximum": np.nanmax}
    if not values.size:
        return np.full(values.shape[0], np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN rows are expected, and NaN is what they give
        return np.asarray(functions[quantity.over_launches](values, axis=1), dtype=np.float64)


def _limits_text(launches: int) -> str:
    if launches >= 6:
        return "nonparametric limits of the median over launches (order statistics, at least 95 %, exact binomial)"
    return (
        f"limits are the smallest and the largest of {launches} launches (fewer than six give no 95 % limits); "
        f"they hold the median with {100 * coverage(launches):g} % (exact binomial)"
    )
