"""The reductions on arrays: for the oracle of integers, and for MPI, which has no 16-bit floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from collpress.runner.dtypes import Array, Dtype

OPERATIONS: dict[str, MPI.Op] = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN, "prod": MPI.PROD}


def combined(op: str, a: Array, b: Array) -> Array:
    """a OP b, elementwise; integers wrap around, as the machine does. Of a NaN and a number `max` keeps `a`."""
    match op:
        case "sum":
            return a + b
        case "prod":
            return a * b
        case "max":
            return np.where(a < b, b, a)
    return np.where(b < a, b, a)


def make_operation(dtype: Dtype, op: str) -> MPI.Op:
    """An operation on the 16 bits of halves: in float32, rounded to the nearest. To be freed."""

    def operate(given: Any, inout: Any, _: MPI.Datatype) -> None:
        to, other = (np.frombuffer(buffer, dtype.stored) for buffer in (inout, given))
        a, b = (dtype.numbers(values).astype(np.float32) for values in (to, other))
        with np.errstate(over="ignore", invalid="ignore"):
            to[...] = dtype.of(combined(op, a, b))

    return MPI.Op.Create(operate, commute=True)
