"""fp8: bit for bit what the two formats' definition says, scaled or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codec_judgement import bits, violations
from codec_trips import HEADER, Array, gradient, round_trip, stated, stream_of

from collpress.codecs import Codec

F = np.float32
PLAIN: dict[str, Any] = {"scale": "none"}
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


@pytest.fixture
def fp8(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["fp8"])


@pytest.fixture(params=["e4m3", "e5m2"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def table(kind: str) -> Array:
    """The values of all 256 bytes, after Table 1 of the formats' paper; float64."""
    mantissa_bits, bias = (3, 7) if kind == "e4m3" else (2, 15)
    values = []
    for code in range(256):
        exponent, mantissa = code >> mantissa_bits & (0x7F >> mantissa_bits), code & ((1 << mantissa_bits) - 1)
        if kind == "e5m2" and exponent == 31:
            value = np.inf if mantissa == 0 else np.nan
        elif kind == "e4m3" and code & 0x7F == 0x7F:
            value = np.nan
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        values.append(-value if code & 0x80 else value)
    return np.array(values)


def test_the_table_ends_where_the_paper_says(kind: str) -> None:
    finite = table(kind)[np.isfinite(table(kind))]
    assert finite.max() == LARGEST[kind]
    assert finite[finite > 0].min() == (2.0**-9 if kind == "e4m3" else 2.0**-16)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_byte_comes_back_and_between_any_two_values_the_nearest(fp8: Codec, kind: str, dtype: str) -> None:
    """At a tie the even one; a hair beside it never."""
    values = table(kind)
    finite = np.isfinite(values)
    exact = values[finite].astype(dtype)
    assert np.array_equal(bits(round_trip(fp8, exact, format=kind, **PLAIN)), bits(exact))
    codes = np.flatnonzero(finite & (np.arange(256) < 127))[:-1]
    low, high = values[codes], values[codes + 1]
    tie = ((low + high) / 2).astype(dtype)
    even = np.where(codes % 2 == 0, low, high)
    for sign in (1, -1):
        for given, expected in (
            (tie, even),
            (np.nextafter(tie, np.inf).astype(dtype), high),
            (np.nextafter(tie, -np.inf).astype(dtype), low),
        ):
            back = round_trip(fp8, (sign * given).astype(dtype), format=kind, **PLAIN)
            assert np.array_equal(bits(back), bits((sign * expected).astype(dtype)))


def test_a_byte_is_the_formats_own(fp8: Codec, kind: str) -> None:
    values = table(kind)
    finite = np.flatnonzero(np.isfinite(values))
    stream = stream_of(fp8, values[finite].astype(F), format=kind, **PLAIN)
    assert np.array_equal(stream[HEADER + 2 :], finite)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_too_large_escapes_or_becomes_the_largest(fp8: Codec, kind: str, dtype: str) -> None:
    largest, step = LARGEST[kind], LARGEST[kind] / (14 if kind == "e4m3" else 7)
    still = np.nextafter(np.array(largest + step / 2, dtype), np.array(0, dtype))  # rounds to the largest
    values = np.array([1.0625, still, -(largest + step), 3e38], dtype)
    escaped = round_trip(fp8, values, format=kind, **PLAIN)
    assert np.array_equal(escaped, values)
    held = round_trip(fp8, values[:2], format=kind, **PLAIN)
    assert held.tolist() == [1.0, largest]
    saturated = round_trip(fp8, values, format=kind, overflow="saturate", **PLAIN)
    assert saturated.tolist() == [1.0, largest, -largest, largest]
    bound = stated(fp8, values, format=kind, overflow="saturate", **PLAIN)
    assert violations(values, saturated, bound) == []
    assert np.isfinite(bound)
    assert stated(fp8, values, format=kind, **PLAIN) <= step / 2  # what escapes is exact


@pytest.mark.parametrize("scale", ["none", "group"])
@pytest.mark.parametrize("overflow", ["escape", "saturate"])
def test_infinities_and_nan_come_back_with_their_signs(fp8: Codec, kind: str, overflow: str, scale: str) -> None:
    values = np.array([1, np.nan, -np.nan, np.inf, -np.inf, -0.0, 2], F)
    back = round_trip(fp8, values, format=kind, overflow=overflow, scale=scale)
    assert np.array_equal(back, values, equal_nan=True)
    assert np.array_equal(np.signbit(back), np.signbit(values))
    escapes = kind == "e4m3"
    assert stream_of(fp8, values, format=kind, overflow=overflow).size == HEADER + 2 + 7 * (4 if escapes else 1)


@pytest.mark.parametrize("power", [-100, -30, 7, 90])
def test_a_group_is_scaled_by_a_power_of_two_and_so_keeps_its_digits(fp8: Codec, kind: str, power: int) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 256).astype(F)
    back = round_trip(fp8, values, format=kind)
    assert np.array_equal(round_trip(fp8, values * F(2.0**power), format=kind), back * F(2.0**power))
    exponent = int(stream_of(fp8, values, format=kind)[HEADER : HEADER + 2].view(np.int16)[0])
    top = np.abs(values).max() / 2.0**exponent
    assert LARGEST[kind] / 2 < top <= LARGEST[kind]
    values /= F(2.0**exponent)
    assert np.array_equal(back / F(2.0**exponent), round_trip(fp8, values, format=kind, **PLAIN))


def test_scaled_gradients_survive_that_a_plain_cast_would_lose(fp8: Codec) -> None:
    values = gradient(4096) * F(1e-4)
    assert not round_trip(fp8, values, **PLAIN).any()
    back = round_trip(fp8, values)
    assert np.abs(back - values).max() <= np.abs(values).max() / 16


@pytest.mark.parametrize("scale", ["none", "group"])
@pytest.mark.parametrize("largest", [1.0, 1.99, 440.0, 300.0, 1e-3, 1e-30])
def test_the_stated_error_is_reached_but_not_exceeded(fp8: Codec, kind: str, largest: float, scale: str) -> None:
    values = np.linspace(0, largest, 100_001).astype(F)
    error = float(np.abs(round_trip(fp8, values, format=kind, scale=scale).astype(float) - values).max())
    bound = stated(fp8, values, format=kind, scale=scale)
    assert error <= bound
    assert bound <= 2.1 * error or bound == 2.0 ** (-10 if kind == "e4m3" else -17)


def test_a_group_takes_two_bytes_and_one_for_each_value(fp8: Codec) -> None:
    assert stream_of(fp8, gradient(5000)).size == HEADER + 20 * 2 + 5000
    tiny = np.full(300, 1e-42, F)  # out of reach of the scale: as they are
    assert stream_of(fp8, tiny).size == HEADER + 2 * 2 + 4 * 300
    assert np.array_equal(round_trip(fp8, tiny), tiny)
