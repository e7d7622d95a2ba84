"""The gate's statistics: what is called a regression, how often by chance, and how often a real one is found."""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
import numpy.typing as npt
import pytest

from collpress.analysis.comparison import Comparison, compare
from collpress.analysis.measured import Entry, Measured
from collpress.analysis.regression import RATE, judgement

Times = npt.NDArray[np.float64]


def side(times: Times) -> Measured:
    """A point a row, a launch a column."""
    entries = (
        Entry("e", None, None, {"point": i}, "ok", "", {"latency_median": tuple(map(float, row))})
        for i, row in enumerate(times)
    )
    return Measured({}, "", tuple(entries))


def simulated(
    seed: int, points: int, launches: int, slow: int = 0, factor: float = 1.0, spread: float = 0.05
) -> Comparison:
    """SIMULATED: log-normal times of one law on both sides, the first `slow` points of B longer by `factor`."""
    rng = np.random.default_rng(seed)
    a, b = (np.exp(spread * rng.standard_normal((points, launches))) for _ in range(2))
    b[:slow] *= factor
    return compare(side(a), side(b))


def slow_points(comparison: Comparison, threshold: float) -> set[int | str]:
    return {j.pair.factors["point"] for j in judgement(comparison, threshold).regressions}


TRIES = 200
BY_CHANCE = RATE + 3 * sqrt(RATE * (1 - RATE) / TRIES)


def test_where_nothing_differs_the_gate_fires_no_more_often_than_allowed() -> None:
    """10 points that follow one law: any regression at all in at most 5 % of all tries."""
    tries = [simulated(seed, points=10, launches=7) for seed in range(TRIES)]
    assert np.mean([bool(slow_points(c, 0.0)) for c in tries]) <= BY_CHANCE
    alone = [any(j.p <= RATE for j in judgement(c).judged) for c in tries]
    assert np.mean(alone) > 2 * BY_CHANCE, "the tries could not have told a gate without adjustment"


def test_what_is_exactly_as_slow_as_allowed_is_hardly_ever_a_regression() -> None:
    tries = [simulated(seed, points=5, launches=7, slow=5, factor=1.05) for seed in range(TRIES)]
    assert np.mean([bool(slow_points(c, 0.05)) for c in tries]) <= BY_CHANCE
    assert np.mean([bool(slow_points(c, 0.0)) for c in tries]) > BY_CHANCE


def test_each_point_alone_is_called_different_no_more_often_than_allowed() -> None:
    pairs = [pair for seed in range(60) for pair in simulated(seed, points=10, launches=7).pairs]
    assert np.mean([pair.verdict != "no difference shown" for pair in pairs]) <= 0.05


@pytest.mark.parametrize(("launches", "least"), [(7, 0.75), (10, 0.95)])
def test_one_point_in_ten_that_takes_a_fifth_longer_is_found(launches: int, least: float) -> None:
    """Launches differ by 5 %, 5 % are forgiven."""
    found = [slow_points(simulated(seed, 10, launches, slow=1, factor=1.2), 0.05) for seed in range(40)]
    assert np.mean([0 in points for points in found]) >= least
    assert np.mean([bool(points - {0}) for points in found]) <= 0.05


def test_points_that_became_faster_make_no_slower_ones() -> None:
    """Two-sided tests would count the faster points as discoveries, and allow as many false ones among the slower."""
    false = []
    for seed in range(60):
        comparison = simulated(seed, points=20, launches=7, slow=10, factor=0.5)
        false.append(bool(slow_points(comparison, 0.0)))
    assert np.mean(false) <= RATE + 3 * sqrt(RATE * (1 - RATE) / 60)


BASE = np.array([1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06])


def test_the_threshold_is_tested_and_not_only_the_ratio_compared_with_it() -> None:
    wide = np.array([1.0, 1.01, 1.02, 1.12, 1.3, 1.4, 1.5])
    comparison = compare(side(BASE[None]), side(wide[None]))
    assert comparison.pairs[0].ratio.value > 1.05
    assert slow_points(comparison, 0.05) == set()
    apart = compare(side(BASE[None]), side(1.2 * BASE[None]))
    assert slow_points(apart, 0.05) == {0}
    assert slow_points(apart, 0.25) == set()


