"""Counts, moments, quantiles, entropies and the traces of narrower types: against closed forms and numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import card_of, field, normal, uniform
from hypothesis import given
from hypothesis import strategies as st

from collpress.cards import order as ordering
from collpress.cards.field import blocks
from collpress.cards.patterns import entropy, tally

ROUNDED = 1e-8
"""Relative: a card keeps nine digits."""


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The nearest values with eight significant bits, ties to even; by arithmetic, not by bits."""
    mantissa, exponent = np.frexp(values.astype(np.float32).astype(np.float64))
    return np.ldexp(np.rint(mantissa * 256) / 256, exponent)


@pytest.mark.parametrize(
    ("counts", "bits"),
    [
        ([1] * 256, 8.0),
        ([7, 7], 1.0),
        ([2, 1, 1], 1.5),
        ([5], 0.0),
        ([], 0.0),
        ([0, 3, 0], 0.0),
        ([8, 4, 2, 1, 1], 1.875),
    ],
)
def test_the_entropy_of_a_known_distribution_is_exact(counts: list[int], bits: float) -> None:
    assert entropy(np.array(counts, dtype=np.int64)) == pytest.approx(bits, abs=1e-12)


def test_byte_planes_of_counted_patterns_have_their_entropies() -> None:
    """Every lower half once under one upper half: two planes of 8 bits, two of none. Of all bytes, 254 have the share
    1/512, and the two of the upper half 1/4 more.
    """
    patterns = np.arange(1 << 16, dtype=np.uint32) | np.uint32(0x3F81_0000)
    bits = card_of(patterns.view(np.float32))["bits"]
    assert bits["byte_plane_entropy"] == [8, 8, 0, 0]
    assert bits["byte_entropy"] == pytest.approx(254 / 512 * 9 + 2 * 129 / 512 * math.log2(512 / 129), rel=ROUNDED)
    upper = np.arange(1 << 16, dtype=np.uint16)[:0x7F80]
    assert len(card_of(upper)["bits"]["byte_plane_entropy"]) == 2


def test_the_exponents_of_powers_of_two_have_their_entropy_and_place() -> None:
    bits = card_of(np.repeat([1.0, 2.0, -4.0, 8.0, 0.25], [8, 4, 2, 1, 1]))["bits"]
    assert bits["exponent_entropy"] == pytest.approx(1.875, rel=ROUNDED)
    assert bits["exponents"] == {"first": -2, "counts": [1, 0, 8, 4, 2, 1]}
    assert bits["trailing_zero_bits"][23] == 16


def test_bfloat16_entropies_are_those_of_the_nearest_bfloat16_values() -> None:
    values = np.concatenate([normal(20_000), np.float32(1) + np.arange(512) / np.float32(512)])  # with ties
    bits = card_of(values)["bits"]
    nearest = bfloat16(values)
    assert bits["bfloat16_entropy"] == pytest.approx(entropy(np.unique(nearest, return_counts=True)[1]), rel=ROUNDED)
    _, counts = np.unique(np.frexp(nearest)[1], return_counts=True)
    assert bits["exponent_entropy"] == pytest.approx(entropy(counts), rel=ROUNDED)


def test_moments_are_those_of_the_discrete_uniform_distribution() -> None:
    n = 4096  # sums of its fourth powers are exact in float64 to 2^-53
    values = card_of(np.arange(n))["values"]
    assert (values["minimum"], values["maximum"], values["mean"]) == (0, n - 1, (n - 1) / 2)
    assert values["std"] == pytest.approx(math.sqrt((n**2 - 1) / 12), rel=ROUNDED)
    assert values["skewness"] == pytest.approx(0, abs=1e-12)
    assert values["kurtosis"] == pytest.approx(3 * (3 * n**2 - 7) / (5 * (n**2 - 1)), rel=ROUNDED)
    assert values["norm"] == pytest.approx(math.sqrt((n - 1) * n * (2 * n - 1) / 6), rel=ROUNDED)


@pytest.mark.parametrize("at_once", [1 << 24, 1000, 7])
def test_quantiles_distinct_values_and_the_most_frequent_one_are_numpys_however_few_are_sorted_at_once(
    at_once: int,
) -> None:
    values = np.concatenate([np.round(normal(3000) * 50) / 7, np.zeros(500), [-0.0, 3e-41, -2e-44]]).astype(np.float32)
    made = field(values)
    found = ordering.order(made, tally(made), at_once)
    expected = np.quantile(values, ordering.PROBABILITIES, method="lower")
    assert found.quantiles == tuple(float(q) for q in expected)
    assert found.distinct == np.unique(values.view(np.uint32)).size
    most, counts = np.unique(values.view(np.uint32), return_counts=True)
    assert found.most_common_count == counts.max()
    assert found.most_common == float(most[counts.argmax()].view(np.float32))


