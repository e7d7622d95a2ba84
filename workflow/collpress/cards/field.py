"""The values of a prepared dataset as the card's modules read them: mapped into memory, a block at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Patterns = npt.NDArray[np.uint32]
"""Bit patterns of float32 values."""
Reals = npt.NDArray[np.float64]
Block = tuple[slice, ...]
LIMIT = 1 << 20
"""Values of a block; a few arrays of this many float64 values are all that a card's modules hold."""
_SPECIAL = np.uint32(0x7F80_0000)


@dataclass(frozen=True, eq=False)
class Field:
    """Values in C order, slowest axis first.

    `bits` holds the patterns as they are stored: uint32 for float32, uint16 for bfloat16. `missing` stands for "no
    data". With `parts` the slowest axis counts parts, and nothing is compared across it but the parts as wholes.
    """

    bits: npt.NDArray[Any]
    missing: float | None = None
    parts: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.bits.shape

    @property
    def inside(self) -> tuple[int, ...]:
        """The axes along which neighbours are neighbours: all but the one that counts parts."""
        return tuple(range(1 if self.parts else 0, len(self.shape)))

    def patterns(self, block: Block) -> Patterns:
        """Of a block, as float32; bfloat16 is widened exactly."""
        bits = self.bits[block]
        if bits.dtype == np.uint16:
            return bits.astype(np.uint32) << np.uint32(16)
        return np.ascontiguousarray(bits)

    def usable(self, patterns: Patterns) -> npt.NDArray[np.bool_]:
        """Which of them are finite and not missing."""
        kept: npt.NDArray[np.bool_] = (patterns & _SPECIAL) != _SPECIAL
        if self.missing is not None:
            kept &= patterns.view(np.float32) != np.float32(self.missing)
        return kept

    def reals(self, block: Block) -> Reals:
        """A block in float64; NaN where a value is not usable."""
        patterns = self.patterns(block)
        values = patterns.view(np.float32).astype(np.float64)
        values[~self.usable(patterns)] = np.nan
        return values


def blocks(shape: tuple[int, ...], keep: int = -1, limit: int = LIMIT) -> Iterator[Block]:
    """Blocks of at most `limit` values that cover an array once, in C order of their corners.

    The axis `keep` is cut last, then the faster axes.
    """
    keep %= len(shape)
    lengths, room = list(shape), limit
    for axis in sorted(range(len(shape)), key=lambda a: (a != keep, -a)):
        lengths[axis] = min(shape[axis], max(1, room))
        room //= lengths[axis]
    starts = (range(0, n, length) for n, length in zip(shape, lengths, strict=True))
    for corner in product(*starts):
        yield tuple(slice(c, min(c + b, n)) for c, b, n in zip(corner, lengths, shape, strict=True))


def flat(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the same values in one line."""
    return (math.prod(shape),)


def in_line(field: Field) -> Field:
    """The same values along one axis, in memory order."""
    return Field(field.bits.reshape(-1), field.missing)
