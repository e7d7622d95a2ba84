"""CC-Bench's fill `rank_linear`: element i of rank r is r + i. The seed changes nothing."""

from __future__ import annotations

from collpress.data.arithmetic.sampling import Values
from collpress.data.ccbench import filled


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape`, ranks along the slowest axis. Errors: those of `filled`."""
    return filled(shape, lambda rank, index: rank + index, "ccbench-rank-linear")
