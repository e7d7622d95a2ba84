"""bfloat16 without a library for it: the upper half of a float32, kept as 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def widened(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 numbers, exactly, that unsigned 16-bit patterns of bfloat16 stand for; any shape and byte order."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrowed(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The nearest bfloat16 numbers, to even where two are as near, as unsigned 16-bit patterns; NaN stays NaN."""
    bits = values.view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)
