"""The exact rank test: the numbers of scipy, and of every way to deal out the ranks by hand."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.analysis.mann_whitney import mann_whitney, smallest_p

few = st.lists(st.integers(1, 6).map(float), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("x", "y", "greater", "less", "two_sided"),
    [
        ([2.0, 2.1, 2.2, 2.3, 2.4], [1.9, 2.05, 2.15, 1.8, 2.25],
         0.1111111111111111, 0.9246031746031745, 0.2222222222222222),
        ([1.2, 3.4, 2.2, 5.0, 4.1, 2.8], [1.0, 2.0, 3.0, 1.5, 0.5, 2.5, 1.1],
         0.02564102564102564, 0.9825174825174825, 0.05128205128205128),
    ],
)  # fmt: skip
def test_the_probabilities_are_those_of_scipy(
    x: list[float], y: list[float], greater: float, less: float, two_sided: float
) -> None:
    """scipy 1.17.1: mannwhitneyu(x, y, alternative=..., method="exact").pvalue"""
    found = mann_whitney(x, y)
    assert (found.greater, found.less, found.two_sided) == pytest.approx((greater, less, two_sided), rel=1e-12)


@given(few, few)
def test_with_equal_values_too_they_are_those_of_all_ways_to_deal_out_the_values(
    x: list[float], y: list[float]
) -> None:
    together = np.array([*x, *y])
    ranks = np.array([np.mean(np.flatnonzero(np.sort(together) == value)) for value in together])
    sums = np.array([ranks[list(chosen)].sum() for chosen in combinations(range(len(together)), len(x))])
    observed = ranks[: len(x)].sum()
    found = mann_whitney(x, y)
    assert found.greater == pytest.approx(np.mean(sums >= observed - 1e-9))
    assert found.less == pytest.approx(np.mean(sums <= observed + 1e-9))


@pytest.mark.parametrize("n", [(5, 5), (6, 8), (30, 30)])
def test_sides_that_lie_apart_have_the_smallest_probability_that_there_is(n: tuple[int, int]) -> None:
    above, below = [100.0 + i for i in range(n[0])], [float(i) for i in range(n[1])]
    assert mann_whitney(above, below).greater == pytest.approx(1 / comb(sum(n), n[0]))
    assert mann_whitney(above, below).two_sided == pytest.approx(smallest_p(n)) == pytest.approx(2 / comb(sum(n), n[0]))
    assert mann_whitney(above, below).less == 1


@given(few, few)
def test_turning_the_sides_over_turns_the_answer_over(x: list[float], y: list[float]) -> None:
    there, back = mann_whitney(x, y), mann_whitney(y, x)
    assert (there.greater, there.less) == pytest.approx((back.less, back.greater))


def test_equal_values_everywhere_show_nothing() -> None:
    assert mann_whitney([1.0] * 5, [1.0] * 5).two_sided == 1


def test_a_side_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="both sides"):
        mann_whitney([], [1.0])
