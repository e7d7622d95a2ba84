"""fp16: bit for bit what the format's definition says. (bf16 stands in test_quantisers.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits

from collpress.codecs import Codec

Array = npt.NDArray[Any]
HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.fixture(scope="module")
def fp16(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["fp16"])


def round_trip(codec: Codec, values: Array) -> Array:
    return codec.decompress(codec.compress(values), values.size, values.dtype)


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


@pytest.mark.parametrize("largest", [300.0, 1.999, 1.0, 1e-2, 1e-6, 1e-9, 0.0])
def test_the_worst_error_is_reached_but_not_exceeded(fp16: Codec, largest: float) -> None:
    values = np.linspace(0, np.float32(largest), 100001, dtype=np.float32)
    error = float(np.abs(round_trip(fp16, values).astype(np.float64) - values).max())
    stated = fp16.worst_error(float(values[-1]))
    assert error <= stated
    assert stated <= max(2 * error, 2.0**-25)


def test_sizes_on_the_wire(fp16: Codec) -> None:
    values = np.random.default_rng(0).standard_normal(1000)
    assert fp16.compress(values).size == fp16.compress(values.astype(np.float32)).size == 32 + 2000
