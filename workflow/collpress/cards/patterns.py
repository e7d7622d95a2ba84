"""Bits: entropies of bytes, exponents and bfloat16 values, bits that are never used, and what they tell of the origin.

One pass over the data fills the counts; every number here is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.cards.field import Field, Patterns, blocks, in_line

Counts = npt.NDArray[np.int64]
_HALVES = 1 << 16
_FRACTION = 23
"""Bits of a float32 mantissa without the leading one."""
_FLOAT16_MAX = 65504.0
"""Largest finite value of float16; the smallest normal one is 2^-14, the smallest subnormal one 2^-24."""


def _zeros() -> Counts:
    return np.zeros(_HALVES, dtype=np.int64)


@dataclass(eq=False)
class Tally:
    """Counts over all patterns; `trailing`, `lowest` and the float16 counts over usable values that are not 0."""

    itemsize: int
    upper: Counts = field(default_factory=_zeros)
    """By the upper 16 bits: sign, exponent, 7 bits of the mantissa."""
    lower: Counts = field(default_factory=_zeros)
    rounded: Counts = field(default_factory=_zeros)
    """By the bfloat16 value that is nearest (ties to even)."""
    usable_upper: Counts = field(default_factory=_zeros)
    """As `upper`, of usable values only."""
    trailing: Counts = field(default_factory=lambda: np.zeros(_FRACTION + 1, dtype=np.int64))
    """By the number of zero bits at the end of the mantissa; 23 for a power of two."""
    lowest: int = 999
    """Exponent of the smallest power of two of which all values are multiples; 999 as long as there is none."""
    missing: int = 0
    nan: int = 0
    infinite: int = 0
    zeros: int = 0
    negative_zeros: int = 0
    subnormal: int = 0
    negative: int = 0

    @property
    def total(self) -> int:
        return int(self.upper.sum())

    @property
    def usable(self) -> int:
        return int(self.usable_upper.sum())


def tally(values: Field) -> Tally:
    """Count everything in one pass."""
    line = in_line(values)
    found = Tally(values.bits.dtype.itemsize)
    for block in blocks(line.shape):
        _count(found, line, line.patterns(block))
    found.negative = int(found.usable_upper[_HALVES // 2 :].sum()) - found.negative_zeros
    return found


def _count(found: Tally, line: Field, patterns: Patterns) -> None:
    upper = patterns >> np.uint32(16)
    found.upper += _by_half(upper)
    found.lower += _by_half(patterns & np.uint32(0xFFFF))
    found.rounded += _by_half(_nearest(patterns, upper))
    kept = line.usable(patterns)
    if not kept.all():
        odd = patterns[~kept].view(np.float32)
        nan, infinite = int(np.isnan(odd).sum()), int(np.isinf(odd).sum())
        missing = 0 if line.missing is None else int((odd == np.float32(line.missing)).sum())
        infinite -= missing if line.missing is not None and np.isinf(line.missing) else 0
        found.nan, found.infinite, found.missing = found.nan + nan, found.infinite + infinite, found.missing + missing
        patterns = patterns[kept]
    found.usable_upper += _by_half(patterns >> np.uint32(16))
    magnitude = patterns & np.uint32(0x7FFF_FFFF)
    nothing = magnitude == 0
    found.zeros += int(nothing.sum())
    found.negative_zeros += int((nothing & (patterns != 0)).sum())
    found.subnormal += int((magnitude < np.uint32(0x0080_0000)).sum()) - int(nothing.sum())
    _count_trailing(found, magnitude[~nothing])


def _count_trailing(found: Tally, magnitude: Patterns) -> None:
    """The lowest bit that is set, seen from the end of the mantissa and as a power of two."""
    if not magnitude.size:
        return
    exponent = (magnitude >> np.uint32(_FRACTION)).astype(np.int32)
    fraction = (magnitude & np.uint32(0x7F_FFFF)).astype(np.int32)
    fraction |= np.where(exponent > 0, np.int32(1 << _FRACTION), np.int32(0))
    last = (fraction & -fraction).astype(np.float32).view(np.uint32) >> np.uint32(_FRACTION)
    trailing = last.astype(np.int32) - 127
    found.trailing += np.bincount(trailing, minlength=_FRACTION + 1)
    found.lowest = min(found.lowest, int((np.maximum(exponent, 1) - (127 + _FRACTION) + trailing).min()))


def _by_half(halves: Patterns) -> Counts:
    return np.bincount(halves.reshape(-1), minlength=_HALVES)


def _nearest(patterns: Patterns, upper: Patterns) -> Patterns:
    """bfloat16 patterns; a NaN stays one."""
    rounded = (patterns + (np.uint32(0x7FFF) + (upper & np.uint32(1)))) >> np.uint32(16)
    nan = (patterns & np.uint32(0x7FFF_FFFF)) > np.uint32(0x7F80_0000)
    return np.where(nan, upper | np.uint32(0x40), rounded)


def entropy(counts: npt.NDArray[Any]) -> float:
    """Shannon's entropy of a distribution in bits: −Σ p log₂ p; 0 for nothing."""
    kept = counts[counts > 0].astype(np.float64)
    if kept.size < 2:
        return 0.0
    share = kept / kept.sum()
    return float(-(share * np.log2(share)).sum())


