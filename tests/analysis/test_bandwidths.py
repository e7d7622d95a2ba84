"""Bandwidths by the field's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from collpress.analysis.bandwidth import algbw, busbw, busbw_factor, busbw_factors


@pytest.mark.parametrize(
    ("collective", "ranks", "factor"),
    [
        ("allreduce", 4, 1.5),
        ("allreduce", 1, 0.0),
        ("allgather", 4, 0.75),
        ("reduce_scatter", 2, 0.5),
        ("bcast", 8, 1.0),
    ],
)
def test_bus_bandwidth_factors_are_those_of_nccl_tests(collective: str, ranks: int, factor: float) -> None:
    assert busbw_factor(collective, ranks) == factor


def test_a_collective_without_a_factor_has_no_bus_bandwidth() -> None:
    factors = busbw_factors(xr.DataArray(["barrier", "allreduce"], dims="collective"), xr.DataArray([2], dims="ranks"))
    assert np.isnan(factors.values[0, 0])
    assert factors.values[1, 0] == 1.0


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
