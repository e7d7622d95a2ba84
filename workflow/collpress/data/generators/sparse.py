"""Zeros, with a fraction `density` of normal values of standard deviation `scale` at random places."""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.quantiles import normal
from collpress.data.arithmetic.sampling import Values, independent
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError


def field(seed: int, shape: tuple[int, ...], *, density: float = 0.05, scale: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only. Errors: a density outside [0, 1]."""
    if not 0.0 <= density <= 1.0:
        raise CollpressError(f"density {density} is no fraction", where="generator sparse", allowed="0 to 1")

    def occupied(u: Reals) -> Reals:
        return (u < density).astype(np.float64)

    values = independent(normal, seed, shape, scale)
    values[independent(occupied, seed, shape, 1.0, stream=1) == 0.0] = 0.0
    return values
