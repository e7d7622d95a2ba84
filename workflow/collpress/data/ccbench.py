"""The fills of CC-Bench's buffers as datasets whose slowest axis counts ranks.

CC-Bench (github.com/hpdps-group/CC-Bench, commit 4e20283e, `init_buffer_pattern` in benchmark-core/src/utils.c) fills a
rank's buffer from the rank and the element's index with whole numbers. There a buffer is as long as the message; here
it is a part, of which a shorter message takes the beginning.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from collpress.data.arithmetic.sampling import Values
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError

_LARGEST = 2**31
"""CC-Bench computes with C's int, which ends there."""


def filled(shape: tuple[int, ...], value: Callable[[int, Reals], Reals], name: str) -> Values:
    """float32 of `shape`: for each rank, an entry of the slowest axis, `value` of the rank and of 0 … count − 1.

    Errors: one axis only; numbers beyond C's int.
    """
    if len(shape) < 2:
        raise CollpressError(f"shape {shape} has no axis of ranks", where=f"generator {name}", allowed="ranks x values")
    count = math.prod(shape[1:])
    last = float(value(shape[0] - 1, np.array([count - 1.0]))[0])
    if last >= _LARGEST:
        what = f"the last rank would count to {last:.0f}"
        raise CollpressError(what, where=f"generator {name}", allowed=f"below {_LARGEST}, as an int in C")
    index = np.arange(count, dtype=np.float64)
    return np.stack([value(rank, index).astype(np.float32) for rank in range(shape[0])]).reshape(shape)
