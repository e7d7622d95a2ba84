"""Wind towards y of a hurricane-like vortex, made and not simulated; see `collpress.data.hurricane`."""

from __future__ import annotations

from collpress.data.arithmetic.sampling import Values
from collpress.data.hurricane import wind


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape` (levels, rows, points a row), in m/s. Errors: not three axes."""
    return wind("v", seed, shape)
