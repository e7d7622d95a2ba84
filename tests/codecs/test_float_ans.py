"""float-ans: every bit pattern of every format, and as many bytes as the exponents' entropy asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from collpress.codecs import Codec, CodecContext
from collpress.errors import CollpressError

Array = npt.NDArray[Any]
FORMATS = {"float32": (8, 23), "float64": (11, 52), "float16": (5, 10), "bfloat16": (8, 7)}
"""Bits of exponent and mantissa."""
CHUNK, HEADER, CHUNK_HEADER = 65536, 32, 12


@pytest.fixture(scope="module")
def float_ans(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["float-ans"])


@pytest.fixture(params=FORMATS)
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def normal(dtype: str, n: int) -> Array:
    """Normally distributed values, as bits."""
    values = np.random.default_rng(1).standard_normal(n)
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    made = values.astype(dtype)
    return made.view(f"u{made.itemsize}")


def stream_of(context: CodecContext, patterns: Array) -> Array:
    stream = np.empty(context.max_bytes(patterns.size), np.uint8)
    return stream[: context.compress_into(patterns.view(context.dtype), stream)]


def survives(codec: Codec, dtype: str, patterns: Array) -> int:
    """Whether these bits come back; how many bytes they took."""
    with codec.context(dtype) as context:
        stream = stream_of(context, patterns)
        back = np.empty_like(patterns)
        context.decompress_into(stream, back.view(context.dtype))
    assert np.array_equal(back, patterns)
    return int(stream.size)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_half_comes_back(float_ans: Codec, dtype: str) -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    survives(float_ans, dtype, patterns)
    survives(float_ans, dtype, np.random.default_rng(0).permutation(patterns)[:12345])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 63, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 13])
def test_any_number_of_values_comes_back(float_ans: Codec, dtype: str, n: int) -> None:
    survives(float_ans, dtype, normal(dtype, n))


def test_size_is_that_of_the_exponents_entropy(float_ans: Codec, dtype: str) -> None:
    exponent_bits, mantissa_bits = FORMATS[dtype]
    patterns = normal(dtype, 4 * CHUNK)
    exponents = patterns >> mantissa_bits & ((1 << exponent_bits) - 1)
    share = np.unique(exponents, return_counts=True)[1] / patterns.size
    entropy = float(-(share * np.log2(share)).sum())
    ideal = patterns.size * (entropy + 1 + mantissa_bits) / 8
    assert ideal <= survives(float_ans, dtype, patterns) < 1.005 * ideal + 4 * 200


def test_a_single_exponent_costs_nothing(float_ans: Codec, dtype: str) -> None:
    mantissa_bits = FORMATS[dtype][1]
    patterns = normal(dtype, 800) & np.array((1 << mantissa_bits) - 1, normal(dtype, 1).dtype)
    assert survives(float_ans, dtype, patterns) == HEADER + CHUNK_HEADER + 4 + 100 * (mantissa_bits + 1)


def test_noise_is_kept_as_it_is(float_ans: Codec, dtype: str) -> None:
    """Random bits; for float64 also more different exponents than a table takes."""
    itemsize = (1 + sum(FORMATS[dtype])) // 8
    patterns = np.frombuffer(np.random.default_rng(2).bytes(3000 * itemsize), f"u{itemsize}")
    assert survives(float_ans, dtype, patterns) == HEADER + CHUNK_HEADER + patterns.nbytes


def test_rare_exponents_beside_a_very_frequent_one(float_ans: Codec) -> None:
    """Frequencies that round to zero, and one that would be all: both must stay codable."""
    values = np.ones(CHUNK)
    values[:200] = 2.0 ** np.arange(-100.0, 100.0)
    size = survives(float_ans, "float64", values.view(np.uint64))
    assert size < CHUNK * 53 / 8 * 1.03
    survives(float_ans, "float32", values.astype(np.float32).view(np.uint32))


def test_damage_among_the_coded_exponents_is_noticed(float_ans: Codec, dtype: str) -> None:
    """The decoder's states must end where the encoder's began."""
    mantissa_bits = FORMATS[dtype][1]
    patterns = normal(dtype, 5000)
    rng = np.random.default_rng(3)
    with float_ans.context(dtype) as context:
        stream = stream_of(context, patterns)
        rest = 5000 * (1 + mantissa_bits) // 8
        coded = HEADER + CHUNK_HEADER + 4 * 64 + rest  # behind any table
        for byte in rng.integers(coded, stream.size, 60):
            damaged = stream.copy()
            damaged[byte] ^= np.uint8(1 << rng.integers(8))
            with pytest.raises(CollpressError, match="damaged"):
                context.decompress_into(damaged, np.empty(5000, context.dtype))
