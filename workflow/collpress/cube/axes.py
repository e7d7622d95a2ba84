"""The axes of an experiment's group: which factors, with which labels, and whether a dense cube of them is sane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import xarray as xr

from collpress.errors import CollpressError
from collpress.usual import USUAL, unusual

FACTORS = (
    "collective",
    "algorithm",
    "codec",
    "error_bound",
    "dataset",
    "dtype",
    "op",
    "message_bytes",
    "ranks",
    "nodes",
    "wrap",
)
"""Every group has these dimensions, in this order, also where a factor has one label: selections always work. Those of
`USUAL` are dimensions where any point of the group has them otherwise.
"""

MAX_CELLS = 50_000_000
MIN_FILL = 0.005
SMALL_CELLS = 1_000_000
"""A cube of this size is harmless however empty it is."""

_INTEGERS = {"message_bytes": np.int64, "ranks": np.int32, "nodes": np.int32, "root": np.int32, "feedback": np.int32}
_ABOUT: Mapping[str, dict[str, str]] = {
    "collective": {"long_name": "collective operation"},
    "algorithm": {
        "long_name": "algorithm as requested",
        "comment": "library:, reference: or compressed:, then its name",
    },
    "codec": {"long_name": "codec", "comment": "none: nothing is compressed"},
    "error_bound": {
        "long_name": "error bound as requested",
        "comment": "canonical text; rel is relative to the value range over all ranks' messages",
    },
    "dataset": {"long_name": "data that the ranks send", "comment": "pattern: small integers made by the core"},
    "dtype": {"long_name": "data type of the elements"},
    "op": {"long_name": "reduction operation"},
    "message_bytes": {
        "long_name": "message size",
        "units": "byte",
        "comment": "allreduce, reduce, reduce_scatter, bcast, pingpong: one rank's whole vector; allgather, gather, "
        "scatter, alltoall: one block; allgatherv, alltoallv: the mean block; barrier: 0",
    },
    "ranks": {"long_name": "number of ranks", "units": "1"},
    "nodes": {"long_name": "number of nodes", "units": "1"},
    "wrap": {
        "long_name": "how a dataset goes on behind its end",
        "comment": "none: not at all; mirror: backwards; perturb: again, changed a little; repeat: again",
    },
    "root": {"long_name": "root of the operation", "units": "1", "comment": "0 where it has none"},
    "buffers": {
        "long_name": "where contributions lie",
        "comment": "separate, or in-place: where the rank's result goes",
    },
    "call": {"long_name": "kind of call", "comment": "nonblocking: measured for its overlap with a computation"},
    "imbalance": {"long_name": "how blocks differ in size", "comment": "message_bytes is the mean block"},
    "segment_bytes": {
        "long_name": "most bytes in one message of the algorithm, as requested",
        "comment": "bytes, or default: the algorithm's own choice",
    },
    "fanout": {"long_name": "fan-out of the algorithm, as requested", "comment": "default: its own choice"},
    "sync": {"long_name": "how ranks start an iteration together, as requested"},
    "cache": {"long_name": "state of the buffers", "comment": "cold: they left the caches before each iteration"},
    "alignment": {"long_name": "alignment of the buffers", "units": "byte"},
    "backend": {"long_name": "who calls the library", "comment": "mpi: the native core; mpi4py: Python"},
    "knobs": {
        "long_name": "variables of the library that were set",
        "comment": "the name of a set in the platform file; none: the library's own values",
    },
    "feedback": {
        "long_name": "rounds in which results were fed back, as requested",
        "units": "1",
        "comment": "after the timing; 0: none",
    },
    "target": {
        "long_name": "what the error bound is of",
        "comment": "message: each compression; result: the codec's bound is made so small that the algorithm keeps it",
    },
}


@dataclass(frozen=True)
class Axes:
    """The labels of each axis, and each point's flat position in the dense array of their cross product."""

    labels: Mapping[str, list[Any]]
    cell: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    """(points,) flat index of each point, in C order of `labels`."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(v) for v in self.labels.values())

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(self.labels)

    @property
    def cells(self) -> int:
        return prod(self.shape)


def axes_of(
    experiment: str, factors: Sequence[Mapping[str, Any]], *, launches: int = 1, max_cells: int = MAX_CELLS
) -> Axes:
    """The axes that hold all points of an experiment.

    `factors` has one mapping per point. A factor beyond `FACTORS` becomes a further axis behind them, one of `USUAL`
    only where a point has it otherwise. Raises CollpressError for a cube that would explode (more than `max_cells`
    cells, launches counted) and for two points with equal factors.
    """
    labels = {
        name: sorted({_value(point, name) for point in factors}, key=lambda v: _order(name, v))
        for name in (*FACTORS, *_further(factors))
    }
    sizes = {name: len(values) for name, values in labels.items()}
    _guard(experiment, sizes, len(factors), launches, max_cells)
    position = {name: {label: i for i, label in enumerate(values)} for name, values in labels.items()}
    index = np.array([[position[name][_value(point, name)] for name in labels] for point in factors], dtype=np.int64)
    cell = np.ravel_multi_index(tuple(index.T), tuple(sizes.values())).astype(np.int64)
    unique, first, count = np.unique(cell, return_index=True, return_counts=True)
    if len(unique) < len(cell):
        twice = factors[int(first[int(np.argmax(count))])]
        said = ", ".join(f"{k}={v}" for k, v in twice.items())
        raise CollpressError(
            f"two points have the same factors: {said}",
            where=f"experiment {experiment}",
            fix="make the plan again: collpress plan",
        )
    return Axes(labels, cell)


def coordinates(axes: Axes) -> dict[str, xr.DataArray]:
    """Coordinate variables with attributes: integers without fill, texts, and the bound's mode and number."""
    out: dict[str, xr.DataArray] = {}
    for name, labels in axes.labels.items():
        whole = all(isinstance(v, int) for v in labels)
        data = np.array(labels, dtype=_INTEGERS.get(name, np.int64)) if whole else np.array([str(v) for v in labels])
        out[name] = xr.DataArray(data, dims=[name], attrs=dict(_ABOUT.get(name, {"long_name": name.replace("_", " ")})))
    bounds = [str(v) for v in axes.labels["error_bound"]]
    out["error_bound"].attrs["ancillary_variables"] = "error_bound_mode error_bound_value"
    out["error_bound_mode"] = xr.DataArray(
        np.array([b.split()[0] for b in bounds]), dims=["error_bound"], attrs={"long_name": "mode of the error bound"}
    )
    out["error_bound_value"] = xr.DataArray(
        np.array([_bound_value(b) for b in bounds]),
        dims=["error_bound"],
        attrs={
            "long_name": "number of the error bound",
            "comment": "NaN where the mode is none; in units of the data where it is abs; look up by error_bound",
        },
    )
    return out