def byte_planes(found: Tally) -> list[Counts]:
    """Counts of each byte of a value, the least significant first; two planes for bfloat16."""
    planes = []
    for half in (found.lower, found.upper)[4 - found.itemsize >> 1 :]:
        square = half.reshape(256, 256)
        planes += [square.sum(axis=0), square.sum(axis=1)]
    return planes


def exponents(upper: Counts) -> Counts:
    """Counts of the 256 biased exponents, both signs together."""
    counts: Counts = upper.reshape(2, 256, 128).sum(axis=(0, 2))
    return counts


def bits_part(found: Tally) -> dict[str, Any]:
    """The card's `bits`; `exponents`, `trailing_zero_bits` and `float16` are of usable values that are not 0."""
    planes = byte_planes(found)
    by_exponent = exponents(found.usable_upper)
    by_exponent[0] -= found.zeros
    seen = [int(e) for e in np.flatnonzero(by_exponent)]
    nonzero = found.usable - found.zeros
    return {
        "byte_entropy": entropy(np.sum(planes, axis=0)),
        "byte_plane_entropy": [entropy(plane) for plane in planes],
        "exponent_entropy": entropy(exponents(found.rounded)),
        "bfloat16_entropy": entropy(found.rounded),
        "exponents": {
            "first": seen[0] - 127 if seen else None,
            "counts": by_exponent[seen[0] : seen[-1] + 1].tolist() if seen else [],
        },
        "trailing_zero_bits": [int(n) for n in found.trailing],
        "float16": {"subnormal": int(by_exponent[:113].sum()), "overflow": int(by_exponent[143:].sum())},
        "nonzero": nonzero,
    }


def looks(found: Tally, distinct: int, minimum: float | None, maximum: float | None) -> dict[str, Any]:
    """The card's `looks`: whether the values were once something with fewer bits than they have now.

    `widened_from`: bfloat16 (16 zero bits end every mantissa), float16 (13, and nothing beyond its range or finer than
    its smallest subnormal), tf32 (13); the type itself is not said to be widened. `step`: the largest power of two of
    which all values are multiples, where the range has at most 2^16 such steps. `few_values`: fewer than one in a
    hundred values is a new one, of at least 10 000.
    """
    nonzero = found.usable - found.zeros
    widened = None
    if nonzero and found.itemsize == 4 and not found.trailing[:13].any():
        assert minimum is not None
        assert maximum is not None
        fits = max(-minimum, maximum) <= _FLOAT16_MAX and found.lowest >= -24
        widened = "bfloat16" if not found.trailing[:16].any() else "float16" if fits else "tf32"
    step = steps = None
    if nonzero and minimum is not None and maximum is not None and distinct > 1:
        levels = (maximum - minimum) / 2.0**found.lowest
        if levels <= _HALVES:
            step, steps = 2.0**found.lowest, int(levels)
    few = found.usable >= 10_000 and distinct * 100 < found.usable
    return {"widened_from": widened, "step": step, "steps_in_range": steps, "few_values": few}
