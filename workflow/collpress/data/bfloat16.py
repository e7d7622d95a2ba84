"""Prepared values: float32 numbers, or the bits of bfloat16 numbers, which are the upper halves of float32 numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
"""float32, or uint16 for bfloat16."""


def widened(bits: Values) -> npt.NDArray[np.float32]:
    """The float32 numbers, exactly, that unsigned 16-bit patterns of bfloat16 stand for; any shape and byte order."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def numbers(values: Values) -> npt.NDArray[np.float32]:
    """Prepared values as float32 numbers."""
    return widened(values) if values.dtype.kind == "u" else values


def narrowed(values: npt.NDArray[np.float32]) -> Values:
    """The nearest bfloat16 numbers, to even where two are as near, as unsigned 16-bit patterns; NaN stays NaN."""
    bits = values.view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)