def _guard(experiment: str, sizes: Mapping[str, int], points: int, launches: int, max_cells: int) -> None:
    cells = prod(sizes.values()) * max(launches, 1)
    fill = points / prod(sizes.values())
    if cells <= max_cells and (cells <= SMALL_CELLS or fill >= MIN_FILL):
        return
    axes = sorted(((n, s) for n, s in sizes.items() if s > 1), key=lambda pair: -pair[1])
    shape = " × ".join(f"{name} {size}" for name, size in axes)
    raise CollpressError(
        f"a cube of {cells:.3g} cells ({shape}, {launches} launches) for {points} points, {fill:.2%} of it filled",
        where=f"experiment {experiment}",
        allowed=f"at most {max_cells:.3g} cells, and at least {MIN_FILL:.1%} filled above {SMALL_CELLS:.0e} cells",
        fix="split the experiment by " + " or ".join(name for name, _ in axes[:3]),
    )


def _further(factors: Sequence[Mapping[str, Any]]) -> list[str]:
    otherwise = {name for point in factors for name in unusual(point)}
    unknown = {name for point in factors for name in point} - {*FACTORS, *USUAL}
    return [*(name for name in USUAL if name in otherwise), *sorted(unknown)]


def _value(point: Mapping[str, Any], name: str) -> int | str:
    return _plain(point.get(name, USUAL[name]) if name in USUAL else point[name])


def _plain(value: Any) -> int | str:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _order(name: str, value: int | str) -> tuple[Any, ...]:
    """Sort key of a label: `none` and the defaults first, then numbers by size, the rest by name."""
    if value == "default":
        return (-1,)
    if isinstance(value, int):
        return (0, value, "")
    if name == "error_bound":
        return (1, value != "none", value.split()[0], -_bound_value(value) if value != "none" else 0.0)
    if name == "algorithm":
        kind = value.partition(":")[0]
        kinds = ("library", "reference", "compressed")
        return (1, kinds.index(kind) if kind in kinds else len(kinds), value != "library:default", value)
    return (1, value not in ("none", "pattern", USUAL.get(name)), value)


def _bound_value(text: str) -> float:
    mode, _, number = text.partition(" ")
    if mode == "none":
        return float("nan")
    try:
        return float(number)
    except ValueError as error:
        raise CollpressError(f'"{text}" is no error bound', allowed="none, rel NUMBER, abs NUMBER") from error
