"""A metric plugin as a Python object: what it makes of two NumPy arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError
from collpress.fidelity import grain
from collpress.metrics import library

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Measured:
    """What a metric says: value -> number, NaN where undefined; `problem` says why one is, where the metric does."""

    values: Mapping[str, float]
    problem: str | None


class Metric:
    """The metric in the plugin at `path`.

    Attributes
    ----------
    name : the plugin's file stem.
    summary : one line for people.
    values : names of its values.
    units : their units, in the same order; `data` is the unit of the data.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.stem
        self._library, self._interface, self.summary = library.load(self.path)
        stated = self._interface.values[: self._interface.value_count]
        self.values = tuple(value.name.decode("utf-8") for value in stated)
        self.units = tuple(value.unit.decode("utf-8") for value in stated)

    def measure(self, expected: Array, got: Array, abs_bound: float = math.nan, *, chunk: int = 4096) -> Measured:
        """Measure how far `got` is from `expected`, both of one shape; pairs that are not finite are left out, and the
        metric is then not told the shape.

        Parameters
        ----------
        abs_bound : what |got - expected| may be, in the unit of the data; NaN where that is unknown.
        chunk : pairs that the metric sees at a time; the core's number, unless told otherwise.

        Raises
        ------
        CollpressError : arrays of different shapes, or a metric that cannot be set up for these values. An exception
            that a plugin throws ends the process: only the native core can catch it.
        """
        if np.shape(expected) != np.shape(got):
            raise CollpressError(f"arrays of different shapes: {np.shape(expected)} and {np.shape(got)}")
        reference, other = (np.asarray(values, dtype=np.float64).ravel() for values in (expected, got))
        finite = np.isfinite(reference)
        known = reference[finite] if finite.any() else np.array([math.nan])
        keep = finite & np.isfinite(other)
        reference, other = np.ascontiguousarray(reference[keep]), np.ascontiguousarray(other[keep])
        row, plane = grain(np.shape(expected)) if keep.all() else (0, 0)
        config = library.ConfigStruct(reference.size, float(known.min()), float(known.max()), abs_bound, row, plane)
        context = self._interface.create(ctypes.byref(config))
        if context is None:
            raise CollpressError(f'metric "{self.name}": it cannot be set up for these values', where=str(self.path))
        try:
            for first in range(0, reference.size, chunk):
                mine, theirs = reference[first : first + chunk], other[first : first + chunk]
                self._interface.add(context, mine.ctypes.data, theirs.ctypes.data, mine.size)
            out = (ctypes.c_double * len(self.values))()
            why = self._interface.finish(context, out)
            problem = None if why is None or all(map(math.isfinite, out)) else why.decode("utf-8", "replace")
            return Measured(dict(zip(self.values, out, strict=True)), problem)
        finally:
            self._interface.destroy(context)
