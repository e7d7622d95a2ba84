"""How a step of a point went, and how all ranks come to one opinion about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from mpi4py import MPI

Item = TypeVar("Item")


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


def agree(comm: MPI.Intracomm, mine: Verdict) -> Verdict:
    """Collective: the worst verdict of all ranks, the same on each; it names the rank when not all ranks say so."""
    return agree_and_share(comm, mine, None)[0]


def agree_and_share(comm: MPI.Intracomm, mine: Verdict, item: Item) -> tuple[Verdict, list[Item]]:
    """`agree`, and in the same exchange what each rank has to tell."""
    told = comm.allgather((int(mine.status), mine.reason, item))
    rank = max(range(len(told)), key=lambda r: told[r][0])
    status, reason, _ = told[rank]
    if status != Status.OK and any(one[:2] != (status, reason) for one in told):
        reason = f"rank {rank}: {reason}"
    return Verdict(Status(status), reason), [item for _, _, item in told]
