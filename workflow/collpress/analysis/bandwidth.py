"""Algorithm bandwidth, bus bandwidth and wire bandwidth from times: never an average of rates, always bytes over a
median time.

`algbw` and `busbw` mean what nccl-tests means by them. `message_bytes` is one rank's whole vector for allreduce,
reduce, bcast and reduce_scatter, and one block for allgather, gather, scatter and alltoall (of allgatherv and
alltoallv the mean one), as OMB has it; the total that nccl-tests divides is then `message_bytes` times the number of
ranks. Both messages of a pingpong count, as its time is that of both ways; a barrier moves no bytes and has no rate.
"""

from __future__ import annotations

from collections.abc import Callable

import xarray as xr

from collpress.collectives import BLOCKS

_FORMULAS = {
    "allreduce": "2 (p - 1) / p",
    "reduce_scatter": "(p - 1) / p",
    "allgather": "(p - 1) / p",
    "allgatherv": "(p - 1) / p",
    "alltoall": "(p - 1) / p",
    "alltoallv": "(p - 1) / p",
    "gather": "(p - 1) / p",
    "scatter": "(p - 1) / p",
    "bcast": "1",
    "reduce": "1",
}


def operation_formula(collective: str) -> str:
    """The bytes that `algbw` divides, as text; empty for a barrier, which has none."""
    if collective == "barrier":
        return ""
    return {"pingpong": "2 message_bytes"}.get(
        collective, "p message_bytes" if collective in BLOCKS else "message_bytes"
    )


def operation_bytes(collective: str, message_bytes: float, ranks: int) -> float:
    """The number that `operation_formula` gives, NaN for a barrier.

    >>> operation_bytes("allgather", 1000, 4), operation_bytes("pingpong", 1000, 2)
    (4000.0, 2000.0)
    """
    factor = {"": float("nan"), "2 message_bytes": 2.0, "p message_bytes": float(ranks), "message_bytes": 1.0}
    return message_bytes * factor[operation_formula(collective)]


def contributed_bytes(collective: str, message_bytes: int, ranks: int) -> int:
    """What all ranks together put into one call: `total_bytes` of a record.

    >>> [contributed_bytes(collective, 1000, 4) for collective in ("bcast", "alltoall", "reduce")]
    [1000, 16000, 4000]
    """
    parts = {"bcast": 1, "barrier": 0, "pingpong": 2, "alltoall": ranks**2, "alltoallv": ranks**2}
    return message_bytes * parts.get(collective, ranks)


def busbw_formula(collective: str) -> str:
    """The factor between algorithm and bus bandwidth for `p` ranks, as text; KeyError for a collective without one."""
    return _FORMULAS[collective]


def busbw_factor(collective: str, ranks: int) -> float:
    """The number that `busbw_formula` gives for `ranks`.

    >>> busbw_factor("allreduce", 4)
    1.5
    """
    return {"1": 1.0, "(p - 1) / p": (ranks - 1) / ranks, "2 (p - 1) / p": 2 * (ranks - 1) / ranks}[
        busbw_formula(collective)
    ]


def busbw_factors(collective: xr.DataArray, ranks: xr.DataArray) -> xr.DataArray:
    """`busbw_factor` for every pair of two label arrays; NaN where the collective has no such factor (a barrier)."""
    return _per_pair(collective, ranks, lambda c, p: busbw_factor(c, p) if c in _FORMULAS else float("nan"))


def algbw(
    time: xr.DataArray, collective: xr.DataArray, message_bytes: xr.DataArray, ranks: xr.DataArray
) -> xr.DataArray:
    """Bytes of the whole operation over `time` (s), in byte/s; NaN where `time` is, and for a barrier."""
    per_byte = _per_pair(collective, ranks, lambda c, p: operation_bytes(c, 1.0, p))
    return (message_bytes * per_byte / time).transpose(*time.dims)


def busbw(
    time: xr.DataArray, collective: xr.DataArray, message_bytes: xr.DataArray, ranks: xr.DataArray
) -> xr.DataArray:
    """`algbw` times the factor of the collective: comparable with the speed of a link, whatever the number of ranks."""
    rate = algbw(time, collective, message_bytes, ranks) * busbw_factors(collective, ranks)
    return rate.transpose(*time.dims)


def wire_bandwidth(time: xr.DataArray, wire_bytes: xr.DataArray) -> xr.DataArray:
    """Bytes that a rank really sends over `time` (s), in byte/s: what the wire carries; NaN where either is missing."""
    return (wire_bytes / time).transpose(*time.dims)


def _per_pair(collective: xr.DataArray, ranks: xr.DataArray, function: Callable[[str, int], float]) -> xr.DataArray:
    result = xr.apply_ufunc(lambda c, p: function(str(c), int(p)), collective, ranks, vectorize=True)
    assert isinstance(result, xr.DataArray)
    return result.astype("float64")
