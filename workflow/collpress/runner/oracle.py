"""The exact result of a reduction in float64, chunk by chunk, and how far a result may be off.

The bounds are the core's (`native/src/measure/check.hpp`). Sums: |result - exact| <= gamma · (sum of |x|) + u · |exact|
with gamma = (p-1)u / (1-(p-1)u) (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), which holds for every
order of the additions. float64 inputs are summed with compensation (Knuth's TwoSum). Products: the same with |product|
in place of the sum of |x|, and gamma once more for the oracle's own multiplications (the same source, 3.1). A maximum,
a minimum, and what was only moved, are exact. Where an order of additions exists that overflows, or one of
multiplications that leaves the normal numbers, nothing can be expected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collpress.runner.exchange import ResultPart
from collpress.runner.values import Values

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Expected:
    """Of the elements of one chunk.

    exact : the result; NaN where it is that, or where nothing can be expected. allowed : how far a result may be off.
    comparable : every rank's value is finite, and no order of operations leaves the range. must_be_nan : for certain.
    values : of every rank, (ranks, elements); only where some element is not comparable.
    """

    exact: Floats
    allowed: Floats
    comparable: Flags
    must_be_nan: Flags
    values: Floats


class Oracle:
    """For floating-point types: what is expected of elements of one part of a result."""

    def __init__(self, values: Values, op: str, part: ResultPart) -> None:
        self._values, self._part = values, part
        self.op = op if len(part.sources) > 1 else "max"  # what one rank sent is the maximum over that rank
        dtype, steps = values.dtype, len(part.sources) - 1
        rounds = self.op in {"sum", "prod"}
        self._gamma = _growth(steps, dtype.unit) if rounds else 0.0
        if self.op == "prod":
            self._gamma += _growth(steps, 2.0**-53)
        self._unit = dtype.unit if rounds else 0.0

    def compute(self, first: int, length: int) -> Expected:
        """Of elements of the part, counted from its beginning."""
        start = self._part.source + first
        sent = (self._values.numbers(rank, start, length) for rank in self._part.sources)
        x = np.array([numbers.astype(np.float64) for numbers in sent])
        with np.errstate(all="ignore"):
            exact, magnitude, limit = getattr(self, f"_{self.op}")(x)
            comparable = magnitude < limit
            allowed = self._gamma * magnitude + self._unit * np.abs(exact)
            if comparable.all():
                nowhere = np.zeros_like(comparable)
                return Expected(exact, allowed, comparable, nowhere, x[:, :0])
            return self._special(x, exact, allowed, comparable)

    def _sum(self, x: Floats) -> tuple[Floats, Floats, float]:
        total, correction = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for row in x:
            after = total + row
            if self._values.dtype.name == "float64":
                part = after - total
                correction += (total - (after - part)) + (row - part)
            total = after
        return total + correction, np.abs(x).sum(axis=0), self._values.dtype.largest

    def _prod(self, x: Floats) -> tuple[Floats, Floats, float]:
        size, dtype = np.abs(x), self._values.dtype
        up = np.where(size < 1, 1.0, size).prod(axis=0)  # NaN stays
        down = np.where((size < 1) & (size > 0), size, 1.0).prod(axis=0)
        exact = np.multiply.reduce(x, axis=0)
        within = (up < dtype.largest) & (down >= dtype.smallest_normal)
        return exact, np.where(within, np.abs(exact), np.inf), np.inf

    def _max(self, x: Floats) -> tuple[Floats, Floats, float]:
        return x.max(axis=0), np.abs(x).sum(axis=0), np.inf

    def _min(self, x: Floats) -> tuple[Floats, Floats, float]:
        return x.min(axis=0), np.abs(x).sum(axis=0), np.inf

    def _special(self, x: Floats, exact: Floats, allowed: Floats, comparable: Flags) -> Expected:
        """Some element has NaN or infinities, or may leave the dtype's range."""
        nan, positive, negative = (_anywhere(flags) for flags in (np.isnan(x), x == np.inf, x == -np.inf))
        if self.op == "sum":
            beyond = np.where(positive, np.inf, -np.inf)
            exact = np.where(comparable, exact, np.where(nan | (positive == negative), np.nan, beyond))
            nan |= positive & negative
        elif self.op == "prod":
            exact = np.where(comparable, exact, np.nan)
        return Expected(exact, np.where(comparable, allowed, 0.0), comparable, nan, x)


def _anywhere(flags: Flags) -> Flags:
    """On any rank: of (ranks, elements), for each element."""
    anywhere: Flags = np.logical_or.reduce(flags, axis=0)
    return anywhere


def _growth(steps: int, unit: float) -> float:
    return steps * unit / (1 - steps * unit)
