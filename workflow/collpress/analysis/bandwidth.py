"""Algorithm bandwidth, bus bandwidth and wire bandwidth from times: never an average of rates, always bytes over a
median time.

`algbw` and `busbw` mean what nccl-tests means by them. `message_bytes` is one rank's whole vector for allreduce,
reduce, broadcast and reduce_scatter, and one block for allgather, gather, scatter and alltoall, as OMB has it; the
total that nccl-tests divides is then `message_bytes` times the number of ranks.
"""

from __future__ import annotations

import xarray as xr

_FORMULAS = {
    "allreduce": "2 (p - 1) / p",
    "reduce_scatter": "(p - 1) / p",
    "allgather": "(p - 1) / p",
    "alltoall": "(p - 1) / p",
    "gather": "(p - 1) / p",
    "scatter": "(p - 1) / p",
    "broadcast": "1",
    "bcast": "1",
    "reduce": "1",
}
_PER_BLOCK = frozenset({"allgather", "gather", "scatter", "alltoall"})


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
    """Bytes of the whole operation over `time` (s), in byte/s; NaN where `time` is."""
    blocks = _per_pair(collective, ranks, lambda c, p: float(p) if c in _PER_BLOCK else 1.0)
    return (message_bytes * blocks / time).transpose(*time.dims)


def busbw(
    time: xr.DataArray, collective: xr.DataArray, message_bytes: xr.DataArray, ranks: xr.DataArray
) -> xr.DataArray:
    """`algbw` times the factor of the collective: comparable with the speed of a link, whatever the number of ranks."""
    rate = algbw(time, collective, message_bytes, ranks) * busbw_factors(collective, ranks)
    return rate.transpose(*time.dims)


def _per_pair(collective: xr.DataArray, ranks: xr.DataArray, function: object) -> xr.DataArray:
    assert callable(function)
    result = xr.apply_ufunc(lambda c, p: function(str(c), int(p)), collective, ranks, vectorize=True)
    assert isinstance(result, xr.DataArray)
    return result.astype("float64")
