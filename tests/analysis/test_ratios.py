"""The ratio of two medians over launches: exact bootstrap limits, and what they may be used to claim."""

from __future__ import annotations

from itertools import product
from math import comb, nan, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.analysis.ratios import _enough, _median_law, ratio_of_medians

times = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=6)


@given(st.lists(st.integers(1, 9).map(float), min_size=1, max_size=5).map(sorted))
def test_the_law_of_the_median_is_that_of_all_resamples(values: list[float]) -> None:
    medians = np.median(np.array(list(product(values, repeat=len(values)))), axis=1)
    found, chances = _median_law(np.array(values))
    assert chances.sum() == pytest.approx(1)
    for value in np.unique(medians):
        assert chances[found == value].sum() == pytest.approx(np.mean(medians == value))


@pytest.mark.parametrize("n", [20, 60, 101])
def test_many_launches_are_no_burden_and_lose_no_probability(n: int) -> None:
    found, chances = _median_law(np.arange(1.0, n + 1))
    assert chances.sum() == pytest.approx(1, abs=1e-7)
    assert float((found * chances).sum()) == pytest.approx((n + 1) / 2)


@given(times, times)
def test_limits_hold_the_ratio_and_lie_between_the_extremes(upper: list[float], lower: list[float]) -> None:
    ratio = ratio_of_medians(upper, lower)
    assert ratio.value == float(np.median(upper) / np.median(lower))
    if ratio.low is None or ratio.high is None:
        assert min(len(upper), len(lower)) == 1
        return
    assert min(upper) / max(lower) <= ratio.low <= ratio.value * (1 + 1e-12)
    assert ratio.value * (1 - 1e-12) <= ratio.high <= max(upper) / min(lower)


@given(times, times)
def test_turning_the_ratio_over_turns_the_limits_over(upper: list[float], lower: list[float]) -> None:
    there, back = ratio_of_medians(upper, lower), ratio_of_medians(lower, upper)
    assert back.value == pytest.approx(1 / there.value)
    if there.low is not None and there.high is not None:
        assert [back.low, back.high] == pytest.approx([1 / there.high, 1 / there.low])
    opposite = {"greater": "less", "less": "greater"}
    assert back.shown == opposite.get(there.shown, there.shown)


def test_launches_that_lie_apart_show_a_difference_and_mixed_ones_do_not() -> None:
    assert ratio_of_medians([2, 2.1, 2.2, 2.3, 2.4], [1, 1.1, 1.2, 1.3, 1.4]).shown == "greater"
    assert ratio_of_medians([1, 1.1, 1.2, 1.3, 1.4], [2, 2.1, 2.2, 2.3, 2.4]).shown == "less"
    assert ratio_of_medians([1, 1.1, 1.2, 2.3, 2.4], [1, 1.1, 1.2, 1.3, 1.4]).shown == "no difference"


@pytest.mark.parametrize(
    ("n", "choices", "shown"),
    [
        (1, 1, "unknown"),
        (3, 1, "unknown"),
        (4, 1, "unknown"),
        (5, 1, "greater"),
        (5, 6, "greater"),
        (5, 10, "unknown"),
        (6, 10, "greater"),
    ],
)
def test_too_few_launches_show_nothing_however_far_apart(n: int, choices: int, shown: str) -> None:
    slow, fast = [10.0 + i for i in range(n)], [1.0 + i / 10 for i in range(n)]
    assert ratio_of_medians(slow, fast, choices=choices).shown == shown


@pytest.mark.parametrize("n", [(5, 5), (5, 8), (6, 6)])
def test_a_rank_test_that_just_reaches_the_level_is_enough(n: tuple[int, int]) -> None:
    smallest = 2 / comb(sum(n), n[0])
    assert _enough(n, smallest)
    assert not _enough(n, nextafter(smallest, 0))


def test_the_best_of_many_must_be_better_than_the_best_of_one() -> None:
    slow, fast = [1.0, 1.15, 1.2, 1.25, 1.3], [1.02, 1.04, 1.06, 1.08, 1.1]
    alone, picked = (ratio_of_medians(slow, fast, choices=n) for n in (1, 12))
    assert None not in (alone.low, alone.high, picked.low, picked.high)
    assert (picked.low or 0) < (alone.low or 0)
    assert (picked.high or 0) >= (alone.high or 0)
    assert picked.confidence == pytest.approx(1 - 0.05 / 12)


def test_a_launch_without_a_value_does_not_count() -> None:
    assert ratio_of_medians([2.0, nan, 4.0], [1.0]).n == (2, 1)
    assert ratio_of_medians([2.0, nan, 4.0], [1.0]).value == 3.0


@pytest.mark.parametrize("bad", [[], [nan], [0.0, 1.0], [-1.0]])
def test_what_is_no_time_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        ratio_of_medians(bad, [1.0])


SEVEN, SIX = [2.0, 2.1, 2.2, 2.05, 2.15, 2.4, 1.95], [1.0, 1.1, 1.2, 1.05, 1.15, 0.9]


def test_the_limits_are_those_of_scipys_bootstrap() -> None:
    """scipy 1.17.1: bootstrap((SEVEN, SIX), ratio of medians, method="percentile", n_resamples=400000), three seeds."""
    ratio = ratio_of_medians(SEVEN, SIX)
    assert (ratio.low, ratio.high) == pytest.approx((1.7727272727272725, 2.210526315789474))


def test_the_limits_part_off_what_drawing_launches_again_and_again_parts_off() -> None:
    """A fortieth of 200 000 resamples at each end, within three standard errors."""
    rng, ratio = np.random.default_rng(7), ratio_of_medians(SEVEN, SIX)
    drawn = [np.median(rng.choice(side, (200_000, len(side))), axis=1) for side in (SEVEN, SIX)]
    ratios, error = drawn[0] / drawn[1], 3 * np.sqrt(0.025 * 0.975 / 200_000)
    assert ratio.low is not None
    assert ratio.high is not None
    assert np.mean(ratios < ratio.low - 1e-9) - error <= 0.025 <= np.mean(ratios < ratio.low + 1e-9) + error
    assert np.mean(ratios > ratio.high + 1e-9) - error <= 0.025 <= np.mean(ratios > ratio.high - 1e-9) + error
