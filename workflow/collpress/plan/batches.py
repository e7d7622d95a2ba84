"""Points gathered into batches: those that share allocation shape, build, launch environment, shard and backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from collpress.plan.identity import batch_digest, digest
from collpress.plan.launch import Launch

CAPACITY = 500
"""Points of a shard. A full shard opens a new one, so that growing a campaign never touches a batch that is done."""

Shards = Mapping[str, Mapping[str, int]]
"""Allocation shape (`NODESxRANKS`) → point id → number of the shard."""


class Start(NamedTuple):
    """What of a point decides how its batch is started."""

    nodes: int
    ranks: int
    knobs: str = "none"


@dataclass(frozen=True)
class Member:
    """One point that will be measured."""

    key: str
    id: str
    experiment: str
    line: Mapping[str, str]
    estimate_s: float


@dataclass
class Batch:
    """One Snakemake job."""

    id: str
    nodes: int
    ranks: int
    launch: Launch
    backend: str = "mpi"
    members: list[Member] = field(default_factory=list)

    def digest(self, launches: int) -> str:
        return batch_digest((m.key for m in self.members), launches)

    @property
    def seed(self) -> int:
        """Of the order of measuring: a function of the batch alone, so that a plan can be made again."""
        return int(self.id[:8], 16)


def shape_of(nodes: int, ranks: int) -> str:
    """The name of an allocation shape in shards.json."""
    return f"{nodes}x{ranks}"


def assign_shards(
    shards: Shards, points: Iterable[tuple[str, str]], capacity: int = CAPACITY
) -> dict[str, dict[str, int]]:
    """Give every new point a place; old ones keep theirs, also those that have left the campaign.

    Parameters
    ----------
    points : (shape, point id), in the campaign's order.
    """
    result = {shape: dict(places) for shape, places in shards.items()}
    fill: dict[str, list[int]] = {shape: _counts(places.values()) for shape, places in result.items()}
    for shape, identity in points:
        places, counts = result.setdefault(shape, {}), fill.setdefault(shape, [])
        if identity in places:
            continue
        if not counts or counts[-1] >= capacity:
            counts.append(0)
        places[identity] = len(counts) - 1
        counts[-1] += 1
    return result


def gather(
    members: Sequence[tuple[Member, Start]],
    launches: Mapping[Start, Launch],
    shared: Mapping[Start, Any],
    shards: Shards,
) -> list[Batch]:
    """Batches in the order of their first points.

    Parameters
    ----------
    launches, shared : how such a batch is started, and `identity.launch_identity` of it.
    """
    batches: dict[str, Batch] = {}
    for member, start in members:
        nodes, ranks, _ = start
        shard = shards[shape_of(nodes, ranks)][member.id]
        backend = member.line.get("backend", "mpi")
        common = {"nodes": nodes, "ranks": ranks, "shared": shared[start], "shard": shard}
        identity = digest(common if backend == "mpi" else common | {"backend": backend})[:16]
        batch = batches.setdefault(identity, Batch(identity, nodes, ranks, launches[start], backend))
        batch.members.append(member)
    return list(batches.values())


def _counts(numbers: Iterable[int]) -> list[int]:
    found = Counter(numbers)
    return [found[n] for n in range(max(found, default=-1) + 1)]
