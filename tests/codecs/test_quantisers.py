"""int8 and bf16: bit for bit what their definitions say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_building import VECTORISED
from codec_judgement import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from collpress.codecs import Codec

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def int8(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["int8"])


@pytest.fixture(scope="module")
def bf16(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["bf16"])


def round_trip(codec: Codec, values: Array) -> Array:
    return codec.decompress(codec.compress(values), values.size, values.dtype)


def nearest_bf16(value: float) -> float:
    """Round to nearest even by comparing the two neighbours in exact arithmetic."""
    bits_below = np.array(np.float32(value), np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    start = int(bits_below)
    best = None
    for candidate in (start - 0x10000, start, start + 0x10000):
        if candidate < 0 or (candidate & 0x7FFFFFFF) >= 0x7F800000 or (candidate ^ start) & 0x80000000:
            continue
        number = float(np.array(candidate, np.uint32).view(np.float32))
        key = (abs(number - value), (candidate >> 16) & 1)
        if best is None or key < best[0]:
            best = (key, number)
    assert best is not None
    return best[1]


@settings(max_examples=300)
@given(st.floats(-(2.0**127), 2.0**127, width=32))
def test_bf16_rounds_floats_to_nearest_even(bf16: Codec, value: float) -> None:
    assert round_trip(bf16, np.array([value], np.float32))[0] == np.float32(nearest_bf16(value))


def test_bf16_rounds_doubles_once(bf16: Codec) -> None:
    """A double just above a tie of two bfloat16 must go up, though as a float it is the tie itself."""
    tie = 1 + 2.0**-8
    values = np.array([tie, tie + 2.0**-40, tie - 2.0**-40, tie + 2.0**-7, -(tie + 2.0**-40), 1e300, -1e300, 1e-300])
    expected = [1.0, 1 + 2.0**-7, 1.0, 1 + 2.0**-6, -(1 + 2.0**-7), np.inf, -np.inf, 0.0]
    assert round_trip(bf16, values).tolist() == expected


def test_bf16_keeps_the_sign_of_nan_and_zero_and_what_fits_of_a_payload(bf16: Codec) -> None:
    values = np.array([0x7F800001, 0xFFC10000, 0x7FABCDEF, 0x80000000, 0x00000001], np.uint32).view(np.float32)
    assert bits(round_trip(bf16, values)).tolist() == [0x7FC00000, 0xFFC10000, 0x7FEB0000, 0x80000000, 0]


def test_bf16_overflow_is_stated(bf16: Codec) -> None:
    largest = float(np.array(0x7F7F0000, np.uint32).view(np.float32))
    assert np.isfinite(bf16.worst_error(largest))
    overflowing = float(np.array(0x7F7F8000, np.uint32).view(np.float32))
    assert np.isinf(round_trip(bf16, np.array([overflowing], np.float32))[0])
    assert np.isinf(bf16.worst_error(overflowing))
    below = np.nextafter(np.float32(overflowing), np.float32(0))
    assert round_trip(bf16, np.array([below], np.float32))[0] == np.float32(largest)


@pytest.mark.parametrize("largest", [1.0, 1.999, 3e38, 1e-3, 1e-38, 1e-41, 0.0])
def test_bf16_worst_error_is_reached_but_not_exceeded(bf16: Codec, largest: float) -> None:
    top = np.float32(largest)
    values = np.linspace(0, top, 100001, dtype=np.float32)
    error = float(np.abs(round_trip(bf16, values).astype(np.float64) - values).max())
    stated = bf16.worst_error(float(top))
    assert error <= stated
    assert stated <= max(2 * error, 2.0**-133)


@settings(max_examples=60)
@given(hnp.arrays("float32", st.integers(1, 400), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_int8_rounds_to_nearest_even_steps_of_its_groups(int8: Codec, values: Array) -> None:
    back = round_trip(int8, values)
    for start in range(0, values.size, 128):
        group = values[start : start + 128]
        scale = np.abs(group).max() / np.float32(127)
        scalable = scale >= np.finfo(np.float32).tiny
        expected = np.rint(group * (np.float32(1) / scale)) * scale if scalable else group
        assert np.array_equal(back[start : start + 128], expected)


def test_int8_keeps_groups_that_have_no_scale(int8: Codec) -> None:
    values = np.random.default_rng(0).standard_normal(1024).astype(np.float32)
    values[5], values[200], values[256:512] = np.nan, np.inf, 1e-40
    back = round_trip(int8, values)
    assert np.array_equal(bits(back)[:512], bits(values)[:512])
    assert not np.array_equal(back[512:], values[512:])


def test_sizes_on_the_wire(int8: Codec, bf16: Codec) -> None:
    values = np.random.default_rng(0).standard_normal(128 * 1000)
    assert int8.compress(values.astype(np.float32)).size == 32 + 1000 * (4 + 128)
    assert int8.compress(values).size == 32 + 1000 * (8 + 128)
    assert bf16.compress(values).size == bf16.compress(values.astype(np.float32)).size == 32 + 2 * values.size


@pytest.mark.parametrize("name", VECTORISED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vector_and_portable_loops_make_the_same_streams(plugins: dict[str, Path], name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(5001) * 2.0 ** rng.integers(-149, 128, 5001)).astype(dtype)
    values[::50], values[7::77] = 0.0, np.nan
    plain, portable = Codec(plugins[name]), Codec(plugins[f"{name}-portable"])
    stream = plain.compress(values)
    assert np.array_equal(stream, portable.compress(values))
    assert np.array_equal(
        bits(plain.decompress(stream, values.size, dtype)), bits(portable.decompress(stream, values.size, dtype))
    )
