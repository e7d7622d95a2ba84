"""Independent Laplace values: mean 0, density e^(−|x|/scale) / (2 scale)."""

from __future__ import annotations

from collpress.data.arithmetic.quantiles import laplace
from collpress.data.arithmetic.sampling import Values, independent


def field(seed: int, shape: tuple[int, ...], *, scale: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only."""
    return independent(laplace, seed, shape, scale)
