"""The built-in metrics say what NumPy says, whatever the data and however they are cut into chunks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from collpress.errors import CollpressError
from collpress.metrics import Metric

Array = npt.NDArray[np.float64]
NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False) | st.just(0.0)
LEVELS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
UNITS = {
    "psnr": ("dB",),
    "max_error": ("data", "1"),
    "nrmse": ("1",),
    "mae": ("data",),
    "cosine": ("1",),
    "bias": ("data", "1"),
    "error_quantiles": ("data",) * 4,
    "error_histogram": ("1",) * 42,
    "max_relative_error": ("1",) * 4,
    "ssim": ("1",) * 4,
    "spectral_error": ("1",) * 6,
    "error_autocorrelation": ("1",) * 5,
    "wasserstein": ("data", "1", "1"),
}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Array, Array]:
    """Expected values and others near them, as many, at least one; the errors are of any size."""
    count = draw(st.integers(1, 700))
    expected = draw(arrays(np.float64, count, elements=NUMBERS, fill=NUMBERS))
    errors = draw(arrays(np.float64, count, elements=st.floats(-1, 1, allow_subnormal=False), fill=st.just(0.0)))
    return expected, expected + errors * draw(st.sampled_from([1e-6, 1e-2, 1.0, 1e3]))


chunks = st.sampled_from([1, 7, 256, 257, 4096])


def values(metric: Metric, expected: Array, got: Array, bound: float = math.nan, chunk: int = 4096) -> dict[str, float]:
    return dict(metric.measure(expected, got, bound, chunk=chunk).values)


def same(value: float, right: float, *, rel: float = 1e-12, scale: float = 0.0) -> bool:
    """Equal but for rounding, or both undefined."""
    return (math.isnan(value) and math.isnan(right)) or math.isclose(value, right, rel_tol=rel, abs_tol=rel * scale)


def test_each_metric_states_its_values_and_units(metrics: dict[str, Metric]) -> None:
    assert {name: metric.units for name, metric in metrics.items()} == UNITS
    assert metrics["error_quantiles"].values == tuple(LEVELS)
    assert metrics["error_histogram"].values == ("below", *(f"b{n:02d}" for n in range(40)), "above")
    assert (metrics["max_error"].values, metrics["bias"].values) == (
        ("absolute", "relative"),
        ("bias", "bias_over_range"),
    )
    assert all(metric.summary for metric in metrics.values())


@given(data=pairs(), chunk=chunks)
def test_errors_are_summed_as_by_numpy(metrics: dict[str, Metric], data: tuple[Array, Array], chunk: int) -> None:
    expected, got = data
    error, span = got - expected, float(np.ptp(expected))
    scale = float(np.abs(error).max())
    assert same(values(metrics["mae"], expected, got, chunk=chunk)["mae"], float(np.abs(error).mean()))
    bias = values(metrics["bias"], expected, got, chunk=chunk)
    exact = math.fsum(error) / error.size
    assert same(bias["bias"], exact, scale=scale)
    assert same(bias["bias_over_range"], exact / span if span else math.nan, scale=scale / span if span else 0)


@given(data=pairs(), chunk=chunks)
def test_psnr_and_nrmse_are_by_the_range_of_the_expected_values(
    metrics: dict[str, Metric], data: tuple[Array, Array], chunk: int
) -> None:
    expected, got = data
    span = float(np.ptp(expected))
    with np.errstate(over="ignore"):
        nrmse = math.sqrt(math.fsum(((got - expected) / span) ** 2) / expected.size) if span else math.nan
    assert same(values(metrics["nrmse"], expected, got, chunk=chunk)["nrmse"], nrmse)
    psnr = values(metrics["psnr"], expected, got, chunk=chunk)["psnr"]
    assert same(psnr, -20 * math.log10(nrmse) if nrmse > 0 else math.nan, scale=100)


@given(data=pairs(), chunk=chunks)
def test_largest_errors_and_the_angle_are_those_of_numpy(
    metrics: dict[str, Metric], data: tuple[Array, Array], chunk: int
) -> None:
    expected, got = data
    error, apart = np.abs(got - expected), expected != 0
    largest = values(metrics["max_error"], expected, got, chunk=chunk)
    assert largest["absolute"] == error.max()
    relative = (error[apart] / np.abs(expected[apart])).max() if apart.any() else math.nan
    assert same(largest["relative"], float(relative))
    scale = float(np.abs(expected).max()) or 1.0
    with np.errstate(over="ignore"):
        lengths = float(np.linalg.norm(expected / scale) * np.linalg.norm(got / scale))
    cosine = float(np.dot(expected / scale, got / scale)) / lengths if 0 < lengths < math.inf else math.nan
    assert same(values(metrics["cosine"], expected, got, chunk=chunk)["cosine"], cosine, scale=1)


@given(data=pairs(), chunk=chunks)
def test_quantiles_are_within_their_stated_accuracy(
    metrics: dict[str, Metric], data: tuple[Array, Array], chunk: int
) -> None:
    expected, got = data
    error = np.sort(np.abs(got - expected))
    found = values(metrics["error_quantiles"], expected, got, chunk=chunk)
    for name, level in LEVELS.items():
        right = error[math.ceil(level * error.size) - 1]
        subnormal = abs(found[name] - right) <= 2.0**-1029  # the width of a bucket there
        assert subnormal or same(found[name], float(right), rel=2.0**-8), name


@given(data=pairs(), chunk=chunks, bound=st.floats(1e-7, 1e4))
def test_the_histogram_counts_errors_over_the_bound(
    metrics: dict[str, Metric], data: tuple[Array, Array], chunk: int, bound: float
) -> None:
    expected, got = data
    error = got - expected
    found = values(metrics["error_histogram"], expected, got, bound, chunk)
    assert sum(found.values()) == error.size
    assert found["below"] == np.count_nonzero(error < -bound)
    assert found["above"] == np.count_nonzero(error > bound)
    inside = error[np.abs(error) <= bound]
    place = np.minimum(((inside / bound + 1) * 20).astype(int), 39)
    assert [found[f"b{n:02d}"] for n in range(40)] == np.bincount(place, minlength=40).tolist()


def test_an_error_of_exactly_the_bound_lies_in_the_last_or_first_bin(metrics: dict[str, Metric]) -> None:
    for bound in (0.1, 1 / 3, 1e-30):
        expected, got = np.zeros(2), np.array([bound, -bound])
        found = values(metrics["error_histogram"], expected, got, bound)
        assert (found["b39"], found["b00"], found["above"], found["below"]) == (1, 1, 0, 0)


def test_sums_keep_what_naive_ones_lose(metrics: dict[str, Metric]) -> None:
    """One huge error and many tiny ones, in chunks as the core makes them."""
    got = np.full(3_000_001, 1e-9)
    got[0], got[-1] = 1e8, -1e8
    bias = values(metrics["bias"], np.zeros_like(got), got)["bias"]
    assert math.isclose(bias, math.fsum(got) / got.size, rel_tol=1e-4)
    assert not math.isclose(float(np.add.accumulate(got)[-1]) / got.size, bias, rel_tol=1e-3)


def test_errors_as_large_or_small_as_numbers_can_be_are_still_measured(metrics: dict[str, Metric]) -> None:
    for scale in (1e-300, 1e300):
        expected = np.array([0.0, 1.0, 0.5, 0.25]) * scale
        got = expected * 1.01
        assert same(values(metrics["nrmse"], expected, got)["nrmse"], 0.01 * math.sqrt(1.3125 / 4), rel=1e-9)
        assert same(values(metrics["cosine"], expected, got)["cosine"], 1.0)


@pytest.mark.parametrize(
    ("name", "data", "undefined", "problem"),
    [
        ("psnr", ([1, 2], [1, 2]), {"psnr"}, "every value is exact: the ratio is infinite"),
        ("psnr", ([1, 1], [1, 2]), {"psnr"}, "no finite range above 0"),
        ("nrmse", ([1, 1], [1, 2]), {"nrmse"}, "no finite range above 0"),
        ("bias", ([1, 1], [1, 2]), {"bias_over_range"}, "no finite range above 0"),
        ("max_error", ([0, 0], [1, 2]), {"relative"}, "every expected value is 0"),
        ("cosine", ([0, 0], [1, 2]), {"cosine"}, "are 0"),
        ("error_histogram", ([0, 1], [1, 2]), set(UNITS), "no bound above 0 is known"),
        ("mae", ([], []), {"mae"}, "there are no finite values"),
        ("psnr", ([], []), {"psnr"}, "there are no finite values"),
        ("error_quantiles", ([math.nan], [1]), set(LEVELS), "there are no finite values"),
    ],
)
def test_what_is_undefined_says_why(
    metrics: dict[str, Metric], name: str, data: tuple[Any, Any], undefined: set[str], problem: str
) -> None:
    expected, got = (np.array(part, dtype=np.float64) for part in data)
    measured = metrics[name].measure(expected, got, 0.0)
    missing = {value for value, number in measured.values.items() if math.isnan(number)}
    assert missing == (set(metrics[name].values) if name == "error_histogram" else undefined)
    assert problem in str(measured.problem)


def test_pairs_that_are_not_finite_are_left_out_but_count_for_the_range(metrics: dict[str, Metric]) -> None:
    expected = np.array([0.0, 10.0, math.nan, 1.0, math.inf])
    got = np.array([1.0, math.nan, 3.0, 1.0, math.inf])
    assert values(metrics["nrmse"], expected, got)["nrmse"] == pytest.approx(math.sqrt(1 / 2) / 10)


def test_mistakes_are_told(metrics: dict[str, Metric], tmp_path: Any) -> None:
    with pytest.raises(CollpressError, match="different shapes"):
        metrics["mae"].measure(np.zeros(2), np.zeros(3))
    with pytest.raises(CollpressError, match="cannot load the plugin"):
        Metric(tmp_path / "absent.so")
