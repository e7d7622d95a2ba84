"""Values in their order: quantiles, distinct values and the most frequent one, exact, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collpress.cards.field import Field, Patterns, blocks, in_line
from collpress.cards.patterns import Counts, Tally

PROBABILITIES = (0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999)
_AT_ONCE = 1 << 23
"""Values that are sorted at once."""
_SIGN = np.uint32(0x8000_0000)


@dataclass(frozen=True)
class Order:
    """`quantiles` in the order of PROBABILITIES: the value at place floor(p (n − 1)) of the sorted ones, never between
    two. `distinct` counts bit patterns, so that 0 and −0 are two.
    """

    quantiles: tuple[float, ...]
    distinct: int
    most_common: float | None
    most_common_count: int


def order(values: Field, found: Tally, at_once: int = _AT_ONCE) -> Order:
    """Sorts the usable values range by range; more than one pass only where there are more than `at_once`."""
    n = found.usable
    wanted = [int(p * (n - 1)) for p in PROBABILITIES] if n else []
    quantiles: list[float] = []
    distinct, before, most = 0, 0, (0, np.uint32(0))
    for keys, counts in _runs(values, _in_order(found.usable_upper), at_once):
        distinct += keys.size
        ends = before + np.cumsum(counts)
        while len(quantiles) < len(wanted) and wanted[len(quantiles)] < ends[-1]:
            quantiles.append(_value(keys[np.searchsorted(ends, wanted[len(quantiles)], side="right")]))
        place = int(np.argmax(counts))
        most = max(most, (int(counts[place]), keys[place]), key=lambda pair: pair[0])
        before = int(ends[-1])
    return Order(tuple(quantiles), distinct, _value(most[1]) if n else None, most[0])


def _runs(values: Field, upper: Counts, at_once: int) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]:
    """Distinct keys, ascending, and how often each occurs, range after range."""
    ends = np.cumsum(upper)
    first = 0
    while first < upper.size:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + at_once, side="right")))
        if ends[last - 1] > before:
            yield _counted(values, first, last, int(ends[last - 1]) - before, at_once)
        first = last


def _counted(
    values: Field, first: int, last: int, n: int, at_once: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    line = in_line(values)
    if n > at_once:  # one upper half alone: counting its lower halves needs no room for the values
        counts = np.zeros(1 << 16, dtype=np.int64)
        for block in blocks(line.shape):
            keys = _keys(line, block, first, last)
            counts += np.bincount(keys & np.uint32(0xFFFF), minlength=1 << 16)
        seen = np.flatnonzero(counts)
        return (np.uint32(first) << np.uint32(16)) | seen.astype(np.uint32), counts[seen]
    gathered, at = np.empty(n, dtype=np.uint32), 0
    for block in blocks(line.shape):
        keys = _keys(line, block, first, last)
        gathered[at : at + keys.size] = keys
        at += keys.size
    gathered.sort()
    new = np.flatnonzero(np.concatenate([[True], gathered[1:] != gathered[:-1]]))
    return gathered[new], np.diff(np.append(new, n))


def _keys(line: Field, block: tuple[slice, ...], first: int, last: int) -> Patterns:
    patterns = line.patterns(block)
    patterns = patterns[line.usable(patterns)]
    keys = np.where(patterns & _SIGN, ~patterns, patterns | _SIGN)
    if first == 0 and last == 1 << 16:
        return keys
    upper = keys >> np.uint32(16)
    return keys[(upper >= first) & (upper < last)]


def _in_order(upper: Counts) -> Counts:
    """Counts by the upper half of the key: negative values first, the largest magnitude before all."""
    half = upper.size // 2
    return np.concatenate([upper[: half - 1 : -1], upper[:half]])


def _value(key: np.uint32) -> float:
    pattern = key ^ _SIGN if key & _SIGN else ~key
    return float(np.array([pattern], dtype=np.uint32).view(np.float32)[0])
