"""SplitMix64 (Steele, Lea, Flood 2014): small, and the same in the core."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
STREAM = 0xD1342543DE82EF95
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

Words = npt.NDArray[np.uint64]


def mixed(word: int) -> int:
    """The finaliser: every bit of the result depends on all bits of `word` (below 2^64)."""
    word = (word ^ (word >> 30)) * _FIRST & MASK
    word = (word ^ (word >> 27)) * _SECOND & MASK
    return word ^ (word >> 31)


def mixed_all(words: Words) -> Words:
    """`mixed` of each element, a new array."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return words ^ (words >> np.uint64(31))


class Generator:
    """A stream of numbers."""

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def next(self) -> int:
        """Evenly from [0, 2^64)."""
        self._state = (self._state + GOLDEN) & MASK
        return mixed(self._state)

    def below(self, limit: int) -> int:
        """Evenly from [0, limit): values of the incomplete last interval are drawn again."""
        rejected = (1 << 64) % limit
        while (value := self.next()) < rejected:
            pass
        return value % limit


def shuffled(n: int, seed: int, launch: int) -> list[int]:
    """The order in which a launch measures the `n` points of its plan: the core's."""
    generator = Generator(Generator(seed).next() ^ Generator(launch + 0x632BE59BD9B4E019).next())
    order = list(range(n))
    for i in range(n, 1, -1):
        j = generator.below(i)
        order[i - 1], order[j] = order[j], order[i - 1]
    return order
