"""The collectives: which factors mean something for each, and what its message size counts.

`native/include/collpress/algorithm.h` describes the buffers of each.
"""

from __future__ import annotations

from collections.abc import Mapping

from collpress.usual import USUAL

COLLECTIVES = (
    "allreduce",
    "reduce",
    "reduce_scatter",
    "allgather",
    "allgatherv",
    "gather",
    "scatter",
    "alltoall",
    "alltoallv",
    "bcast",
    "barrier",
    "pingpong",
)
REDUCING = frozenset({"allreduce", "reduce", "reduce_scatter"})
ROOTED = frozenset({"reduce", "gather", "scatter", "bcast"})
UNEVEN = frozenset({"allgatherv", "alltoallv"})
"""Their blocks may differ in size."""
ONE_WAY = frozenset({"bcast", "barrier", "scatter", "alltoallv", "pingpong"})
"""They know no calls in place."""
ALIKE = frozenset({"allreduce", "allgather", "allgatherv", "bcast"})
"""All ranks get the same; of a bcast, all but root, whose buffer is its input."""
BLOCKS = frozenset({"allgather", "allgatherv", "gather", "scatter", "alltoall", "alltoallv"})
"""`message_bytes` is one block (in `UNEVEN` the mean one), as in OMB; elsewhere it is one rank's whole vector."""

LEAST_RANKS: Mapping[str, int] = {"pingpong": 2}
"""Of a collective that makes no sense with fewer; others run on one rank."""

_NO_DATA: Mapping[str, str | int] = {
    "codec": "none",
    "error_bound": "none",
    "dataset": "pattern",
    "wrap": "none",
    "dtype": "float32",
    "message_bytes": 0,
    **{name: USUAL[name] for name in ("segment_bytes", "cache", "alignment")},
}


def idle(collective: str) -> dict[str, str | int]:
    """The factors that mean nothing for a collective, at the value that they then have.

    >>> idle("allreduce")
    {'root': 0, 'imbalance': 'none'}
    """
    found: dict[str, str | int] = dict(_NO_DATA) if collective == "barrier" else {}
    if collective not in REDUCING:
        found["op"] = "sum"
    for name, meaning in (("root", collective in ROOTED), ("imbalance", collective in UNEVEN)):
        if not meaning:
            found[name] = USUAL[name]
    if collective in ONE_WAY:
        found["buffers"] = USUAL["buffers"]
    return found
