"""szx: SZx's algorithm: what blocks cost, and the bound where its arithmetic alone would break it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits, power_law, violations
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec, Setting
from collpress.errors import CollpressError

Array = npt.NDArray[Any]
HEADERS = 32 + 8


@pytest.fixture(scope="module")
def szx(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["szx"])


def packed(codec: Codec, values: Array, bound: float, block: int = 128) -> tuple[int, Array]:
    """Bytes of the stream, and what comes back."""
    with codec.context(values.dtype, setting=Setting(bound, {"block": block})) as context:
        stream = np.empty(context.max_bytes(values.size), np.uint8)
        used = context.compress_into(values, stream)
        back = np.empty_like(values)
        context.decompress_into(stream[:used], back)
    return used, back


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_constant_block_costs_a_median_and_a_bit(szx: Codec, dtype: str) -> None:
    values = np.tile(np.array([7.0, 7.5], dtype), 800)
    size, back = packed(szx, values, 0.2501)
    assert size == HEADERS + 2 + 13 * values.itemsize  # 13 blocks
    assert (back == 7.25).all()
    assert packed(szx, values, 0.2499)[0] > 2 * size  # no longer constant
    assert packed(szx, values, 0.2501, 1024)[0] == HEADERS + 1 + 2 * values.itemsize


def test_bytes_like_those_of_the_value_before_are_left_out(szx: Codec) -> None:
    """Differences of ±0.5 at bound 2⁻¹²: 9 + 11 bits, shifted by 4 into 3 bytes, left out where nothing changes."""
    values = np.repeat(np.array([1.0, 2.0], np.float32), 64)
    size, back = packed(szx, values, 2.0**-12)
    assert size == HEADERS + 1 + (1 + 4) + 32 + 2 * 3
    assert np.array_equal(back, values)


@settings(max_examples=120)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 1500),
    block=st.integers(32, 1024),
    exponent=st.integers(-140, 120),
    bound_exponent=st.floats(-60, 5),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_bound_holds_at_every_block_size(
    szx: Codec, seed: int, size: int, block: int, exponent: int, bound_exponent: float, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(size) * 2.0 ** (exponent - rng.uniform(0, 12, size))).astype(dtype)
    bound = 2.0 ** (exponent + bound_exponent)
    used, back = packed(szx, values, bound, block)
    assert violations(values, back, bound) == []
    blocks = -(-size // block)
    assert used <= values.nbytes + HEADERS + blocks + -(-blocks // 8)


@pytest.mark.parametrize("bound", [2.0**-4, 0.0626, 2.0**-5, 0.04])
def test_the_bound_holds_where_differences_and_sums_are_rounded(szx: Codec, bound: float) -> None:
    """Values around 2²⁰ have a last place of 1/8 (below: 1/16): truncation and the two roundings add up."""
    values = (2.0**20 + np.random.default_rng(4).uniform(-3000, 3000, 20000)).astype(np.float32)
    assert violations(values, packed(szx, values, bound)[1], bound) == []


def test_ratio_on_a_turbulent_field(szx: Codec) -> None:
    """That of the published program (2.2 to 2.4 on such fields) where no block needs an escape."""
    values = power_law(64)
    assert 2.0 < values.nbytes / packed(szx, values, 1e-3 * float(np.ptp(values)))[0] < 2.6


def test_only_the_block_with_a_nan_is_kept_as_it_is(szx: Codec) -> None:
    values = power_law(16)
    plain, _ = packed(szx, values, 1.0)
    bits(values)[200] = 0xFFC12345
    size, back = packed(szx, values, 1.0)
    assert np.array_equal(bits(back[128:256]), bits(values[128:256]))
    assert size - plain <= 1 + 128 * 4


def test_a_stream_of_another_block_size_is_refused(szx: Codec) -> None:
    values = power_law(8)
    with szx.context("float32", setting=Setting(0.01, {"block": 64})) as context:
        stream = np.empty(context.max_bytes(values.size), np.uint8)
        stream = stream[: context.compress_into(values, stream)]
    with pytest.raises(CollpressError, match="damaged"):
        szx.decompress(stream, values.size, "float32", 0.01)
