"""How ranks are brought to start an iteration together."""

from __future__ import annotations

from collections.abc import Callable

from mpi4py import MPI

Wait = Callable[[], object]


def dissemination(parent: MPI.Intracomm) -> Wait:
    """The dissemination barrier (Hensgen, Finkel, Manber 1988) on a communicator of its own, collective.

    In round k rank r signals r + 2^k and waits for r - 2^k: it depends on no library's choice of an algorithm.
    """
    comm = parent.Dup()
    rank, size = comm.rank, comm.size
    rounds = []
    distance = 1
    while distance < size:
        rounds.append(((rank + distance) % size, (rank - distance) % size))
        distance *= 2
    nothing = [None, 0, MPI.BYTE]
    exchange = comm.Sendrecv

    def wait() -> None:
        for to, source in rounds:
            exchange(nothing, to, 0, nothing, source, 0)

    return wait


class Starts:
    """Each kind is made when it is first asked for; that is collective."""

    def __init__(self, world: MPI.Intracomm, barrier: Wait) -> None:
        self._world = world
        self._made: dict[str, Wait] = {"dissemination": barrier, "none": lambda: None}

    def of(self, sync: str) -> Wait:
        if sync not in self._made:
            self._made[sync] = self._world.Dup().Barrier
        return self._made[sync]


def refusal(sync: str) -> str | None:
    """Why ranks cannot be started so."""
    if sync == "window":
        return "sync window needs a clock that all ranks share, which the backend mpi4py does not make"
    return None
