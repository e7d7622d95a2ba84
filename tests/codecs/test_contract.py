"""What every codec promises (native/include/collpress/codec.h), for each codec and each float type that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits, unaligned, violations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from collpress.codecs import Codec
from collpress.errors import CollpressError

Array = npt.NDArray[Any]
BOUND = 1e-3
SIZES = [0, 1, 2, 31, 127, 128, 129, 255, 256, 257, 1023, 1025, 65535, 65536, 65537, 65536 + 257]
BAD_STREAM = "truncated, damaged"


def smooth(n: int) -> Array:
    return np.cumsum(np.random.default_rng(1).standard_normal(n)) * 0.01


def noise(n: int) -> Array:
    return np.random.default_rng(2).standard_normal(n)


def wild(n: int) -> Array:
    """Every exponent there is in float32."""
    rng = np.random.default_rng(3)
    return rng.standard_normal(n) * 2.0 ** rng.integers(-149, 126, n)


def outliers(n: int) -> Array:
    values = noise(n)
    values[::300] = 1e30
    return values


def tiny(n: int) -> Array:
    return noise(n) * 1e-42  # subnormal in float32


def specials(n: int) -> Array:
    values = smooth(n)
    for start, value in enumerate((np.nan, np.inf, -np.inf, -0.0, -np.nan)):
        values[start::211] = value
    return values


KINDS: list[Callable[[int], Array]] = [smooth, noise, wild, outliers, tiny, specials, np.zeros, np.ones]


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def judge(codec: Codec, values: Array, bound: float = BOUND) -> None:
    """Round trip of `values` keeps the codec's promise, and the stream its size."""
    finite = np.abs(values[np.isfinite(values)])
    with codec.context(values.dtype, bound) as context:
        stream = np.empty(context.max_bytes(values.size), dtype=np.uint8)
        used = context.compress_into(values, stream)
        assert used <= stream.size
        back = np.full(values.size, 7, dtype=values.dtype)
        context.decompress_into(stream[:used], back)
        stated = context.worst_error(float(finite.max()) if finite.size else 0.0)
    if codec.lossless:
        assert np.array_equal(bits(back), bits(values))
    elif np.isfinite(stated):
        assert violations(values, back, stated) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_values_come_back_within_the_stated_error(codec: Codec, dtype: str, kind: Callable[[int], Array]) -> None:
    for size in SIZES:
        judge(codec, kind(size).astype(dtype))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_values_at_any_bound_come_back_within_the_stated_error(
    codec: Codec, dtype: str, data: st.DataObject
) -> None:
    width = 32 if dtype == "float32" else 64
    values = data.draw(hnp.arrays(dtype, st.integers(0, 600), elements=st.floats(width=width)), label="values")
    judge(codec, values, data.draw(st.floats(1e-320, 1e308), label="bound"))


def test_infinities_and_nan_are_never_lost(codec: Codec, dtype: str) -> None:
    values = specials(1000).astype(dtype)
    back = codec.decompress(codec.compress(values, BOUND), values.size, dtype, BOUND)
    assert np.array_equal(np.isnan(back), np.isnan(values))
    assert np.array_equal(back[np.isinf(values)], values[np.isinf(values)])


def test_buffers_may_have_any_alignment(codec: Codec, dtype: str) -> None:
    values = smooth(70000).astype(dtype)
    expected = codec.compress(values, BOUND)
    restored = codec.decompress(expected, values.size, dtype, BOUND)
    for offset in (1, 2, 4, 8, 16):
        with codec.context(dtype, BOUND) as context:
            stream = unaligned(np.zeros(context.max_bytes(values.size), dtype=np.uint8), offset)
            used = context.compress_into(unaligned(values, offset), stream)
            assert np.array_equal(stream[:used], expected)
            back = unaligned(np.zeros_like(values), offset)
            context.decompress_into(stream[:used], back)
        assert np.array_equal(bits(back), bits(restored))


