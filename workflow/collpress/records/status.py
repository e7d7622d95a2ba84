"""The statuses that a point can end in, how bad each is, and which are tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collpress.records.schema import Record


class Status(StrEnum):
    """What became of a point; members stand in the order of severity, best first.

    `invalid` is the worst: a wrong result is more than a missing one.
    """

    OK = "ok"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"
    NODE_FAILED = "node_failed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    CRASHED = "crashed"
    INVALID = "invalid"

    @property
    def severity(self) -> int:
        """0 for the best."""
        return list(Status).index(self)

    @property
    def retryable(self) -> bool:
        """Whether the next run tries again."""
        return self not in FINAL


FINAL = frozenset({Status.OK, Status.UNSUPPORTED, Status.INVALID})


@dataclass(frozen=True)
class PointStatus:
    """The one visible status of a point, with the number of its launches that are ok."""

    status: Status
    n_ok: int
    reason: str | None
    noisy: bool = False


def point_status(records: Mapping[int, Record], launches: int) -> PointStatus:
    """The status of a point from the latest record of each of its launches.

    Parameters
    ----------
    records : launch number -> latest record of the point in that launch; launches beyond the requested number are
    left out.
    launches : how many launches the plan asks for.
    """
    asked = [record for launch, record in records.items() if launch < launches]
    n_ok = sum(record.status is Status.OK for record in asked)
    noisy = any(record.noisy for record in asked)
    if n_ok == launches:
        return PointStatus(Status.OK, n_ok, None, noisy)
    bad = [record for record in asked if record.status is not Status.OK]
    if not bad:
        reason = f"{n_ok} of {launches} launches are measured" if asked else "never started"
        return PointStatus(Status.NOT_RUN, n_ok, reason, noisy)
    worst = max(bad, key=lambda record: (record.status.severity, -record.launch))
    return PointStatus(worst.status, n_ok, worst.reason, noisy)
