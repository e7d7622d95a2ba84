"""Sizes, durations, shares and ranges as people write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.errors import CollpressError
from collpress.spec.quantities import (
    LARGEST,
    SIZE_PATTERN,
    format_size,
    parse_duration,
    parse_range,
    parse_share,
    parse_size,
)


@pytest.mark.parametrize(
    ("written", "size"),
    [(8, 8), ("8", 8), ("64Ki", 65536), ("2Mi", 2**21), ("1.5Ki", 1536), ("1 KiB", 1024), ("0", 0), (LARGEST, LARGEST)],
)
def test_a_size_is_whole_bytes_with_binary_prefixes(written: object, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "written", ["1MB", "1.5", "0.3Ki", "-8", -8, "", "Ki", "1e3", True, None, 1.5, "8Ei", "9223372036854775808"]
)
def test_anything_else_is_no_size(written: object) -> None:
    with pytest.raises(CollpressError):
        parse_size(written)


def test_a_decimal_prefix_is_answered_with_the_binary_one() -> None:
    with pytest.raises(CollpressError, match='fix: "64Ki" if binary multiples are meant'):
        parse_size("64KB")


@given(st.integers(0, LARGEST))
def test_a_formatted_size_reads_back(number: int) -> None:
    text = format_size(number)
    assert parse_size(text) == number
    assert re.fullmatch(SIZE_PATTERN, text)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("2 s", 2), (2, 2), (0.5, 0.5), ("50 ms", 0.05), ("20us", 2e-5), ("1.5 min", 90), ("1h", 3600)],
)
def test_a_duration_has_a_unit_or_is_in_seconds(written: object, seconds: float) -> None:
    assert parse_duration(written) == seconds


@pytest.mark.parametrize("written", ["0 s", 0, -1, "-1 s", "2 years", "", None, True, float("nan"), float("inf")])
def test_a_duration_is_above_zero(written: object) -> None:
    with pytest.raises(CollpressError):
        parse_duration(written)


@pytest.mark.parametrize(("written", "share"), [("5%", 0.05), ("0.5 %", 0.005), (0.05, 0.05), ("0.05", 0.05)])
def test_a_share_is_a_percentage_or_a_fraction(written: object, share: float) -> None:
    assert parse_share(written) == pytest.approx(share)


@pytest.mark.parametrize("written", ["0%", "100%", 0, 1, 5, "five", "nan", None, True])
def test_a_share_lies_between_nothing_and_all(written: object) -> None:
    with pytest.raises(CollpressError):
        parse_share(written)


def _sizes(text: str) -> list[int]:
    return list(parse_range(text, parse_size, format_size))


def test_a_range_multiplies_or_adds() -> None:
    assert _sizes("8 .. 512 x8") == [8, 64, 512]
    assert _sizes("8..2Mi x8") == [8, 64, 512, 4096, 32768, 262144, 2097152]
    assert _sizes("1 .. 4 +1") == [1, 2, 3, 4]
    assert _sizes("4 .. 4 x2") == [4]


def test_a_range_that_misses_its_end_names_the_neighbours() -> None:
    with pytest.raises(CollpressError, match="misses its end 1Mi: its neighbours are 256Ki and 2Mi") as error:
        _sizes("8 .. 1Mi x8")
    assert error.value.fix == '"8 .. 256Ki x8" or "8 .. 2Mi x8"'
    with pytest.raises(CollpressError, match="misses its end 8: its neighbours are 7 and 10"):
        _sizes("1 .. 8 +3")


@pytest.mark.parametrize(
    "text", ["8 .. 4 x2", "8 .. 64 x1", "0 .. 8 x2", "1 .. 8 +0", "1 .. 8", "1 .. 8 *2", ".. 8 x2", "1 .. 2Gi +1"]
)
def test_a_range_that_runs_backwards_never_moves_or_never_ends_is_refused(text: str) -> None:
    with pytest.raises(CollpressError):
        _sizes(text)


@given(st.integers(1, 1000), st.integers(2, 9), st.integers(0, 12))
def test_a_geometric_range_ends_where_it_says(first: int, factor: int, steps: int) -> None:
    values = _sizes(f"{first} .. {first * factor**steps} x{factor}")
    assert values == [first * factor**k for k in range(steps + 1)]


@given(st.integers(0, 1000), st.integers(1, 50), st.integers(0, 200), st.integers(1, 49))
def test_an_arithmetic_range_ends_where_it_says_or_is_refused(first: int, step: int, steps: int, off: int) -> None:
    assert _sizes(f"{first} .. {first + step * steps} +{step}") == [first + step * k for k in range(steps + 1)]
    if off % step:
        with pytest.raises(CollpressError, match="misses its end"):
            _sizes(f"{first} .. {first + step * steps + off} +{step}")
