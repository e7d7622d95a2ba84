"""The collectives through mpi4py's buffer interface, as a careful Python user calls them.

Buffers are described once, with their MPI datatype; what is timed is the call with those descriptions: mpi4py reads
them, checks them, and calls the library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mpi4py import MPI

from collpress.collectives import REDUCING
from collpress.runner.buffers import CallBuffers
from collpress.runner.exchange import Exchange, even_blocks, offsets
from collpress.runner.plan import PlanPoint

Call = Callable[[], Any]
_LARGEST = 2**31 - 1
_DATATYPES = {
    "float32": MPI.FLOAT, "float64": MPI.DOUBLE, "int8": MPI.INT8_T, "int16": MPI.INT16_T, "int32": MPI.INT32_T,
    "int64": MPI.INT64_T, "float16": MPI.UINT16_T, "bfloat16": MPI.UINT16_T,  # MPI has no halves
}  # fmt: skip


def refusal(point: PlanPoint, exchange: Exchange) -> str | None:
    """Why MPI, or this backend, cannot make such a call."""
    if point.algorithm != "library:default":
        return f"the backend mpi4py has library:default only, not {point.algorithm}: the core switches algorithms"
    if point.feedback:
        return "the backend mpi4py feeds nothing back: the native core does"
    if point.settings:
        return f"the backend mpi4py leaves the library's settings alone, and cannot set {' and '.join(point.settings)}"
    if point.nonblocking and point.collective == "pingpong":
        return "a pingpong is a send and a receive, so it has no form that only starts"
    numbers = [exchange.count, *exchange.contributions()]
    numbers += [exchange.recv_elements(rank, False) for rank in range(exchange.ranks)] if exchange.counts else []
    largest = max(numbers) if exchange.counts else exchange.count
    if largest > _LARGEST and MPI.Get_version() < (4, 0):
        return "the library's calls take at most 2^31-1 elements, and it has no functions for more (MPI 4)"
    return None


def user_operation(point: PlanPoint) -> bool:
    """Whether a reduction needs an operation of our own: that may change the library's choice."""
    return point.collective in REDUCING and point.dtype.is_half


def bind(comm: MPI.Intracomm, point: PlanPoint, exchange: Exchange, buffers: CallBuffers, op: MPI.Op | None) -> Call:
    """The call of this rank, ready to be made again and again; of a non-blocking one, its start: returns a request.

    `op` is for the collectives that reduce. Nothing may stand against the call: see `refusal`.
    """
    name, arguments = _call(comm, point, exchange, buffers, op)
    if name == "pingpong":
        return arguments[0] if exchange.is_end(comm.rank) else _nothing
    return partial(getattr(comm, "I" + name.lower() if point.nonblocking else name), *arguments)


def _call(
    comm: MPI.Intracomm, point: PlanPoint, exchange: Exchange, buffers: CallBuffers, op: MPI.Op | None
) -> tuple[str, tuple[Any, ...]]:
    """The method's name and its arguments."""
    rank, ranks, root = comm.rank, exchange.ranks, exchange.root
    datatype = _DATATYPES[point.dtype.name]
    shares = exchange.in_recv(rank, point.in_place)
    send: Any = MPI.IN_PLACE if shares else [buffers.contribution, datatype]
    recv: Any = [buffers.recv, datatype]
    is_root = rank == root
    match point.collective:
        case "allreduce":
            return "Allreduce", (send, recv, op)
        case "reduce":
            return "Reduce", (send, recv if is_root else None, op, root)
        case "reduce_scatter":
            return "Reduce_scatter", (send, recv, even_blocks(exchange.count, ranks), op)
        case "allgather":
            return "Allgather", (send, recv)
        case "allgatherv":
            counts = exchange.counts
            return "Allgatherv", (send, [buffers.recv, counts, offsets(counts), datatype])
        case "gather":
            return "Gather", (send, recv if is_root else None, root)
        case "scatter":
            return "Scatter", (send if is_root else None, recv, root)
        case "alltoall":
            return "Alltoall", (send, recv)
        case "alltoallv":
            row, column = exchange.row(rank), exchange.column(rank)
            return "Alltoallv", (
                [buffers.contribution, row, offsets(row), datatype],
                [buffers.recv, column, offsets(column), datatype],
            )
        case "bcast":
            return "Bcast", (recv, root)
        case "barrier":
            return "Barrier", ()
        case _:
            return "pingpong", (_pingpong(comm, send, recv),)


def _pingpong(comm: MPI.Intracomm, send: Any, recv: Any) -> Call:
    """Rank 0 sends first, the last rank answers."""
    peer, first = comm.size - 1 - comm.rank, comm.rank == 0

    def swap() -> None:
        if first:
            comm.Send(send, peer)
        comm.Recv(recv, peer)
        if not first:
            comm.Send(send, peer)

    return swap


def _nothing() -> None:
    """A rank between the ends of a pingpong."""
