"""Metrics that see more than each pair alone: windows, spectra, lags, distributions. Each against its definition."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.metrics import Metric

Array = npt.NDArray[np.float64]
CHUNKS = [1, 13, 64, 1000, 4096]


def smooth(rng: np.random.Generator, *shape: int) -> Array:
    """A field that varies slowly along each axis, far from 0."""
    field = rng.normal(size=shape)
    for axis in range(len(shape)):
        field = np.cumsum(field, axis=axis)
    return np.asarray(field + 300)


def said(metric: Metric, expected: Array, got: Array, chunk: int = 4096) -> dict[str, float]:
    return dict(metric.measure(expected, got, chunk=chunk).values)


def similarity(x: Array, y: Array) -> float:
    """Equation 13 of Wang et al. of one window; values in units of the range, from the smallest on."""
    covariance = np.cov(x.ravel(), y.ravel())
    c1, c2 = 0.01**2, 0.03**2
    luminance = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
    return float(luminance * (2 * covariance[0, 1] + c2) / (covariance[0, 0] + covariance[1, 1] + c2))


def windows(expected: Array, got: Array) -> list[float]:
    """Of each 8 x 8 window of each plane, or of each window of 64 values along one axis."""
    x, y = ((values - expected.min()) / np.ptp(expected) for values in (expected, got))
    if x.ndim == 1:
        return [similarity(x[i : i + 64], y[i : i + 64]) for i in range(0, x.size - 63, 32)]
    planes = zip(x.reshape(-1, *x.shape[-2:]), y.reshape(-1, *y.shape[-2:]), strict=True)
    return [
        similarity(a[i : i + 8, j : j + 8], b[i : i + 8, j : j + 8])
        for a, b in planes
        for i in range(0, a.shape[0] - 7, 4)
        for j in range(0, a.shape[1] - 7, 4)
    ]


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("shape", [(23, 37), (8, 8), (5, 9, 11), (2, 3, 17, 16), (1000,), (64,), (1, 30, 1, 20)])
def test_structural_similarity_is_that_of_its_windows(
    metrics: dict[str, Metric], shape: tuple[int, ...], chunk: int
) -> None:
    rng = np.random.default_rng(len(shape))
    expected = smooth(rng, *shape)
    got = expected + rng.normal(size=shape) * 0.1 * np.ptp(expected) * rng.random(shape)
    right = windows(expected.squeeze(), got.squeeze())
    found = said(metrics["ssim"], expected, got, chunk)
    assert found["windows"] == len(right)
    assert found["axes"] == min(2, expected.squeeze().ndim)
    assert math.isclose(found["mean"], float(np.mean(right)), rel_tol=1e-9)
    assert math.isclose(found["least"], min(right), rel_tol=1e-9)
    assert min(right) < 0.999


def test_without_room_for_a_window_in_its_planes_a_field_is_taken_as_one_row(metrics: dict[str, Metric]) -> None:
    rng = np.random.default_rng(3)
    for shape in ((400, 7), (7, 400), (50, 7, 30), (4, 5, 6)):
        expected = smooth(rng, *shape)
        got = expected + rng.normal(size=shape)
        found = said(metrics["ssim"], expected, got)
        assert found["axes"] == 1
        assert math.isclose(found["mean"], float(np.mean(windows(expected.ravel(), got.ravel()))), rel_tol=1e-9)


def test_similarity_is_1_of_the_same_and_does_not_know_units(metrics: dict[str, Metric]) -> None:
    rng = np.random.default_rng(4)
    kelvin = smooth(rng, 40, 50)
    assert said(metrics["ssim"], kelvin, kelvin)["mean"] == 1
    other = kelvin + rng.normal(size=kelvin.shape)
    first, second = (said(metrics["ssim"], 1.8 * t - 459.67, 1.8 * o - 459.67) for t, o in ((kelvin, other),) * 2)
    assert first == second
    assert math.isclose(first["mean"], said(metrics["ssim"], kelvin, other)["mean"], rel_tol=1e-9)
    shuffled = rng.permutation(kelvin.ravel()).reshape(kelvin.shape)
    assert said(metrics["ssim"], kelvin, shuffled)["mean"] < 0.5


def power(values: Array, length: int) -> Array:
    """Sum over the windows of |FFT|^2, by waves a window."""
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
    starts = range(0, values.size - length + 1, length // 2)
    pieces = [values[i : i + length] for i in starts]
    return np.asarray(sum(np.abs(np.fft.rfft((p - p.mean()) * hann)) ** 2 for p in pieces))


@pytest.mark.parametrize("count", [64, 65, 1000, 4096, 20_000])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_spectra_are_compared_by_octaves(metrics: dict[str, Metric], count: int, chunk: int) -> None:
    rng = np.random.default_rng(count)
    expected = smooth(rng, count)
    got = expected + rng.normal(size=count) + 5
    length = min(4096, 1 << (count.bit_length() - 1))
    before, after = power(expected, length), power(got, length)
    edges = [length // 2, length // 4, length // 8, length // 16, length // 32, 0]
    right = [
        after[low + 1 : high + 1].sum() / before[low + 1 : high + 1].sum() - 1
        for high, low in itertools.pairwise(edges)
    ]
    largest = np.abs(after / np.where(before > 0, before, 1) - 1)[1 : length // 8 + 1].max()
    found = list(said(metrics["spectral_error"], expected, got, chunk).values())
    assert found == pytest.approx([*right, largest], rel=1e-6)
    assert abs(right[0]) > 1e-3


def test_a_wave_that_is_lost_is_missed_in_its_octave_and_a_bias_in_none(metrics: dict[str, Metric]) -> None:
    at = 2 * np.pi * np.arange(3 * 4096)
    slow, fast = np.sin(at / 512), np.sin(at * 0.2)
    grain = 1e-3 * np.random.default_rng(9).normal(size=at.size)
    found = said(metrics["spectral_error"], slow + fast + grain, slow + grain + 100)
    assert found["octave_2"] < -0.99
    assert [abs(found[name]) < 0.01 for name in ("octave_1", "octave_3", "octave_4", "below")] == [True] * 4
    assert math.isclose(said(metrics["spectral_error"], slow + grain, 1.1 * (slow + grain))["below"], 0.21)


def lagged(error: Array, lag: int) -> float:
    rest = error - error.mean()
    return float((rest[:-lag] * rest[lag:]).sum() / (rest**2).sum())


@settings(max_examples=30)
@given(
    count=st.integers(65, 9000),
    chunk=st.sampled_from(CHUNKS),
    offset=st.sampled_from([0.0, 1e-3, 1e3]),
    memory=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_errors_are_correlated_with_those_before_them(
    metrics: dict[str, Metric], count: int, chunk: int, offset: float, memory: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    error = rng.normal(size=count)
    error = offset + error + memory * np.concatenate([[0], error[:-1]])
    expected = smooth(rng, count)
    got = expected + error
    right = [lagged(got - expected, lag) for lag in range(1, 65)]
    found = said(metrics["error_autocorrelation"], expected, got, chunk)
    assert list(found.values()) == pytest.approx(
        [right[0], right[1], right[3], right[7], np.abs(right).max()], rel=1e-6, abs=1e-7
    )


def test_a_run_of_errors_is_correlated_and_noise_is_not(metrics: dict[str, Metric]) -> None:
    rng = np.random.default_rng(1)
    count = 100_000
    noise = said(metrics["error_autocorrelation"], np.zeros(count), rng.normal(size=count))
    assert noise["largest"] < 5 / math.sqrt(count)
    steps = np.repeat(rng.normal(size=count // 100), 100)
    assert said(metrics["error_autocorrelation"], np.zeros(count), steps)["lag_8"] > 0.9


@settings(max_examples=30)
@given(count=st.integers(1, 3000), chunk=st.sampled_from(CHUNKS), seed=st.integers(0, 99))
def test_distributions_are_as_far_apart_as_their_sorted_values(
    metrics: dict[str, Metric], count: int, chunk: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    expected = rng.normal(size=count)
    got = expected + rng.laplace(size=count)
    right = float(np.abs(np.sort(expected) - np.sort(got)).mean())
    found = said(metrics["wasserstein"], expected, got, chunk)
    assert math.isclose(found["w1"], right, rel_tol=1e-12)
    assert found["every"] == 1
    if count > 1:
        assert math.isclose(found["w1_over_range"], right / np.ptp(expected), rel_tol=1e-12)


def test_of_many_pairs_every_second_is_kept_and_it_is_said(metrics: dict[str, Metric]) -> None:
    count = (1 << 22) + 5
    expected = np.random.default_rng(2).random(count)
    got = expected + np.where(np.arange(count) % 2, 50.0, 0.25)
    found = said(metrics["wasserstein"], expected, got, 1001)
    assert (found["every"], found["w1"]) == (2, pytest.approx(0.25))


def test_values_that_change_places_have_the_distribution_that_they_had(metrics: dict[str, Metric]) -> None:
    values = np.random.default_rng(6).normal(size=500)
    assert said(metrics["wasserstein"], values, values[::-1].copy())["w1"] == 0


def test_relative_errors_are_of_what_is_not_0_and_zeros_are_counted(metrics: dict[str, Metric]) -> None:
    expected = np.array([0.0, 0.0, -0.0, 1.0, -4.0, 1e-3] * 500)
    got = np.array([0.0, 1e-9, 0.0, 1.1, -4.0, 2e-3] * 500)
    for chunk in CHUNKS:
        found = said(metrics["max_relative_error"], expected, got, chunk)
        assert found == {
            "largest": pytest.approx(1.0),
            "mean": pytest.approx(1.1 / 3),
            "zeros": 1500,
            "zeros_missed": 500,
        }


RISING = list(range(100))


@pytest.mark.parametrize(
    ("name", "data", "undefined", "problem"),
    [
        ("max_relative_error", ([0, 0], [1, 0]), {"largest", "mean"}, "every expected value is 0"),
        ("max_relative_error", ([1e-300], [1e300]), {"largest", "mean"}, "too large beside its expected value"),
        ("max_relative_error", ([], []), {"largest", "mean", "zeros", "zeros_missed"}, "no finite values"),
        ("ssim", (RISING[:63], RISING[:63]), {"mean", "least"}, "fewer than the 64 values"),
        ("ssim", ([2] * 70, RISING[:70]), {"mean", "least"}, "no finite range above 0"),
        ("spectral_error", (RISING[:63], RISING[:63]), "all", "fewer than the 64 values"),
        ("spectral_error", ([2] * 70, RISING[:70]), "all", "no finite range above 0"),
        ("error_autocorrelation", (RISING[:64], [0] * 64), "all", "no more than 64 values"),
        ("error_autocorrelation", (RISING, RISING), "all", "every value is exact"),
        ("error_autocorrelation", ([0] * 100, [2] * 100), "all", "all errors are the same"),
        ("error_autocorrelation", ([0] * 100, [1e300, -1e300] * 50), "all", "too large beside"),
        ("wasserstein", ([1, 1], [1, 2]), {"w1_over_range"}, "no finite range above 0"),
        ("wasserstein", ([], []), {"w1", "w1_over_range"}, "no finite values"),
    ],
)
def test_what_cannot_be_said_of_the_structure_is_said_why(
    metrics: dict[str, Metric], name: str, data: tuple[Any, Any], undefined: Any, problem: str
) -> None:
    expected, got = (np.array(part, dtype=np.float64) for part in data)
    measured = metrics[name].measure(expected, got)
    missing = {value for value, number in measured.values.items() if not math.isfinite(number)}
    assert missing == (set(metrics[name].values) if undefined == "all" else undefined)
    assert problem in str(measured.problem)
