"""Bandwidths by the field's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from collpress.analysis.bandwidth import (
    algbw,
    busbw,
    busbw_factor,
    busbw_factors,
    contributed_bytes,
    operation_bytes,
)
from collpress.collectives import COLLECTIVES


@pytest.mark.parametrize(
    ("collective", "ranks", "factor"),
    [
        ("allreduce", 4, 1.5),
        ("allreduce", 1, 0.0),
        ("allgather", 4, 0.75),
        ("allgatherv", 4, 0.75),
        ("reduce_scatter", 2, 0.5),
        ("alltoall", 4, 0.75),
        ("alltoallv", 4, 0.75),
        ("gather", 4, 0.75),
        ("scatter", 4, 0.75),
        ("bcast", 8, 1.0),
        ("reduce", 8, 1.0),
    ],
)
def test_bus_bandwidth_factors_are_those_of_nccl_tests(collective: str, ranks: int, factor: float) -> None:
    assert busbw_factor(collective, ranks) == factor


def test_a_collective_without_a_factor_has_no_bus_bandwidth() -> None:
    collectives = xr.DataArray(["barrier", "pingpong", "allreduce"], dims="collective")
    factors = busbw_factors(collectives, xr.DataArray([2], dims="ranks"))
    assert np.isnan(factors.values[:2, 0]).all()
    assert factors.values[2, 0] == 1.0


# In one call with messages of 1000 bytes on 4 ranks: what nccl-tests calls size, and what all ranks contribute.
BYTES = {
    "allreduce": (1000, 4000),
    "reduce": (1000, 4000),
    "reduce_scatter": (1000, 4000),
    "allgather": (4000, 4000),
    "allgatherv": (4000, 4000),
    "gather": (4000, 4000),
    "scatter": (4000, 4000),
    "alltoall": (4000, 16000),
    "alltoallv": (4000, 16000),
    "bcast": (1000, 1000),
    "barrier": (None, 0),
    "pingpong": (2000, 2000),
}


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_bytes_of_an_operation_and_of_its_contributions(collective: str) -> None:
    size, contributed = BYTES[collective]
    found = operation_bytes(collective, 1000, 4)
    assert found == size if size is not None else np.isnan(found)
    assert contributed_bytes(collective, 1000 if contributed else 0, 4) == contributed


def test_a_barrier_has_no_rate_and_a_pingpong_that_of_both_its_messages() -> None:
    time = xr.DataArray([[[0.5]], [[0.5]]], dims=["collective", "message_bytes", "ranks"])
    where = (
        xr.DataArray(["barrier", "pingpong"], dims="collective"),
        xr.DataArray([1000], dims="message_bytes"),
        xr.DataArray([2], dims="ranks"),
    )
    assert np.isnan(algbw(time, *where).values[0, 0, 0])
    assert algbw(time, *where).values[1, 0, 0] == 4000.0
    assert np.isnan(busbw(time, *where).values).all()


def test_rates_are_bytes_over_time_with_the_total_where_a_block_is_the_message() -> None:
    time = xr.DataArray([[[0.5]], [[0.5]]], dims=["collective", "message_bytes", "ranks"])
    where = (
        xr.DataArray(["allgather", "allreduce"], dims="collective"),
        xr.DataArray([1000], dims="message_bytes"),
        xr.DataArray([4], dims="ranks"),
    )
    assert algbw(time, *where).values.ravel().tolist() == [8000.0, 2000.0]
    assert busbw(time, *where).values.ravel().tolist() == [6000.0, 3000.0]
    assert busbw(time, *where).dims == time.dims
