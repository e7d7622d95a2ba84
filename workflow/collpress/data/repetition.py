"""Where values begin to repeat themselves as a whole: exact, in a time that grows with their number.

The values are p-periodic if x[i + p] = x[i] for all i; p is at most half of their number, so that there are two copies
(the last one may be cut). A period shows in the hash H(k) = Σ_{i<k} x[i] Bⁱ mod P, as H(n) − H(p) = Bᵖ H(n − p)
(Karp and Rabin 1987, IBM J. Res. Dev. 31(2)); what it shows is then compared value by value, the shortest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from collpress.data.bfloat16 import Values

Words = npt.NDArray[np.uint64]
Window = Callable[[int, int], Values]
"""The bit patterns from one place to another, as unsigned integers."""

_FEW = 4
"""Places that are compared without asking the hash first."""
_PIECE = 1 << 16
_P, _B = 2**31 - 1, 1_103_515_245
"""A Mersenne prime, and a base of the hash."""


def shortest_run(window: Window, n: int) -> int:
    """How many of n > 0 values there are before they begin to repeat themselves as a whole: the length of the shortest
    run of which they are two or more copies, or n when there is none.

    Bit patterns are compared. It finds tiling; it says nothing about values that occur often. The values are read by
    windows, of which no more than a few are held at a time.
    """
    shifts = _where_the_rarer_extreme_returns(window, n)
    if shifts is None:
        shifts = _where_the_hash_agrees(window, n)
    return next((shift for shift in shifts if _repeats(window, n, shift)), n)


def _where_the_rarer_extreme_returns(window: Window, n: int) -> Iterator[int] | None:
    """Every copy of a run has its first extreme value at the same place; None where both extremes are many."""
    pieces = [(piece.min(), piece.max()) for piece in _pieces(window, 0, n)]
    extremes = min(low for low, _ in pieces), max(high for _, high in pieces)
    found: list[list[int]] = [[], []]
    for number, piece in enumerate(_pieces(window, 0, n)):
        for places, extreme in zip(found, extremes, strict=True):
            if len(places) <= _FEW + 1:
                places += (np.flatnonzero(piece == extreme)[: _FEW + 2] + number * _PIECE).tolist()
    first, *others = min(found, key=len)
    return (place - first for place in others if place - first <= n // 2) if len(others) <= _FEW else None


def _where_the_hash_agrees(window: Window, n: int) -> Iterator[int]:
    """Every period, and hardly anything else."""
    powers = _powers()
    starts = _hashes_at_pieces(window, n, powers)
    whole = starts[-1]
    for start in range(0, n // 2 + 1, _PIECE):
        shifts = np.arange(max(start, 1), min(start + _PIECE, n // 2 + 1))
        before = _hash_up_to(window, shifts, starts, powers)
        rest = _hash_up_to(window, (n - shifts)[::-1], starts, powers)[::-1]
        shifted = rest * (powers[shifts - start] * np.uint64(pow(_B, start, _P)) % np.uint64(_P)) % np.uint64(_P)
        yield from shifts[(whole + np.uint64(_P) - before) % np.uint64(_P) == shifted].tolist()


def _hashes_at_pieces(window: Window, n: int, powers: Words) -> Words:
    """H at the beginning of every piece, and at the end."""
    total, found = 0, [0]
    for number, piece in enumerate(_pieces(window, 0, n)):
        total += int(_terms(piece, powers).sum()) % _P * pow(_B, number * _PIECE, _P)
        total %= _P
        found.append(total)
    return np.array(found, dtype=np.uint64)


def _hash_up_to(window: Window, ends: npt.NDArray[np.int64], starts: Words, powers: Words) -> Words:
    """H at ascending, neighbouring places; they may reach from one piece into the next."""
    parts = []
    for number in range(int(ends[0]) // _PIECE, int(ends[-1]) // _PIECE + 1):
        start = number * _PIECE
        mine = ends[(ends >= start) & (ends < start + _PIECE)] - start
        if not mine.size:
            continue
        sums = np.zeros(int(mine[-1]) + 1, dtype=np.uint64)
        terms = _terms(window(start, start + int(mine[-1])), powers)
        np.cumsum(terms, out=sums[1:])
        inside = sums[mine] % np.uint64(_P) * np.uint64(pow(_B, start, _P)) % np.uint64(_P)
        parts.append((starts[number] + inside) % np.uint64(_P))
    return np.concatenate(parts)


def _terms(piece: Values, powers: Words) -> Words:
    """x[i] Bⁱ, i from 0 in the piece; below 2³², so that the sum of a piece is no more than 2⁴⁸."""
    terms = _folded(piece.astype(np.uint64)) * powers[: piece.size]
    return _folded(terms)


def _folded(words: Words) -> Words:
    """Numbers below 2⁶³ as smaller ones that are the same modulo P, a Mersenne prime: below 2³³ at most."""
    folded: Words = (words & np.uint64(_P)) + (words >> np.uint64(31))
    return folded


def _powers() -> Words:
    """B to the power of 0 … _PIECE − 1, modulo P."""
    powers = np.ones(1, dtype=np.uint64)
    while powers.size < _PIECE:
        powers = np.concatenate((powers, powers * np.uint64(pow(_B, powers.size, _P)) % np.uint64(_P)))
    return powers


def _repeats(window: Window, n: int, shift: int) -> bool:
    starts = range(0, n - shift, _PIECE)
    ends = (min(start + _PIECE, n - shift) for start in starts)
    return all(
        np.array_equal(window(start, end), window(start + shift, end + shift))
        for start, end in zip(starts, ends, strict=True)
    )


def _pieces(window: Window, start: int, stop: int) -> Iterator[Values]:
    return (window(at, min(at + _PIECE, stop)) for at in range(start, stop, _PIECE))
