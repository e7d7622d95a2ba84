"""One value everywhere: the best case of every codec, and CC-Bench's fill `plain` with 1. The seed changes nothing."""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.sampling import Values


def field(seed: int, shape: tuple[int, ...], *, value: float = 1.0) -> Values:
    """float32 of `shape`."""
    return np.full(shape, value, dtype=np.float32)
