"""Many tests at once: Benjamini and Hochberg's own example, and their rule written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.analysis.false_discovery import adjusted, fewest_together

PAPER = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
         0.7590, 1.0000]  # fmt: skip


def test_the_example_of_the_paper_has_its_four_discoveries() -> None:
    """Benjamini and Hochberg 1995, section 3.2: 15 tests, four are rejected at 5 %."""
    assert [q <= 0.05 for q in adjusted(PAPER)] == [True] * 4 + [False] * 11


def test_the_adjusted_values_are_those_of_scipy() -> None:
    """scipy 1.17.1: false_discovery_control(PAPER)"""
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714285714286, 0.06385714285714286, 0.0645, 0.0765,
                0.486, 0.5811818181818181, 0.714875, 0.7532307692307693, 0.8132142857142857, 1.0]  # fmt: skip
    assert adjusted(PAPER) == pytest.approx(expected)
    assert adjusted(PAPER[::-1]) == pytest.approx(expected[::-1])


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_a_test_is_a_discovery_where_the_step_up_rule_says_so(p: list[float], rate: float) -> None:
    m, ordered = len(p), sorted(p)
    k = max((i for i in range(1, m + 1) if ordered[i - 1] * m <= i * rate * (1 + 1e-12)), default=0)
    found = [q <= rate * (1 + 1e-12) for q in adjusted(p)]
    assert found == [k > 0 and value <= ordered[k - 1] for value in p]


def test_one_test_is_not_adjusted_and_none_is_no_trouble() -> None:
    assert adjusted([0.03]) == [0.03]
    assert adjusted([]) == []


def test_so_many_must_be_extreme_together_that_the_rule_would_find_them() -> None:
    assert fewest_together([1 / 252] * 250, 0.05) == 20
    assert adjusted([1 / 252] * 20 + [1.0] * 230)[0] <= 0.05 < adjusted([1 / 252] * 19 + [1.0] * 231)[0]
    assert fewest_together([0.01, 0.5, 0.5, 0.5], 0.05) == 1
    assert fewest_together([0.1] * 3, 0.05) is None
    assert fewest_together([], 0.05) is None
