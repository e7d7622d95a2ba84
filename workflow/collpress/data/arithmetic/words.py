"""Uniform random numbers from Philox's raw 64-bit words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


class Uniforms:
    """Numbers in (0, 1), in order; element i depends on the seed, the stream and i only.

    Parameters
    ----------
    seed : 0 … 2**64 − 1.
    stream : an independent sequence of the same seed; both are Philox's key.
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._words = np.random.Philox(key=np.array([seed, stream], dtype=np.uint64))

    def take(self, count: int) -> Reals:
        """The next `count` numbers: odd multiples of 2**-53, so that both u and 1 − u are exact and neither is 0."""
        words = np.asarray(self._words.random_raw(count), dtype=np.uint64) >> np.uint64(12)
        numbers = words.astype(np.float64)
        numbers += 0.5
        numbers *= 2.0**-52
        return numbers