def test_a_difference_that_only_the_limits_show_is_none() -> None:
    """The limits leave out 1, a one-sided rank test would say 2.7 %, the two-sided one says 5.3 %."""
    a, b = [0.9, 0.96, 0.97, 0.98, 1.0, 1.02, 1.03], [0.89, 1.01, 1.04, 1.09, 1.13, 1.15, 1.18]
    comparison = compare(side(np.array([a])), side(np.array([b])))
    (pair,) = comparison.pairs
    assert (pair.ratio.shown, pair.verdict) == ("greater", "no difference shown")
    assert pair.p == pytest.approx(0.05303, abs=1e-5)
    assert judgement(comparison).judged[0].q <= RATE
    assert slow_points(comparison, 0.0) == set()


def test_a_regression_beyond_the_threshold_that_only_the_ranks_show_is_none() -> None:
    """Ranks against 1.05 times A: 4.8 %; but the limits of the ratio begin at 1.01."""
    a, b = [0.89, 0.92, 0.94, 0.96, 1.0], [0.95, 1.06, 1.19, 1.2, 1.21]
    comparison = compare(side(np.array([a])), side(np.array([b])))
    assert (comparison.pairs[0].verdict, comparison.pairs[0].ratio.value > 1.05) == ("slower", True)
    assert judgement(comparison, 0.05).judged[0].q <= RATE
    assert slow_points(comparison, 0.05) == set()


def test_the_probabilities_of_a_hand_made_case() -> None:
    """All of B above 1.05 times all of A, and then not: one of C(14, 7) orders, and one-sided."""
    (judged,) = judgement(compare(side(BASE[None]), side(1.2 * BASE[None])), 0.05).judged
    assert judged.p == judged.q == pytest.approx(1 / comb(14, 7))
    two = judgement(compare(side(np.stack([BASE, BASE])), side(np.stack([1.2 * BASE, 0.999 * BASE]))), 0.05)
    assert two.judged[0].q == pytest.approx(2 / comb(14, 7))


def test_the_worst_regression_comes_first() -> None:
    comparison = compare(side(np.stack([BASE] * 3)), side(np.stack([1.2 * BASE, 1.5 * BASE, 1.3 * BASE])))
    assert [j.pair.factors["point"] for j in judgement(comparison).regressions] == [1, 2, 0]


def test_points_without_the_launches_or_measured_once_are_not_judged() -> None:
    short = compare(side(BASE[None, :4]), side(2 * BASE[None, :4]))
    assert (short.judged, judgement(short).regressions) == ([], [])
    assert "too few launches: 4 in A, 4 in B; 5 each" in short.pairs[0].reason
    same = compare(side(BASE[None]), side(BASE[None, ::-1]))
    assert same.pairs[0].same_launches
    assert same.pairs[0].verdict == "no difference shown"
    assert same.judged == []


@pytest.mark.parametrize(("points", "launches", "together", "enough"), [(250, 5, 20, 8), (10, 5, 1, 5), (1, 5, 1, 5)])
def test_it_is_known_what_so_few_launches_can_show(points: int, launches: int, together: int, enough: int) -> None:
    """C(10, 5) = 252: of 250 points 20 must be slower at once; C(16, 8) = 12870 lets one of 250 be shown alone."""
    rows = np.stack([BASE[:launches] * (1 + i / 1000) for i in range(points)])
    found = judgement(compare(side(rows), side(1.001 * rows)))
    assert (found.together, found.launches) == (together, enough)
    slower = rows * np.where(np.arange(points) < together, 1.5, 1.001)[:, None]
    assert len(judgement(compare(side(rows), side(slower))).regressions) == together
    fewer = rows * np.where(np.arange(points) < together - 1, 1.5, 1.001)[:, None]
    assert judgement(compare(side(rows), side(fewer))).regressions == []
