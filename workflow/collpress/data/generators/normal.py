"""Independent normal values: mean 0, standard deviation `scale`."""

from __future__ import annotations

from collpress.data.arithmetic.quantiles import normal
from collpress.data.arithmetic.sampling import Values, independent


def field(seed: int, shape: tuple[int, ...], *, scale: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only."""
    return independent(normal, seed, shape, scale)
