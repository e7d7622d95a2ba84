"""The collectives: who contributes how much, what each rank gets, and from whom.

The table of `native/include/collpress/algorithm.h`, as the core's `collective.hpp` has it. All sizes are in elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from collpress.collectives import COLLECTIVES, ONE_WAY, ROOTED, UNEVEN
from collpress.runner.splitmix import GOLDEN, MASK, STREAM, mixed

IN_PLACE = frozenset(COLLECTIVES) - ONE_WAY
"""Those that can be asked to work in place."""
IMBALANCES = ("none", "linear", "one-large", "random")


def offsets(counts: list[int]) -> list[int]:
    """Where blocks of these sizes begin that follow each other.

    >>> offsets([2, 0, 3])
    [0, 2, 2]
    """
    return [0, *accumulate(counts)][:-1]


def even_blocks(count: int, parts: int) -> list[int]:
    """Sizes of the blocks of `reduce_scatter`: the first `count % parts` have one element more."""
    return [count // parts + (block < count % parts) for block in range(parts)]


def block_counts(collective: str, ranks: int, count: int, imbalance: str, seed: int) -> list[int]:
    """counts[r] of allgatherv, counts[s * ranks + d] of alltoallv, else empty.

    The blocks of one sender, or of all ranks of an allgatherv, have `ranks * count` elements in all: cumulated in
    proportion to their weights before rounding.
    """
    if collective not in UNEVEN:
        return []
    counts = []
    for sender in range(ranks if collective == "alltoallv" else 1):
        weights = [_weight(block, ranks, imbalance, seed, sender) for block in range(ranks)]
        whole, ends = sum(weights), accumulate(weights)
        given = [0, *(ranks * count * end // whole for end in ends)]
        counts += [given[block + 1] - given[block] for block in range(ranks)]
    return counts


def _weight(block: int, ranks: int, imbalance: str, seed: int, sender: int) -> int:
    if imbalance == "linear":
        return block + 1
    if imbalance == "one-large":
        return ranks - 1 if block == 0 and ranks > 1 else 1
    if imbalance == "random":
        place = sender * ranks + block
        return (mixed((seed * STREAM + (place + 1) * GOLDEN) & MASK) >> 11) + 1
    return 1


@dataclass(frozen=True)
class ResultPart:
    """Elements [first, first + length) of a rank's result: the reduction of the ranks [sources.start, sources.stop),
    of their elements from `source` on; or, of one rank, a copy of what it sent."""

    first: int
    length: int
    sources: range
    source: int


@dataclass(frozen=True)
class Exchange:
    """The sizes of one call's buffers and the parts of its results. `counts` is empty unless blocks may differ."""

    collective: str
    ranks: int
    count: int
    root: int
    counts: list[int]

    def row(self, sender: int) -> list[int]:
        """What a sender of an alltoallv has for each rank."""
        return self.counts[sender * self.ranks : (sender + 1) * self.ranks]

    def column(self, receiver: int) -> list[int]:
        """What a receiver of an alltoallv gets of each rank."""
        return self.counts[receiver :: self.ranks]

    def is_end(self, rank: int) -> bool:
        """Whether the rank has a part in a pingpong."""
        return rank in {0, self.ranks - 1}

    def contribution(self, rank: int) -> int:
        """Elements that a rank contributes. In a bcast root's lie in `recv`."""
        match self.collective:
            case "allgatherv":
                return self.counts[rank]
            case "alltoallv":
                return sum(self.row(rank))
            case "alltoall":
                return self.ranks * self.count
            case "scatter":
                return self.ranks * self.count if rank == self.root else 0
            case "bcast":
                return self.count if rank == self.root else 0
            case "pingpong":
                return self.count if self.is_end(rank) else 0
            case "barrier":
                return 0
        return self.count

    def contributions(self) -> list[int]:
        return [self.contribution(rank) for rank in range(self.ranks)]

    def contributors(self) -> int:
        """How many ranks contribute anything at all."""
        if self.collective in {"bcast", "scatter"}:
            return 1
        return min(self.ranks, 2) if self.collective == "pingpong" else self.ranks

    def contributor(self, rank: int) -> int:
        """The number of a contributing rank among those."""
        if self.collective in {"bcast", "scatter"}:
            return 0
        return min(rank, 1) if self.collective == "pingpong" else rank

    def in_recv(self, rank: int, in_place: bool) -> bool:
        """Whether the rank's contribution lies in `recv` before the call."""
        if self.collective == "bcast":
            return rank == self.root
        if not in_place or self.collective not in IN_PLACE:
            return False
        return self.collective not in ROOTED or rank == self.root

    def place(self, rank: int) -> int:
        """Where it lies there."""
        if self.collective in {"allgather", "gather"}:
            return rank * self.count
        return sum(self.counts[:rank]) if self.collective == "allgatherv" else 0

    def recv_elements(self, rank: int, in_place: bool) -> int:
        match self.collective:
            case "reduce":
                return self.count if rank == self.root else 0
            case "reduce_scatter":
                return self.count if in_place else even_blocks(self.count, self.ranks)[rank]
            case "allgather" | "alltoall":
                return self.ranks * self.count
            case "allgatherv":
                return sum(self.counts)
            case "gather":
                return self.ranks * self.count if rank == self.root else 0
            case "alltoallv":
                return sum(self.column(rank))
            case "pingpong":
                return self.contribution(rank)
            case "barrier":
                return 0
        return self.count

    def result(self, rank: int) -> list[ResultPart]:
        """In ascending order, none empty; what they leave out of `recv` is not looked at."""
        everyone = range(self.ranks)
        match self.collective:
            case "allreduce":
                parts = [ResultPart(0, self.count, everyone, 0)]
            case "reduce":
                parts = [ResultPart(0, self.count, everyone, 0)] if rank == self.root else []
            case "reduce_scatter":
                blocks = even_blocks(self.count, self.ranks)
                parts = [ResultPart(0, blocks[rank], everyone, offsets(blocks)[rank])]
            case "allgather":
                parts = self._copies([self.count] * self.ranks, 0)
            case "gather":
                parts = self._copies([self.count] * self.ranks, 0) if rank == self.root else []
            case "allgatherv":
                parts = self._copies(self.counts, 0)
            case "alltoall":
                parts = self._copies([self.count] * self.ranks, rank * self.count)
            case "alltoallv":
                lengths = self.column(rank)
                parts = [
                    ResultPart(first, length, range(sender, sender + 1), sum(self.row(sender)[:rank]))
                    for sender, (first, length) in enumerate(zip(offsets(lengths), lengths, strict=True))
                ]
            case "scatter":
                parts = [ResultPart(0, self.count, range(self.root, self.root + 1), rank * self.count)]
            case "bcast":
                parts = [ResultPart(0, self.count, range(self.root, self.root + 1), 0)]
            case "pingpong" if self.is_end(rank):
                peer = self.ranks - 1 - rank
                parts = [ResultPart(0, self.count, range(peer, peer + 1), 0)]
            case _:
                parts = []
        return [part for part in parts if part.length]

    def _copies(self, lengths: list[int], source: int) -> list[ResultPart]:
        """One block of each rank, packed."""
        firsts = offsets(lengths)
        return [ResultPart(firsts[r], lengths[r], range(r, r + 1), source) for r in range(self.ranks)]
