"""Pressure perturbation of a hurricane-like vortex, made and not simulated; see `collpress.data.hurricane`."""

from __future__ import annotations

from collpress.data.arithmetic.sampling import Values
from collpress.data.hurricane import pressure


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape` (levels, rows, points a row), in Pa. Errors: not three axes."""
    return pressure(seed, shape)