def test_large_outputs_are_the_same_at_any_alignment(codec: Codec) -> None:
    values = smooth((5 << 20) // 4 + 77).astype(np.float32)
    stream = codec.compress(values, BOUND)
    backs = []
    for offset in (0, 4, 16):
        back = unaligned(np.zeros_like(values), offset)
        with codec.context(values.dtype, BOUND) as context:
            context.decompress_into(stream, back)
        backs.append(bits(back))
    assert np.array_equal(backs[0], backs[1])
    assert np.array_equal(backs[0], backs[2])


def test_a_context_serves_many_calls(codec: Codec, dtype: str) -> None:
    with codec.context(dtype, BOUND) as context:
        for size in (5000, 3, 70000, 0, 256):
            values = noise(size).astype(dtype)
            stream = np.empty(context.max_bytes(size), dtype=np.uint8)
            used = context.compress_into(values, stream)
            assert np.array_equal(stream[:used], codec.compress(values, BOUND))


@pytest.mark.parametrize("kind", [smooth, specials, np.zeros], ids=lambda kind: kind.__name__)
def test_a_small_buffer_is_refused_and_nothing_is_written_behind_it(
    codec: Codec, dtype: str, kind: Callable[[int], Array]
) -> None:
    values = kind(1000).astype(dtype)
    used = codec.compress(values, BOUND).size
    for capacity in {c for c in (0, 1, 31, 32, 33, 60, used // 2, used - 1) if c < used}:
        memory = np.full(used + 64, 0xA5, dtype=np.uint8)
        with codec.context(dtype, BOUND) as context, pytest.raises(CollpressError, match="too small"):
            context.compress_into(values, memory[:capacity])
        assert (memory[capacity:] == 0xA5).all()
    memory = np.full(used + 64, 0xA5, dtype=np.uint8)
    with codec.context(dtype, BOUND) as context:
        assert context.compress_into(values, memory[:used]) == used
    assert (memory[used:] == 0xA5).all()


def test_a_truncated_stream_is_refused(codec: Codec, dtype: str) -> None:
    values = smooth(700).astype(dtype)
    stream = codec.compress(values, BOUND)
    for size in [*range(0, stream.size, 7), stream.size - 1]:
        with pytest.raises(CollpressError, match=BAD_STREAM):
            codec.decompress(stream[:size].copy(), values.size, dtype, BOUND)


def test_a_longer_stream_is_refused(codec: Codec, dtype: str) -> None:
    stream = codec.compress(smooth(700).astype(dtype), BOUND)
    for more in (1, 8, 32, 4096):
        with pytest.raises(CollpressError, match=BAD_STREAM):
            codec.decompress(np.append(stream, np.zeros(more, np.uint8)), 700, dtype, BOUND)


def test_another_number_of_values_is_refused(codec: Codec, dtype: str) -> None:
    stream = codec.compress(smooth(700).astype(dtype), BOUND)
    for count in (0, 1, 699, 701, 10_000_000):
        with pytest.raises(CollpressError, match=BAD_STREAM):
            codec.decompress(stream, count, dtype, BOUND)


def test_a_stream_of_another_type_or_bound_is_refused(codec: Codec) -> None:
    stream = codec.compress(smooth(700).astype(np.float32), BOUND)
    with pytest.raises(CollpressError, match=BAD_STREAM):
        codec.decompress(stream, 700, np.float64, BOUND)
    if codec.takes_bound:
        with pytest.raises(CollpressError, match=BAD_STREAM):
            codec.decompress(stream, 700, np.float32, BOUND * 2)


@pytest.mark.parametrize("kind", [smooth, specials], ids=lambda kind: kind.__name__)
def test_flipped_bits_never_crash(codec: Codec, dtype: str, kind: Callable[[int], Array]) -> None:
    values = kind(700).astype(dtype)
    stream = codec.compress(values, BOUND)
    rng = np.random.default_rng(5)
    refused = 0
    for byte in [*range(min(96, stream.size)), *rng.integers(0, stream.size, 300)]:
        damaged = stream.copy()
        damaged[byte] ^= np.uint8(1 << rng.integers(8))
        try:
            codec.decompress(damaged, values.size, dtype, BOUND)
        except CollpressError:
            refused += 1
            continue
        assert codec.name == "none" or byte >= 32, "a flipped bit in the header went unnoticed"
    assert codec.name == "none" or refused >= 32


def test_random_bytes_are_refused(codec: Codec, dtype: str) -> None:
    rng = np.random.default_rng(6)
    for size in (0, 1, 31, 32, 33, 100, 5000):
        with pytest.raises(CollpressError, match=BAD_STREAM):
            codec.decompress(rng.integers(0, 256, size, dtype=np.uint8), 999, dtype, BOUND)


def test_streams_of_other_codecs_are_refused(codec: Codec, plugins: dict[str, Any]) -> None:
    values = smooth(700).astype(np.float32)
    for other in ("deltapack", "int8", "bf16"):
        if other != codec.name:
            stream = Codec(plugins[other]).compress(values, BOUND)
            with pytest.raises(CollpressError, match=BAD_STREAM):
                codec.decompress(stream, values.size, np.float32, BOUND)


@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan"), float("inf"), None])
def test_an_impossible_bound_is_a_users_mistake(codec: Codec, bound: float | None) -> None:
    values = np.ones(3, np.float32)
    if codec.takes_bound:
        with pytest.raises(CollpressError, match="needs an absolute error bound"):
            codec.compress(values, bound)
    else:
        assert np.array_equal(codec.compress(values, bound), codec.compress(values))


def test_other_types_are_refused(codec: Codec) -> None:
    values = np.arange(1000, dtype=np.int32)
    if "int32" in codec.dtypes:
        assert np.array_equal(codec.decompress(codec.compress(values), 1000, np.int32), values)
    else:
        with pytest.raises(CollpressError, match="does not take int32"):
            codec.compress(values, 1.0)
