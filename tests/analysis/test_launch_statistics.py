"""Statistics over launches: exact coverage, honest limits, missing launches left out."""

from __future__ import annotations

from itertools import product
from math import comb, isnan

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from collpress.analysis.statistics import CONFIDENCE, coverage, median_over, order_statistics


def over_launches(*values: float) -> xr.DataArray:
    return xr.DataArray(np.array([values], dtype=float), dims=["point", "launch"])


@pytest.mark.parametrize("n", range(1, 9))
def test_coverage_is_that_of_counting_all_outcomes(n: int) -> None:
    # each launch falls below or above the true median with equal chance: count the outcomes whose limits hold it
    low, high = order_statistics(n)
    held = sum(low < sum(below) <= high for below in product((0, 1), repeat=n))
    assert coverage(n) == pytest.approx(held / 2**n)


def test_five_launches_hold_the_median_with_93_75_percent() -> None:
    assert order_statistics(5) == (0, 4)
    assert coverage(5) == 0.9375


@given(st.integers(6, 200))
def test_from_six_launches_on_the_limits_hold_95_percent_and_are_the_narrowest_symmetric_ones(n: int) -> None:
    low, high = order_statistics(n)
    assert low + high == n - 1
    assert coverage(n) >= CONFIDENCE
    narrower = low + 1
    if narrower <= (n - 1) // 2:
        assert sum(comb(n, i) for i in range(narrower + 1, n - narrower)) / 2**n < CONFIDENCE


def test_the_median_and_the_range_of_five_launches() -> None:
    out = median_over(over_launches(5.0, 1.0, 2.0, 9.0, 3.0))
    assert [float(out[n][0]) for n in ("median", "ci_low", "ci_high", "coverage")] == [3.0, 1.0, 9.0, 0.9375]


def test_ten_launches_drop_the_extremes() -> None:
    out = median_over(over_launches(*range(1, 11)))
    assert (float(out.ci_low[0]), float(out.ci_high[0])) == (2.0, 9.0)


def test_a_launch_without_a_value_does_not_count() -> None:
    out = median_over(over_launches(5.0, np.nan, 1.0))
    assert float(out["median"][0]) == 3.0
    assert int(out["n"][0]) == 2
    assert float(out["coverage"][0]) == 0.5


def test_no_launch_gives_nothing() -> None:
    out = median_over(over_launches(np.nan, np.nan))
    assert isnan(float(out["median"][0]))
    assert isnan(float(out["coverage"][0]))
    assert int(out["n"][0]) == 0


def test_the_dimension_may_stand_anywhere() -> None:
    data = xr.DataArray(np.arange(24.0).reshape(2, 3, 4), dims=["a", "launch", "b"])
    out = median_over(data)
    assert out["median"].dims == ("a", "b")
    np.testing.assert_array_equal(out["median"], data.median("launch"))


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=12))
def test_the_median_lies_within_its_limits(values: list[float]) -> None:
    out = median_over(over_launches(*values))
    assert float(out["ci_low"][0]) <= float(out["median"][0]) <= float(out["ci_high"][0])


def test_no_value_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        order_statistics(0)
