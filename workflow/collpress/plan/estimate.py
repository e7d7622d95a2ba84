"""What a plan costs, before it runs: upper bounds from the campaign's own limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from collpress.plan.exchange import bytes_moved
from collpress.plan.support import memory_per_rank
from collpress.spec.campaign import Measure
from collpress.spec.factors import Value

LAUNCH_SECONDS = 2.0
"""Starting and ending the core under a launcher."""


@dataclass(frozen=True)
class Cost:
    """Upper bounds of a set of points.

    Parameters
    ----------
    points, batches : counts.
    seconds : the points' `at_most` and the launches of their batches.
    bytes_per_iteration : least bytes that all ranks together must send, one call of each point.
    memory_per_rank : bytes of buffers of the largest point.
    """

    points: int
    batches: int
    seconds: float
    bytes_per_iteration: int
    memory_per_rank: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def point_seconds(measure: Measure) -> float:
    """The longest that one point may take, all launches together."""
    return measure.at_most


def batch_seconds(points: int, measure: Measure) -> float:
    """The longest that a batch may take."""
    return points * point_seconds(measure) + measure.launches * LAUNCH_SECONDS


def batch_minutes(points: int, measure: Measure) -> int:
    """Minutes to ask a scheduler for: twice the longest time, because checks outside the timing take time too."""
    return max(5, math.ceil(2 * batch_seconds(points, measure) / 60))


def cost(points: Iterable[Mapping[str, Value]], batches: int, measure: Measure) -> Cost:
    """Sum up points; `batches` is their number."""
    listed = list(points)
    return Cost(
        len(listed),
        batches,
        len(listed) * point_seconds(measure) + batches * measure.launches * LAUNCH_SECONDS,
        sum(bytes_moved(f) for f in listed),
        max((memory_per_rank(f) for f in listed), default=0),
    )
