"""Arrays of independent values of one distribution, made in pieces that stay in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from collpress.data.arithmetic.words import Reals, Uniforms

Values = npt.NDArray[np.float32]

_PIECE = 1 << 15


def independent(
    quantile: Callable[[Reals], Reals], seed: int, shape: tuple[int, ...], scale: float, *, stream: int = 0
) -> Values:
    """float32 of `shape`: `scale` times `quantile` of uniform numbers, in C order."""
    flat = np.empty(math.prod(shape), dtype=np.float32)
    uniforms = Uniforms(seed, stream)
    for start in range(0, flat.size, _PIECE):
        piece = flat[start : start + _PIECE]
        piece[:] = quantile(uniforms.take(piece.size)) * scale
    return flat.reshape(shape)
