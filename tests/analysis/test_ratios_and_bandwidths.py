"""Ratios of medians with bootstrap limits, and bandwidths by the field's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from collpress.analysis.bandwidth import algbw, busbw, busbw_factor, busbw_factors
from collpress.analysis.ratios import ratio_of_medians


def launches(*rows: list[float]) -> xr.DataArray:
    return xr.DataArray(np.array(rows, dtype=float), dims=["point", "launch"])


def test_the_ratio_is_that_of_the_medians_not_the_mean_of_ratios() -> None:
    out = ratio_of_medians(launches([1.0, 2.0, 90.0]), launches([4.0, 1.0, 100.0]))
    assert float(out["ratio"][0]) == 0.5


def test_limits_hold_the_ratio_and_repeat_with_the_seed() -> None:
    a, b = launches([1.0, 1.1, 0.9, 1.05, 0.95]), launches([2.0, 2.2, 1.9, 2.1, 2.05])
    first, again, other = (ratio_of_medians(a, b, seed=s, resamples=300) for s in (1, 1, 2))
    assert first.identical(again)
    assert not first.identical(other)
    assert float(first["ci_low"][0]) <= float(first["ratio"][0]) <= float(first["ci_high"][0])
    assert int(first["different"][0]) == 1


def test_overlapping_launches_show_no_difference() -> None:
    a, b = launches([1.0, 1.4, 0.7, 1.2, 0.9]), launches([1.1, 0.8, 1.3, 1.0, 1.2])
    assert int(ratio_of_medians(a, b)["different"][0]) == 0


def test_a_failed_launch_is_no_value() -> None:
    whole = ratio_of_medians(launches([2.0, 2.0, 2.0]), launches([1.0, 1.0, 1.0]))
    holed = ratio_of_medians(launches([2.0, np.nan, 2.0]), launches([np.nan, 1.0, 1.0]))
    np.testing.assert_array_equal(whole.to_array(), holed.to_array())


def test_no_value_gives_no_ratio_and_no_verdict() -> None:
    out = ratio_of_medians(launches([np.nan, np.nan]), launches([1.0, 1.0]))
    assert np.isnan(out["ratio"].values).all()
    assert np.isnan(out["ci_high"].values).all()
    assert int(out["different"][0]) == 0


def test_a_base_case_is_compared_with_every_point() -> None:
    base = launches([1.0, 1.0]).isel(point=0)
    out = ratio_of_medians(launches([2.0, 2.0], [4.0, 4.0]), base)
    assert out["ratio"].values.tolist() == [2.0, 4.0]


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