def test_the_skewness_of_a_bernoulli_distribution_is_found_at_any_scale() -> None:
    values = card_of(np.repeat([0.0, 10.0], [300, 100]))["values"]
    assert values["skewness"] == pytest.approx((1 - 2 * 0.25) / math.sqrt(0.25 * 0.75), rel=ROUNDED)


def test_special_values_are_counted_and_left_out() -> None:
    values = np.array([1, 2, 3, np.nan, np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, 1e35, 1e35, 1e35], dtype=np.float32)
    made = card_of(values, missing=1e35)["values"]
    assert {key: made[key] for key in ("usable", "nan", "infinite", "missing")} == {
        "usable": 6, "nan": 2, "infinite": 2, "missing": 3
    }  # fmt: skip
    assert (made["zeros"], made["negative_zeros"], made["subnormal"]) == (2, 1, 1)
    assert (made["negative"], made["positive"], made["distinct"]) == (0, 4, 6)
    assert (made["minimum"], made["maximum"], made["mean"]) == (0, 3, pytest.approx(1, abs=1e-9))
    assert sum(card_of(values, missing=1e35)["histograms"]["whole"]["counts"]) == 6


def test_what_float16_cannot_hold_is_counted() -> None:
    """Below its smallest normal value 2⁻¹⁴, and from 2¹⁶ on."""
    float16 = card_of([2.0**-14, -(2.0**-15), 1e-9, 65504.0, 65536.0, -1e20, 0.0])["bits"]["float16"]
    assert float16 == {"subnormal": 2, "overflow": 2}


def looks(values: np.ndarray) -> dict[str, object]:
    return dict(card_of(values)["looks"])


def test_values_that_were_bfloat16_float16_or_tf32_are_told_and_one_value_that_was_not_is_noticed() -> None:
    values = normal(3000).astype(np.float32)
    assert looks(values)["widened_from"] is None
    narrow = {
        "bfloat16": bfloat16(values * np.float32(1e20)).astype(np.float32),
        "float16": values.astype(np.float16).astype(np.float32),
        "tf32": (np.abs(values * np.float32(1e10)).view(np.uint32) & np.uint32(0xFFFF_E000)).view(np.float32),
    }
    for name, made in narrow.items():
        assert looks(made)["widened_from"] == name
        made[1234] = np.float32(1 + 2**-11)  # ends in 12 zeros, one fewer than float16 leaves
        assert looks(made)["widened_from"] is None


def test_bfloat16_itself_is_not_called_widened() -> None:
    bits = (normal(3000).astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    assert card_of(bits)["looks"]["widened_from"] is None


def test_a_grid_of_steps_is_found_with_its_step_and_lost_with_one_value_beside_it() -> None:
    values = (np.round(uniform(20_000) * 100) / 8 + 250).astype(np.float32)
    assert looks(values) | {"widened_from": None} == {
        "widened_from": None, "step": 0.125, "steps_in_range": 100, "few_values": True
    }  # fmt: skip
    values[17] += np.float32(3e-5)
    assert looks(values)["step"] is None


def test_values_from_a_table_are_few_and_independent_ones_are_not() -> None:
    table = normal(64).astype(np.float32)
    assert looks(table[(uniform(20_000) * 64).astype(int)])["few_values"]
    assert not looks(normal(20_000))["few_values"]


def test_a_constant_one_value_and_no_value_have_cards_without_made_up_numbers() -> None:
    constant = card_of(np.full((4, 20), 0.1))
    assert constant["values"]["std"] == 0
    assert constant["values"]["kurtosis"] is None
    assert constant["lorenzo"]["predictors"][0]["bits_per_value"] == 0
    assert constant["lorenzo"]["predictors"][0]["estimated_ratio"] is None
    assert [a["autocorrelation"][0] for a in constant["axes"]] == [None, None]
    one = card_of([3.5])
    assert (one["values"]["mean"], one["values"]["distinct"], one["axes"][0]["lags"]) == (3.5, 1, [])
    nothing = card_of(np.full(50, np.nan))
    assert nothing["values"]["usable"] == 0
    assert {nothing["values"][k] for k in ("mean", "std", "minimum", "quantiles")} == {None}
    assert (nothing["lorenzo"]["predictors"], nothing["spectrum"], nothing["histograms"]["whole"]) == ([], None, None)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(0, 3), st.integers(1, 40))
def test_blocks_cover_every_value_once_and_are_no_larger_than_asked(shape: list[int], keep: int, limit: int) -> None:
    seen = np.zeros(shape, dtype=int)
    for block in blocks(tuple(shape), keep % len(shape), limit):
        seen[block] += 1
        assert seen[block].size <= limit
    assert (seen == 1).all()
