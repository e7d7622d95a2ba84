"""zfp: found without importing zfpy, missing without harm, and held to its bound where zfp alone would break it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_building import skip_without_library
from codec_judgement import bits, power_law, violations
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec, Setting

Array = npt.NDArray[Any]


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    skip_without_library("zfp")


@pytest.fixture(scope="module")
def zfp(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["zfp"])


@pytest.fixture(scope="module")
def zfp_rate(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["zfp-rate"])


def round_trip(codec: Codec, values: Array, bound: float) -> Array:
    return codec.decompress(codec.compress(values, bound), values.size, values.dtype, bound)


def test_a_smooth_field_is_compressed_within_the_bound(zfp: Codec) -> None:
    values = power_law(64)
    bound = 1e-3 * float(values.max() - values.min())
    stream = zfp.compress(values, bound)
    assert values.nbytes / stream.size > 1.8
    assert violations(values, zfp.decompress(stream, values.size, np.float32, bound), bound) == []


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 700),
    exponent=st.integers(-149, 120),
    bound_exponent=st.floats(-60, 5),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_bound_holds_everywhere(
    zfp: Codec, seed: int, size: int, exponent: int, bound_exponent: float, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(size) * 2.0 ** (exponent - rng.uniform(0, 12, size))).astype(dtype)
    bound = 2.0 ** (exponent + bound_exponent)
    assert violations(values, round_trip(zfp, values, bound), bound) == []


@pytest.mark.parametrize("bound", [1e-45, 1e-40, 1e-38, 1e-30])
def test_subnormal_values_are_no_trap(zfp: Codec, bound: float) -> None:
    values = (np.random.default_rng(0).standard_normal(4096) * 1e-37).astype(np.float32)
    values[::2] *= np.float32(1e-4)
    assert violations(values, round_trip(zfp, values, bound), bound) == []


def test_a_message_with_a_nan_is_kept_as_it_is(zfp: Codec) -> None:
    values = power_law(16)
    bits(values)[77] = 0xFFC12345
    assert np.array_equal(bits(round_trip(zfp, values, 0.1)), bits(values))


def test_values_near_the_largest_number(zfp: Codec) -> None:
    values = np.array([3.4e38, -3.4e38, 1.0, 2e38] * 64, np.float32)
    for bound in (1e30, 1e36, 1e38):
        assert violations(values, round_trip(zfp, values, bound), bound) == []


SHAPES = [{}, {"row": 7}, {"row": 7, "plane": 35}, {"row": 64}, {"row": 4, "plane": 16}]


def shaped(codec: Codec, values: Array, setting: Setting) -> tuple[Array, Array, float]:
    """The stream, what comes back, and the stated worst error."""
    with codec.context(values.dtype, setting=setting) as context:
        stream = np.empty(context.max_bytes(values.size), np.uint8)
        stream = stream[: context.compress_into(values, stream)]
        back = np.empty_like(values)
        context.decompress_into(stream, back)
        return stream, back, context.worst_error(float(np.abs(values[np.isfinite(values)]).max(initial=0)))


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 40),
    shape=st.sampled_from(SHAPES),
    exponent=st.integers(-140, 120),
    bound_exponent=st.floats(-60, 5),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_bound_holds_in_every_number_of_dimensions(
    zfp: Codec, seed: int, rows: int, shape: dict[str, int], exponent: int, bound_exponent: float, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    size = rows * shape.get("row", 11)
    values = (rng.standard_normal(size) * 2.0 ** (exponent - rng.uniform(0, 12, size))).astype(dtype)
    bound = 2.0 ** (exponent + bound_exponent)
    _, back, stated = shaped(zfp, values, Setting(bound, **shape))  # type: ignore[arg-type]
    assert stated == bound
    assert violations(values, back, bound) == []


def test_whole_rows_and_planes_are_coded_as_such(zfp: Codec) -> None:
    values = power_law(64)
    bound = 1e-3 * float(np.ptp(values))
    line = shaped(zfp, values, Setting(bound))[0]
    rows = shaped(zfp, values, Setting(bound, row=64))[0]
    planes = shaped(zfp, values, Setting(bound, row=64, plane=4096))[0]
    assert max(rows.size, planes.size) < 0.95 * line.size
    assert not np.array_equal(rows, planes)
    for n, coded_as in ((4096 * 3 + 64, rows), (4096 * 3 + 1, line), (64, line), (4096, rows)):
        like = {"row": 64} if coded_as is rows else {}
        piece = values[:n]
        expected = shaped(zfp, piece, Setting(bound, **like))[0]  # type: ignore[arg-type]
        assert np.array_equal(shaped(zfp, piece, Setting(bound, row=64, plane=4096))[0], expected)


@pytest.mark.parametrize("shape", [{}, {"row": 64}, {"row": 64, "plane": 4096}])
@pytest.mark.parametrize("rate", [4, 8, 11.5, 16])
def test_a_rate_is_the_size_whatever_the_data(zfp_rate: Codec, rate: float, shape: dict[str, int]) -> None:
    setting = Setting(parameters={"rate": rate}, **shape)  # type: ignore[arg-type]
    noise = np.random.default_rng(0).standard_normal(64**3).astype(np.float32)
    for values in (power_law(64), noise, np.zeros_like(noise)):
        assert shaped(zfp_rate, values, setting)[0].size == 32 + rate * values.size / 8


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 40),
    shape=st.sampled_from(SHAPES),
    exponent=st.integers(-149, 120),
    spread=st.floats(0, 40),
    rate=st.floats(1, 32),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_errors_at_a_rate_stay_below_what_is_stated(
    zfp_rate: Codec, seed: int, rows: int, shape: dict[str, int], exponent: int, spread: float, rate: float, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    size = rows * shape.get("row", 11)
    values = (rng.standard_normal(size) * 2.0 ** (exponent - rng.uniform(0, spread, size))).astype(dtype)
    _, back, stated = shaped(zfp_rate, values, Setting(parameters={"rate": rate}, **shape))  # type: ignore[arg-type]
    assert np.isfinite(stated) or exponent > 110
    assert violations(values, back, stated) == []


def test_more_bits_state_and_make_smaller_errors(zfp_rate: Codec) -> None:
    values = power_law(64)
    found = [shaped(zfp_rate, values, Setting(parameters={"rate": rate}, row=64, plane=4096)) for rate in (8, 16, 24)]
    errors = [float(np.abs(back.astype(np.float64) - values).max()) for _, back, _ in found]
    stated = [said for _, _, said in found]
    assert errors[0] > 50 * errors[1] > 50 * errors[2]
    assert stated[0] > 50 * stated[1] > 50 * stated[2]


def test_a_message_with_an_infinity_is_kept_as_it_is_at_any_rate(zfp_rate: Codec) -> None:
    values = power_law(16)
    values[5] = np.inf
    stream, back, _ = shaped(zfp_rate, values, Setting(parameters={"rate": 4}))
    assert stream.size == 32 + values.nbytes
    assert np.array_equal(bits(back), bits(values))
