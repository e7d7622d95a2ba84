"""The result of one rank against the oracle, over the whole buffer; and what all ranks' results come to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from collpress.collectives import ALIKE
from collpress.runner.dtypes import Array
from collpress.runner.exchange import ResultPart
from collpress.runner.oracle import Flags, Floats, Oracle
from collpress.runner.reductions import combined
from collpress.runner.values import Values

_CHUNK = 1 << 16
_INFINITY = float("inf")


@dataclass(frozen=True)
class Worst:
    """The element farthest beyond its bound, or, when all are within, with the largest error. `index`: in `recv`."""

    score: float
    allowed: float
    expected: float
    got: float
    index: int
    rank: int


@dataclass
class CheckResult:
    """Sums and extremes are over the compared elements: those with a finite error.

    identical : whether all ranks that should get the same had the same bits, whenever these were compared.
    """

    max_abs_error: float = 0.0
    rounding_bound: float = 0.0
    error_sum: float = 0.0
    error_squares: float = 0.0
    compared: int = 0
    wrong: int = 0
    exact_minimum: float = _INFINITY
    exact_maximum: float = -_INFINITY
    worst: Worst | None = None
    identical: bool | None = None

    @property
    def value_range(self) -> float:
        return self.exact_maximum - self.exact_minimum if self.compared else 0.0

    def worse_than(self, other: CheckResult) -> bool:
        if bool(self.wrong) != bool(other.wrong):
            return bool(self.wrong)
        return self.worst is not None and (other.worst is None or self.worst.score > other.worst.score)

    def merge(self, other: CheckResult) -> None:
        """Add another part's, or another rank's."""
        if other.worse_than(self):
            self.worst = other.worst
        self.max_abs_error = max(self.max_abs_error, other.max_abs_error)
        self.rounding_bound = max(self.rounding_bound, other.rounding_bound)
        self.exact_minimum = min(self.exact_minimum, other.exact_minimum)
        self.exact_maximum = max(self.exact_maximum, other.exact_maximum)
        self.error_sum += other.error_sum
        self.error_squares += other.error_squares
        self.compared += other.compared
        self.wrong += other.wrong


def bits_of(values: Values, rank: int, recv: Array) -> bytes | None:
    """A digest of all that `rank` got; None where no other rank should get the same."""
    exchange = values.exchange
    if exchange.collective not in ALIKE or (exchange.collective == "bcast" and rank == exchange.root):
        return None
    digest = hashlib.blake2b(digest_size=16)
    for part in exchange.result(rank):
        digest.update(np.ascontiguousarray(recv[part.first : part.first + part.length]).view(np.uint8).data)
    return digest.digest()


def are_identical(bits: Iterable[bytes | None]) -> bool | None:
    """Whether those that should be the same are; None where fewer than two should.

    >>> are_identical([None, b"a", b"a"]), are_identical([b"a", b"b"]), are_identical([None, b"a"])
    (True, False, None)
    """
    found = [one for one in bits if one is not None]
    return len(set(found)) == 1 if len(found) > 1 else None


def check_result(values: Values, op: str, rank: int, recv: Array) -> CheckResult:
    """Of all that `rank` got."""
    result = CheckResult()
    check = _integers if values.dtype.is_integer else _floats
    for part in values.exchange.result(rank):
        for first in range(0, part.length, _CHUNK):
            length = min(_CHUNK, part.length - first)
            got = recv[part.first + first : part.first + first + length]
            result.merge(check(values, op, rank, part, first, got))
    return result


def _floats(values: Values, op: str, rank: int, part: ResultPart, first: int, stored: Array) -> CheckResult:
    got = values.dtype.numbers(stored).astype(np.float64)
    oracle = Oracle(values, op, part)
    expected = oracle.compute(first, got.size)
    exact, allowed, usual = expected.exact, expected.allowed, expected.comparable
    with np.errstate(invalid="ignore"):
        error = np.abs(got - exact)
        right = error <= allowed
    judged = usual
    if not usual.all():
        if oracle.op in {"max", "min"}:  # where a rank sends NaN, MPI leaves open which value wins
            one_of_them = (expected.values == got).any(axis=0)
            right = np.where(np.isnan(exact), np.isnan(got) | one_of_them, right)
            judged = np.ones_like(usual)
        else:
            right = np.where(usual, right, np.where(expected.must_be_nan, np.isnan(got), right))
            judged = usual | expected.must_be_nan | np.isinf(exact)
        right = np.where(np.isinf(exact), got == exact, right)
    return _tally(rank, part.first + first, exact, got, allowed, ~right & judged, judged)


def _integers(values: Values, op: str, rank: int, part: ResultPart, first: int, got: Array) -> CheckResult:
    """Integers wrap around, and are exact. Different ones may be equal as float64: then they are 1 apart."""
    start = part.source + first
    exact = values.stored(part.sources.start, start, got.size)
    for other in part.sources[1:]:
        exact = combined(op, exact, values.stored(other, start, got.size))
    wrong = exact != got
    expected = exact.astype(np.float64)
    distance = np.maximum(np.abs(got.astype(np.float64) - expected), 1.0)
    told = np.where(wrong, expected + np.where(got < exact, -distance, distance), expected)
    return _tally(rank, part.first + first, expected, told, np.zeros(got.size), wrong, np.ones_like(wrong))


def _tally(
    rank: int, first: int, exact: Floats, got: Floats, allowed: Floats, wrong: Flags, judged: Flags
) -> CheckResult:
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - exact)
    compared = judged & np.isfinite(error)
    known = exact[compared]
    signed = got[compared] - known
    result = CheckResult(compared=known.size, wrong=int(np.count_nonzero(wrong)))
    if known.size:
        result.max_abs_error = float(error[compared].max())
        result.rounding_bound = float(allowed[compared].max())
        result.error_sum, result.error_squares = float(signed.sum()), float(np.square(signed).sum())
        result.exact_minimum, result.exact_maximum = float(known.min()), float(known.max())
    finite = np.where(np.isfinite(error), error, _INFINITY)
    # Of values that must match as they are, the right ones have no error.
    score = np.where(wrong, finite - np.where(np.isfinite(error), allowed, 0.0), np.where(compared, finite, 0.0))
    ranked = np.where(wrong if result.wrong else judged, score, -1.0)
    if ranked.size and (place := int(ranked.argmax())) >= 0 and ranked[place] >= 0:
        result.worst = Worst(
            float(ranked[place]), float(allowed[place]), float(exact[place]), float(got[place]), first + place, rank
        )
    return result
