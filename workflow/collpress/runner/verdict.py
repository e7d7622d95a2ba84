"""How a step of a point went, and how all ranks come to one opinion about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from mpi4py import MPI


class Status(IntEnum):
    """Ordered: where ranks differ, the largest is reported."""

    OK = 0
    UNSUPPORTED = 1
    INVALID = 2
    OUT_OF_MEMORY = 3
    FAILED = 4

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Verdict:
    status: Status = Status.OK
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.status is Status.OK


class PointError(Exception):
    """Ends the point on this rank; the other ranks learn of it through `agree`."""

    def __init__(self, status: Status, reason: str) -> None:
        self.verdict = Verdict(status, reason)
        super().__init__(reason)


def attempt(step: Callable[[], None]) -> Verdict:
    """Run a step that only concerns this rank; whatever it raises becomes its verdict."""
    try:
        step()
    except PointError as error:
        return error.verdict
    except MemoryError:
        return Verdict(Status.OUT_OF_MEMORY, "memory could not be allocated")
    except Exception as error:  # the other ranks must hear of it, whatever it is
        return Verdict(Status.FAILED, f"{type(error).__name__}: {error}")
    return Verdict()


def agree(comm: MPI.Comm, mine: Verdict) -> Verdict:
    """Collective: the worst verdict of all ranks, the same on each; it names the rank when not all ranks say so."""
    verdicts = comm.allgather((int(mine.status), mine.reason))
    rank = max(range(len(verdicts)), key=lambda r: verdicts[r][0])
    status, reason = verdicts[rank]
    if status != Status.OK and any(verdict != verdicts[rank] for verdict in verdicts):
        reason = f"rank {rank}: {reason}"
    return Verdict(Status(status), reason)
