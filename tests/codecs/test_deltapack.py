"""deltapack: bound, ratio, and one stream whatever the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits, hard_cases, power_law, violations
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec

Array = npt.NDArray[Any]
DTYPES = ["float32", "float64"]


@pytest.fixture(scope="module")
def turbulence() -> Array:
    return power_law(256)


def round_trip(codec: Codec, values: Array, bound: float) -> Array:
    return codec.decompress(codec.compress(values, bound), values.size, values.dtype, bound)


@pytest.mark.parametrize(("relative", "published"), [(1e-2, 8.99), (1e-3, 4.62), (1e-4, 3.19)])
def test_ratio_on_a_turbulent_field(deltapack: Codec, turbulence: Array, relative: float, published: float) -> None:
    """`published`: what such a codec with blocks of 128 reaches on this field."""
    bound = relative * float(turbulence.max() - turbulence.min())
    stream = deltapack.compress(turbulence, bound)
    assert turbulence.nbytes / stream.size == pytest.approx(published, rel=0.1)
    back = deltapack.decompress(stream, turbulence.size, np.float32, bound)
    assert violations(turbulence[::17], back[::17], bound) == []
    assert abs(np.mean(back.astype(np.float64) - turbulence)) < 0.002 * bound


def test_constants_cost_a_byte_a_block(deltapack: Codec) -> None:
    for value in (0.0, -0.0, 3.25, -1e6):
        stream = deltapack.compress(np.full(65536, value, np.float32), 1.0)
        assert stream.size <= 32 + 24 + 256


def test_incompressible_values_hardly_grow(deltapack: Codec) -> None:
    values = np.random.default_rng(0).integers(0, 2**32, 300_000, dtype=np.uint32).view(np.float32)
    assert deltapack.compress(values, 1e-30).size <= values.nbytes * 1.002 + 64
    assert np.array_equal(bits(round_trip(deltapack, values, 1e-30)), bits(values))


def test_nan_payloads_and_infinities_come_back_bit_by_bit(deltapack: Codec) -> None:
    values = np.arange(4096, dtype=np.float32)
    nan = np.array([0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x7F800000, 0xFF800000], dtype=np.uint32)
    bits(values)[100:105] = nan
    bits(values)[4095] = nan[1]
    back = round_trip(deltapack, values, 0.25)
    special = ~np.isfinite(values)
    assert np.array_equal(bits(back)[special], bits(values)[special])
    assert violations(values, back, 0.25) == []


def test_one_outlier_spoils_no_more_than_its_neighbours(deltapack: Codec) -> None:
    values = np.sin(np.arange(65536) * 0.01).astype(np.float32)
    clean = deltapack.compress(values, 1e-3).size
    values[5000] = 1e30
    assert deltapack.compress(values, 1e-3).size <= clean + 1024 + 512
    assert violations(values, round_trip(deltapack, values, 1e-3), 1e-3) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ulps", [0.25, 0.5, 0.75, 1, 2, 3, 5, 9, 100, 1000])
def test_bounds_near_the_distance_of_neighbouring_numbers(deltapack: Codec, dtype: str, ulps: float) -> None:
    rng = np.random.default_rng(1)
    for base in (1.0, 1000.0, -3e7):
        values = (base * (1 + rng.random(3000) * 1e-3)).astype(dtype)
        bound = ulps * float(np.spacing(np.abs(values).max()))
        assert violations(values, round_trip(deltapack, values, bound), bound) == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_more_than_two_to_the_31_bounds(deltapack: Codec, dtype: str) -> None:
    values = np.array([0.0, 1.0, 2.0**31, 2.0**31 - 1, -(2.0**31), 2.0**32, 1e18, -1e18, 5.0] * 100, dtype=dtype)
    for bound in (0.5, 0.51, 1.0, 1e-6):
        assert violations(values, round_trip(deltapack, values, bound), bound) == []


def test_values_on_a_grid_of_the_bound_are_no_trap(deltapack: Codec) -> None:
    """Ties everywhere: multiples of the bound, with bins of twice the bound."""
    values = (np.random.default_rng(2).integers(-500, 500, 20000) * 0.5).astype(np.float32)
    stream = deltapack.compress(values, 0.5)
    assert values.nbytes / stream.size > 2.5
    assert violations(values, deltapack.decompress(stream, values.size, np.float32, 0.5), 0.5) == []


@pytest.mark.parametrize("relative", [1e-5, 1e-6, 1e-7])
def test_small_bounds_cost_precision_not_raw_blocks(deltapack: Codec, relative: float) -> None:
    values = power_law(32)
    bound = relative * float(values.max() - values.min())
    stream = deltapack.compress(values, bound)
    assert violations(values, deltapack.decompress(stream, values.size, np.float32, bound), bound) == []
    if relative > 1e-7:
        assert values.nbytes / stream.size > 1.2


def test_an_offset_far_from_zero_costs_little(deltapack: Codec) -> None:
    values = (power_law(32) + 100).astype(np.float32)
    span = float(values.max() - values.min())
    assert values.nbytes / deltapack.compress(values, 1e-3 * span).size > 3.0


def test_vector_and_portable_kernels_make_the_same_streams(deltapack: Codec, portable: Codec) -> None:
    for values, bound in hard_cases():
        stream = deltapack.compress(values, bound)
        assert np.array_equal(stream, portable.compress(values, bound)), (values[:4], values.size, bound)
        fast = deltapack.decompress(stream, values.size, values.dtype, bound)
        assert np.array_equal(bits(fast), bits(portable.decompress(stream, values.size, values.dtype, bound)))


def test_every_width_is_packed_alike(deltapack: Codec, portable: Codec) -> None:
    rng = np.random.default_rng(4)
    for width in range(1, 30):
        for dtype in DTYPES:
            half = 1 << (width - 1)
            deltas = rng.integers(-half, half, 600)
            deltas[::2] = -deltas[1::2]  # keeps the sums small
            deltas[7], deltas[300] = -half, half - 1
            values = np.cumsum(deltas).astype(dtype)
            stream = deltapack.compress(values, 0.5)
            assert np.array_equal(stream, portable.compress(values, 0.5))
            assert violations(values, round_trip(deltapack, values, 0.5), 0.5) == []


def test_compiling_for_fused_multiply_add_changes_no_stream(deltapack: Codec, plugins: dict[str, Path]) -> None:
    native = Codec(plugins["deltapack-native"])
    for values, bound in hard_cases()[::3]:
        stream = native.compress(values, bound)
        assert np.array_equal(stream, deltapack.compress(values, bound))
        assert violations(values, native.decompress(stream, values.size, values.dtype, bound), bound) == []


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 2000),
    exponent=st.integers(-140, 120),
    spread=st.integers(0, 30),
    bound_exponent=st.floats(-30, 4),
    dtype=st.sampled_from(DTYPES),
)
@example(seed=0, size=300, exponent=-140, spread=0, bound_exponent=-8, dtype="float32")
@example(seed=0, size=300, exponent=120, spread=6, bound_exponent=-20, dtype="float32")
def test_the_bound_holds_and_kernels_agree(
    deltapack: Codec,
    portable: Codec,
    seed: int,
    size: int,
    exponent: int,
    spread: int,
    bound_exponent: float,
    dtype: str,
) -> None:
    """Walks with jumps of 2^spread around 2^exponent, bounds from far below an ulp to far above the values."""
    rng = np.random.default_rng(seed)
    jumps = rng.standard_normal(size) * 2.0 ** rng.uniform(-spread, 0, size)
    values = (np.cumsum(jumps) * 2.0**exponent).astype(dtype)
    bound = 2.0 ** (exponent + bound_exponent)
    stream = deltapack.compress(values, bound)
    assert np.array_equal(stream, portable.compress(values, bound))
    assert violations(values, deltapack.decompress(stream, size, dtype, bound), bound) == []


def test_the_judge_notices_a_codec_that_breaks_its_bound(plugins: dict[str, Path]) -> None:
    broken = Codec(plugins["deltapack-broken"])
    values = power_law(16)
    assert violations(values, round_trip(broken, values, 1e-2), 1e-2) != []
