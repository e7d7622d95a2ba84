"""bfloat16 without a library for it: the upper half of a float32, kept as 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def widened(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 numbers, exactly, that unsigned 16-bit patterns of bfloat16 stand for; any shape and byte order."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
