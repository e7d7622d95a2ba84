"""The runner with faulty calls, in place of `-m collpress.runner`: each point names its fault by `imbalance_seed`.

Most make wrong results, which the check must find; others are what a machine may do to one rank.
"""

from __future__ import annotations

import sys
from typing import Any

import mpi4py

mpi4py.rc.initialize = False  # the runner does

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

from collpress.runner import buffers, calls, main, point  # noqa: E402

bind, aligned = calls.bind, buffers.aligned
LACKING = 128
"""Rank 1 has no memory of this alignment."""
AVAILABLE = 1 << 20
"""Bytes that the machine says it has."""


def never_calls(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    return lambda: comm.Barrier()


def calls_once_only(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    """A stale result passes for a fresh one, unless the buffer is overwritten in between."""
    call, done = bind(comm, asked, exchange, memory, op), []

    def run() -> None:
        if not done:
            done.append(call())

    return run


def calls_once_only_and_never_poisons(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    prepare = memory.prepare
    memory.prepare = lambda poison: prepare(False)
    return calls_once_only(comm, asked, exchange, memory, op)


def flips_a_bit_later(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    """In the last element of the last rank, from the third call on."""
    call, count = bind(comm, asked, exchange, memory, op), 0

    def run() -> None:
        nonlocal count
        call()
        count += 1
        if count > 2 and comm.rank == comm.size - 1:
            memory.recv.view(np.uint8)[-1] ^= 0x40

    return run


def turns_the_result_round(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    call = bind(comm, asked, exchange, memory, op)

    def run() -> None:
        call()
        memory.recv[...] = memory.recv[::-1].copy()

    return run


def another_operation(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    return bind(comm, asked, exchange, memory, MPI.MAX)


def another_root(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    return lambda: comm.Bcast([memory.recv, MPI.FLOAT], (exchange.root + 1) % comm.size)


def one_element_less(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    shorter = memory.recv.size - 1
    send, recv = [memory.contribution, shorter, MPI.FLOAT], [memory.recv, shorter, MPI.FLOAT]
    return lambda: comm.Allreduce(send, recv, op)


def raises_on_rank_0(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    """From the fourth call on, after it: no other rank waits for this one."""
    call, count = bind(comm, asked, exchange, memory, op), 0

    def run() -> None:
        nonlocal count
        call()
        count += 1
        if comm.rank == 0 and count > 3:
            raise ValueError("not today")

    return run


MUTANTS = (
    bind, never_calls, calls_once_only, calls_once_only_and_never_poisons, flips_a_bit_later, turns_the_result_round,
    another_operation, another_root, one_element_less, raises_on_rank_0,
)  # fmt: skip


def bind_wrongly(comm: Any, asked: Any, exchange: Any, memory: Any, op: Any) -> calls.Call:
    return MUTANTS[asked.imbalance_seed](comm, asked, exchange, memory, op)


def aligned_where_there_is_memory(size: int, alignment: int) -> Any:
    if alignment == LACKING and MPI.COMM_WORLD.rank == 1:
        raise MemoryError
    return aligned(size, alignment)


if __name__ == "__main__":
    calls.bind, buffers.aligned = bind_wrongly, aligned_where_there_is_memory
    point.available_memory = lambda: AVAILABLE
    sys.exit(main.main())
