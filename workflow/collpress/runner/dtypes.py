"""The element types: how NumPy stores them, and what a calculation in them can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Dtype:
    """An element type of the plan.

    stored : NumPy's dtype of a buffer; bfloat16 numbers are stored as their 16 bits, for NumPy has no such numbers.
    unit : largest relative error of a rounding; 0 for integers. Sums of halves are made in float32 and rounded once
        more: a little more than half a unit in the last place.
    largest, smallest_normal : of the finite numbers; 0 for integers.
    """

    name: str
    stored: np.dtype[Any]
    unit: float = 0.0
    largest: float = 0.0
    smallest_normal: float = 0.0

    @property
    def bytes(self) -> int:
        return self.stored.itemsize

    @property
    def is_integer(self) -> bool:
        return self.unit == 0

    @property
    def is_half(self) -> bool:
        """MPI has no such type: it travels as 16 bits, and needs an operation of our own."""
        return self.name in {"float16", "bfloat16"}

    def numbers(self, values: Array) -> Array:
        """Stored values as an array that can be calculated with, exactly; no copy where they are already that."""
        return widened(values) if self.name == "bfloat16" else values

    def of(self, numbers: Array) -> Array:
        """The nearest stored values. Integers must fit; a half is rounded from float32, as the core does."""
        if self.name == "bfloat16":
            return narrowed(numbers.astype(np.float32, copy=False))
        if self.is_half:
            numbers = numbers.astype(np.float32, copy=False)
        return numbers.astype(self.stored, copy=False)


def _float(name: str, unit: float) -> Dtype:
    facts = np.finfo(name)
    return Dtype(name, np.dtype(name), unit, float(facts.max), float(facts.smallest_normal))


DTYPES = {
    dtype.name: dtype
    for dtype in (
        _float("float32", 2.0**-24),
        _float("float64", 2.0**-53),
        *(Dtype(name, np.dtype(name)) for name in ("int32", "int8", "int16", "int64")),
        _float("float16", 2.0**-11 * (1 + 2.0**-11)),
        Dtype("bfloat16", np.dtype("uint16"), 2.0**-8 * (1 + 2.0**-14), (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    )
}
"""In the order in which the core lists them."""


def widened(bits: Array) -> npt.NDArray[np.float32]:
    """The float32 numbers, exactly, that 16-bit patterns of bfloat16 stand for; any shape."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrowed(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The bits of the nearest bfloat16 numbers, to even where two are as near; NaN stays NaN. Any shape."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(numbers), quiet, rounded).astype(np.uint16)
