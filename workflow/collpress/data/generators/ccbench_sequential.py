"""CC-Bench's fill `sequential`: element i of rank r is r times a buffer's length, + i. The seed changes nothing."""

from __future__ import annotations

import math

from collpress.data.arithmetic.sampling import Values
from collpress.data.ccbench import filled


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape`, ranks along the slowest axis. Errors: those of `filled`."""
    count = float(math.prod(shape[1:]))
    return filled(shape, lambda rank, index: rank * count + index, "ccbench-sequential")
