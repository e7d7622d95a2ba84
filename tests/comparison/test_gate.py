"""What makes a comparison fail, with which exit code and which words."""

from __future__ import annotations

import pytest
from made_up_comparison import BASE, FAST, LATER, SLOW, told

from collpress.comparison.gate import threshold
from collpress.comparison.told import Told
from collpress.errors import CollpressError


def failure(of: Told) -> CollpressError | None:
    try:
        of.gate.check(of.comparison, of.judgement, "A, B")
    except CollpressError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "share"),
    [("slower > 5 %", 0.05), ("slower>5%", 0.05), (" slower > 0 % ", 0.0), ("slower > 12.5 %", 0.125),
     ("slower > .5%", 0.005)],
)  # fmt: skip
def test_a_rule_is_a_share(text: str, share: float) -> None:
    assert threshold(text) == pytest.approx(share)


@pytest.mark.parametrize(
    "text", ["", "5%", "slower", "slower > 5", "slower < 5 %", "slower > -5 %", "slower > 1e3 %", "0"]
)
def test_what_is_no_rule_is_told_with_what_is(text: str) -> None:
    with pytest.raises(CollpressError, match="'slower > NUMBER %'"):
        threshold(text)


def test_who_asks_for_faster_is_told_how_to_ask() -> None:
    with pytest.raises(CollpressError, match="compare B with A"):
        threshold("faster > 5 %")


def test_a_regression_has_an_exit_code_of_its_own_and_names_point_metric_and_numbers() -> None:
    error = failure(told({8: BASE, 64: BASE}, {8: LATER, 64: SLOW}, 0.05))
    assert error is not None
    assert error.exit_code == 4
    assert "1 of 2 points are regressions (slower > 5 %, latency_median)" in str(error)
    assert "e: allreduce, library:ring, 64 B, 2 ranks: 1.3 times as long as A" in str(error)
    assert "1.35 us for 1.04 us" in str(error)


@pytest.mark.parametrize("b", [LATER, FAST])
def test_no_regression_no_failure(b: tuple[float, ...]) -> None:
    assert failure(told({8: BASE}, {8: b}, 0.05)) is None


def test_without_a_rule_a_slower_point_fails_nothing() -> None:
    of = told({8: BASE}, {8: SLOW})
    assert of.comparison.pairs[0].verdict == "slower"
    assert failure(of) is None


def test_a_slower_point_within_the_threshold_fails_nothing() -> None:
    assert failure(told({8: BASE}, {8: SLOW}, 0.35)) is None


def test_points_of_one_side_fail_only_where_all_are_required() -> None:
    for a, b in (({8: BASE, 64: BASE}, {8: LATER}), ({8: BASE}, {8: LATER, 64: BASE})):
        assert failure(told(a, b, 0.05)) is None
        error = failure(told(a, b, 0.05, require_all=True))
        assert error is not None
        assert error.exit_code == 3
        assert "1 points that one side has are not compared; the first: e: allreduce, library:ring, 64 B" in str(error)
        assert "does not have it" in str(error)


def test_a_point_that_failed_or_has_too_few_launches_is_missing_too() -> None:
    crashed = failure(told({8: BASE, 64: BASE}, {8: LATER, 64: "crashed"}, require_all=True))
    few = failure(told({8: BASE, 64: BASE}, {8: LATER, 64: SLOW[:3]}, require_all=True))
    assert "B crashed: why" in str(crashed)
    assert "too few launches: 8 in A, 3 in B" in str(few)


def test_what_cannot_be_done_on_either_side_is_not_missing() -> None:
    assert failure(told({8: BASE, 64: "unsupported"}, {8: LATER, 64: "unsupported"}, require_all=True)) is None
    assert failure(told({8: BASE, 64: "unsupported"}, {8: LATER}, require_all=True)) is None
    assert failure(told({8: BASE, 64: "unsupported"}, {8: LATER, 64: BASE}, require_all=True)) is not None


def test_a_regression_comes_before_what_is_missing_and_names_both() -> None:
    error = failure(told({8: BASE, 64: BASE}, {8: SLOW}, 0.05, require_all=True))
    assert error is not None
    assert error.exit_code == 4
    assert "besides, 1 points are not compared" in str(error)


@pytest.mark.parametrize(
    ("b", "rule", "said"),
    [
        ({64: BASE}, None, "no point is ok in both"),
        ({8: "crashed"}, None, "no point is ok in both"),
        ({8: "crashed"}, 0.05, "no point is ok in both"),
        ({8: SLOW[:4]}, 0.05, "none of 1 points has the launches to be judged"),
        ({8: BASE}, 0.05, "the very same launches: nothing was measured again"),
    ],
)
def test_what_could_not_have_failed_is_an_error_and_no_success(
    b: dict[int, tuple[float, ...] | str], rule: float | None, said: str
) -> None:
    error = failure(told({8: BASE}, b, rule))
    assert error is not None
    assert error.exit_code == 2
    assert said in str(error)


def test_points_that_were_not_measured_again_do_not_hide_one_that_was() -> None:
    """200 points at rest would need more launches than these, if they were evidence of anything."""
    at_rest = dict.fromkeys(range(1, 2001), BASE)
    of = told({4096: BASE, **at_rest}, {4096: SLOW, **at_rest}, 0.05)
    assert len(of.judgement.judged) == 1
    assert len(of.judgement.regressions) == 1
    assert "2000 of 2001 points have the very same launches in both: they were not measured again" in of.warnings
