"""fp16 and fp8: bit for bit what the formats' definitions say. (bf16 stands in test_quantisers.)"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec

Array = npt.NDArray[Any]
HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
E4M3 = [
    Fraction(m, 512) if e == 0 else Fraction(8 + m, 8) * Fraction(2) ** (e - 7) for e in range(16) for m in range(8)
]
"""The numbers of OCP's E4M3 from 0 up, in the order of their words; the last word is NaN."""


@pytest.fixture(scope="module")
def fp16(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["fp16"])


@pytest.fixture(scope="module")
def fp8(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["fp8"])


def round_trip(codec: Codec, values: Array) -> Array:
    return codec.decompress(codec.compress(values), values.size, values.dtype)


def nearest_e4m3(value: float) -> float:
    """To nearest, ties to the even word, in exact arithmetic."""
    words = range(len(E4M3) - 1)
    best = min(words, key=lambda word: (abs(E4M3[word] - abs(Fraction(value))), word & 1))
    return float(np.copysign(float(E4M3[best]), value))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fp16_keeps_every_half_and_rounds_between_any_two(fp16: Codec, dtype: str) -> None:
    finite = np.unique(HALVES[np.isfinite(HALVES)].astype(dtype))
    assert np.array_equal(bits(round_trip(fp16, finite)), bits(finite))
    tie = (finite[:-1] + finite[1:]) / 2
    for values in (tie, np.nextafter(tie, -np.inf, dtype=dtype), np.nextafter(tie, np.inf, dtype=dtype)):
        assert np.array_equal(bits(round_trip(fp16, values)), bits(values.astype(np.float16).astype(dtype)))


def test_fp16_rounds_doubles_once(fp16: Codec) -> None:
    """A double just above a tie of two halves must go up, though as a float it is the tie itself."""
    tie = 1 + 2.0**-11
    values = np.array([tie, tie + 2.0**-40, tie - 2.0**-40, 2.0**-25, 2.0**-25 + 2.0**-70, 1e300, -1e300, 1e-300])
    expected = [1.0, 1 + 2.0**-10, 1.0, 0.0, 2.0**-24, np.inf, -np.inf, 0.0]
    assert round_trip(fp16, values).tolist() == expected


def test_fp16_overflows_to_infinity_and_says_so(fp16: Codec) -> None:
    below, above = np.nextafter(np.float32(65520), np.float32(0)), np.float32(65520)
    assert round_trip(fp16, np.array([below, above, -above, np.inf], np.float32)).tolist() == [
        65504,
        np.inf,
        -np.inf,
        np.inf,
    ]
    assert np.isfinite(fp16.worst_error(float(below)))
    assert np.isinf(fp16.worst_error(65520.0))


def test_fp16_keeps_the_sign_of_nan_and_what_fits_of_its_payload(fp16: Codec) -> None:
    values = np.array([0x7F800001, 0xFFC10000, 0x7FABE000], np.uint32).view(np.float32)
    assert bits(round_trip(fp16, values)).tolist() == [0x7FC00000, 0xFFC10000, 0x7FEBE000]


def test_fp8_keeps_every_number_of_its_format(fp8: Codec) -> None:
    numbers = np.array([float(x) for x in E4M3[:-1]], np.float32)
    assert numbers[-1] == 448
    for values in (numbers, -numbers):
        assert np.array_equal(bits(round_trip(fp8, values)), bits(values))


@settings(max_examples=300)
@given(st.floats(-470, 470, width=32))
def test_fp8_rounds_to_nearest_even(fp8: Codec, value: float) -> None:
    assert round_trip(fp8, np.array([value], np.float32))[0] == nearest_e4m3(value)
    small = value * 2.0**-13
    assert round_trip(fp8, np.array([small]))[0] == nearest_e4m3(small)


def test_fp8_saturates_what_is_finite_and_keeps_nothing_of_what_is_not(fp8: Codec) -> None:
    back = round_trip(fp8, np.array([1e4, -3e38, np.inf, -np.inf, np.nan], np.float32))
    assert back[:2].tolist() == [448, -448]
    assert np.isnan(back[2:]).all()
    assert fp8.worst_error(1e4) == 1e4 - 448


@pytest.mark.parametrize("name", ["fp16", "fp8"])
@pytest.mark.parametrize("largest", [300.0, 1.999, 1.0, 1e-2, 1e-6, 1e-9, 0.0])
def test_the_worst_error_is_reached_but_not_exceeded(plugins: dict[str, Path], name: str, largest: float) -> None:
    codec = Codec(plugins[name])
    values = np.linspace(0, np.float32(largest), 100001, dtype=np.float32)
    error = float(np.abs(round_trip(codec, values).astype(np.float64) - values).max())
    stated = codec.worst_error(float(values[-1]))
    smallest_step = {"fp16": 2.0**-25, "fp8": 2.0**-10}[name]
    assert error <= stated
    assert stated <= max(2 * error, smallest_step)


def test_sizes_on_the_wire(fp16: Codec, fp8: Codec) -> None:
    values = np.random.default_rng(0).standard_normal(1000)
    assert (fp16.compress(values).size, fp8.compress(values).size) == (32 + 2000, 32 + 1000)
