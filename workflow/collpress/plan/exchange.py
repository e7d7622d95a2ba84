"""Who contributes how much to one call, and what each rank gets, in elements.

The core's description of the same is `native/src/core/collective.hpp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from math import ceil

from collpress.collectives import BLOCKS, REDUCING
from collpress.spec.factors import DTYPES, Value

SEED = 1
"""Of `imbalance: random`: one for all points, so that algorithms are compared on the same blocks."""

_MASK = (1 << 64) - 1


def elements(factors: Mapping[str, Value]) -> int:
    """Elements of `message_bytes`: of a vector, or of one block."""
    return int(factors["message_bytes"]) // DTYPES[str(factors["dtype"])]


def contributors(factors: Mapping[str, Value]) -> list[int]:
    """The ranks that contribute data."""
    collective, ranks = str(factors["collective"]), int(factors["ranks"])
    if collective in ("scatter", "bcast"):
        return [int(factors.get("root", 0))]
    if collective == "pingpong":
        return sorted({0, ranks - 1})
    return [] if collective == "barrier" else list(range(ranks))


def largest_contribution(factors: Mapping[str, Value]) -> int:
    """Of one rank."""
    collective, ranks, count = str(factors["collective"]), int(factors["ranks"]), elements(factors)
    if collective in ("scatter", "alltoall", "alltoallv"):
        return ranks * count
    if collective == "allgatherv":
        return max(block_counts(ranks, count, str(factors.get("imbalance", "none"))))
    return 0 if collective == "barrier" else count


def total_contribution(factors: Mapping[str, Value]) -> int:
    """Of all ranks together; blocks of different sizes have as much in all as equal ones."""
    collective, ranks, count = str(factors["collective"]), int(factors["ranks"]), elements(factors)
    if collective in ("alltoall", "alltoallv"):
        return ranks * ranks * count
    if collective in ("scatter", "allgatherv"):
        return ranks * count
    return len(contributors(factors)) * largest_contribution(factors)


def largest_result(factors: Mapping[str, Value]) -> int:
    """Of the buffer that one rank receives into; an estimate for random blocks of alltoallv."""
    collective, ranks, count = str(factors["collective"]), int(factors["ranks"]), elements(factors)
    if collective == "alltoallv":
        imbalance = str(factors.get("imbalance", "none"))
        if imbalance == "random":  # a mean of 1/2 and at most 1: what a rank gets is rarely above twice the mean
            return 2 * ranks * count
        return ranks * max(block_counts(ranks, count, imbalance))
    if collective in ("allgather", "allgatherv", "gather", "alltoall"):
        return ranks * count
    if collective == "reduce_scatter" and factors.get("buffers") != "in-place":
        return ceil(count / ranks)
    return 0 if collective == "barrier" else count


def bytes_moved(factors: Mapping[str, Value]) -> int:
    """Least bytes that all ranks together send in one call without compression.

    A reduction on p ranks needs p - 1 vectors on their way, an allreduce its result on p - 1 more ranks; a block of
    alltoall goes to each other rank, one of allgather to all others.
    """
    collective, others = str(factors["collective"]), int(factors["ranks"]) - 1
    size = int(factors["message_bytes"])
    if collective == "barrier":
        return 0
    if collective == "pingpong":
        return 2 * size
    if collective == "allreduce":
        return 2 * others * size
    if collective in REDUCING or collective not in BLOCKS or collective in ("gather", "scatter"):
        return others * size
    return (others + 1) * others * size


def block_counts(ranks: int, count: int, imbalance: str, seed: int = SEED) -> list[int]:
    """The blocks of an allgatherv, or of the first sender of an alltoallv: `count` elements in the mean.

    >>> block_counts(4, 10, "linear"), block_counts(3, 10, "one-large")
    ([4, 8, 12, 16], [15, 7, 8])
    """
    weights = {
        "none": lambda: [1] * ranks,
        "linear": lambda: list(range(1, ranks + 1)),
        "one-large": lambda: [max(1, ranks - 1)] + [1] * (ranks - 1),
        "random": lambda: [_drawn(seed, block) + 1 for block in range(ranks)],
    }[imbalance]()
    ends = [ranks * count * total // sum(weights) for total in accumulate(weights)]
    return [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _drawn(seed: int, index: int) -> int:
    """Evenly from [0, 2^53): the finaliser of SplitMix64 (Steele, Lea, Flood 2014), as in the core."""
    x = (seed * 0xD1342543DE82EF95 + (index + 1) * 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return (x ^ (x >> 31)) >> 11
