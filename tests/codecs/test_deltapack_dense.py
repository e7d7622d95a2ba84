"""deltapack-dense: bound, ratio, shape of the data, and one stream whatever the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_judgement import bits, hard_cases, power_law, violations
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec, Setting
from collpress.errors import CollpressError

Array = npt.NDArray[Any]
Stream = npt.NDArray[np.uint8]
Shape = tuple[int, int]  # elements in a row, and in a plane
DTYPES = ["float32", "float64"]
CHUNK = 1 << 18
HEADER = 32


@pytest.fixture(scope="module")
def dense(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack-dense"])


@pytest.fixture(scope="module")
def dense_portable(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack-dense-portable"])


@pytest.fixture(scope="module")
def turbulence() -> Array:
    return power_law(128)


def compress(codec: Codec, values: Array, bound: float, shape: Shape = (0, 0)) -> Stream:
    with codec.context(values.dtype, setting=Setting(bound, row=shape[0], plane=shape[1])) as context:
        stream = np.empty(context.max_bytes(values.size), dtype=np.uint8)
        return stream[: context.compress_into(values, stream)].copy()


def decompress(codec: Codec, stream: Stream, like: Array, bound: float, shape: Shape = (0, 0)) -> Array:
    back = np.empty_like(like)
    with codec.context(like.dtype, setting=Setting(bound, row=shape[0], plane=shape[1])) as context:
        context.decompress_into(stream, back)
    return back


def check(codec: Codec, values: Array, bound: float, shape: Shape = (0, 0)) -> Stream:
    """The stream of values that come back as they should."""
    stream = compress(codec, values, bound, shape)
    assert violations(values, decompress(codec, stream, values, bound, shape), bound) == []
    return stream


def information(values: Array, bound: float) -> float:
    """Bytes that the integers of these values need, each by itself: their entropy."""
    counts = np.unique(np.rint(values.astype(np.float64) / (2 * bound)), return_counts=True)[1]
    return float(-(counts * np.log2(counts / values.size)).sum()) / 8


@pytest.mark.parametrize(("relative", "sz3"), [(1e-2, 12.94), (1e-3, 5.58), (1e-4, 3.49)])
def test_ratio_on_a_turbulent_field_is_that_of_sz3(
    dense: Codec, turbulence: Array, relative: float, sz3: float
) -> None:
    """`sz3`: the best of SZ3's algorithms (pysz 1.1.0) on this field at this bound, as an array of three dimensions."""
    bound = relative * float(turbulence.max() - turbulence.min())
    stream = check(dense, turbulence, bound, (128, 128 * 128))
    assert turbulence.nbytes / stream.size > 0.98 * sz3
    back = decompress(dense, stream, turbulence, bound, (128, 128 * 128))
    assert abs(np.mean(back.astype(np.float64) - turbulence)) < 0.002 * bound


def test_every_dimension_that_is_known_helps(dense: Codec, turbulence: Array) -> None:
    bound = 1e-2 * float(turbulence.max() - turbulence.min())
    sizes = [compress(dense, turbulence, bound, shape).size for shape in ((0, 0), (128, 0), (128, 128 * 128))]
    assert sizes[0] > 1.05 * sizes[1]
    assert sizes[1] > 1.05 * sizes[2]


@pytest.mark.parametrize("relative", [1e-1, 1e-2, 1e-3, 1e-4])
def test_noise_costs_its_entropy(dense: Codec, relative: float) -> None:
    """Neighbours tell nothing about such values: the best that can be had is what each costs by itself."""
    values = np.random.default_rng(0).laplace(size=CHUNK).astype(np.float32)
    bound = relative * float(values.max() - values.min())
    assert check(dense, values, bound).size < 1.02 * information(values, bound) + 400


def test_heavy_tails_cost_little_more_than_their_entropy(dense: Codec) -> None:
    values = np.random.default_rng(1).standard_t(2.5, CHUNK).astype(np.float32)
    for bound in (10.0, 1.0, 0.1, 0.01):
        assert check(dense, values, bound).size < 1.06 * information(values, bound) + 400


def test_pieces_of_an_array_may_begin_anywhere(dense: Codec, turbulence: Array) -> None:
    bound = 1e-2 * float(turbulence.max() - turbulence.min())
    shape = (128, 128 * 128)
    whole = turbulence.nbytes / compress(dense, turbulence, bound, shape).size
    for begin, end in ((0, 1), (1, 130), (77, 20000), (128 * 128 + 5, 700_001), (3, 3 + CHUNK)):
        piece = turbulence[begin:end].copy()
        stream = check(dense, piece, bound, shape)
        if end - begin > CHUNK // 2:
            assert piece.nbytes / stream.size > 0.95 * whole


def test_chunks_do_not_depend_on_each_other(dense: Codec) -> None:
    values = np.cumsum(np.random.default_rng(2).standard_normal(2 * CHUNK + 1000)).astype(np.float32)
    whole = compress(dense, values, 0.1, (100, 5000))
    parts = [compress(dense, values[at : at + CHUNK].copy(), 0.1, (100, 5000)) for at in range(0, values.size, CHUNK)]
    assert np.array_equal(whole[HEADER:], np.concatenate([part[HEADER:] for part in parts]))


def test_constants_cost_next_to_nothing(dense: Codec) -> None:
    for value in (0.0, -0.0, 3.25, -1e6):
        assert check(dense, np.full(CHUNK, value, np.float32), 1.0).size <= 128
    holed = np.zeros(CHUNK, np.float32)
    holed[1000] = 5
    assert check(dense, holed, 1.0).size <= 128 + 1024


@pytest.mark.parametrize("dtype", DTYPES)
def test_incompressible_values_do_not_grow(dense: Codec, dtype: str) -> None:
    words = np.random.default_rng(0).integers(0, 2**32, 2 * 300_000, dtype=np.uint32)
    for size in (1, 2, 30, 1000, CHUNK, 300_000):
        values = words.view(dtype)[:size].copy()
        stream = compress(dense, values, 1e-30)
        assert stream.size <= values.nbytes + HEADER + 48 * -(-size // CHUNK)
        assert np.array_equal(bits(decompress(dense, stream, values, 1e-30)), bits(values))


@pytest.mark.parametrize("shape", [(0, 0), (64, 0), (64, 64 * 64)])
def test_nan_payloads_and_infinities_come_back_bit_by_bit(dense: Codec, shape: Shape) -> None:
    """Whole rows and planes of them: equal neighbours, whose differences must not pass for values."""
    values = power_law(64)
    special = np.array([0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x7F800000, 0xFF800000], dtype=np.uint32)
    bits(values)[100:105] = special
    bits(values)[-1] = special[1]
    bits(values)[64 * 64 * 5 : 64 * 64 * 8] = special[1]
    bits(values)[64 * 700 : 64 * 703] = special[3]
    stream = check(dense, values, 1e-2, shape)
    back = decompress(dense, stream, values, 1e-2, shape)
    lost = ~np.isfinite(values)
    assert np.array_equal(bits(back)[lost], bits(values)[lost])
    sums = np.ones_like(values)
    with dense.context(np.float32, setting=Setting(1e-2, row=shape[0], plane=shape[1])) as context:
        context.accumulate(stream, sums)
    with np.errstate(invalid="ignore"):  # some NaN are signalling
        assert np.array_equal(sums, np.float32(1) + back, equal_nan=True)


def test_outliers_spoil_no_more_than_their_neighbours(dense: Codec) -> None:
    values = np.sin(np.arange(CHUNK) * 0.01).astype(np.float32)
    clean = compress(dense, values, 1e-3).size
    values[5000], values[70000] = 1e30, -500.0
    assert check(dense, values, 1e-3).size <= clean + 2048


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ulps", [0.25, 0.5, 1, 2, 5, 100])
def test_bounds_near_the_distance_of_neighbouring_numbers(dense: Codec, dtype: str, ulps: float) -> None:
    rng = np.random.default_rng(1)
    for base in (1.0, 1000.0, -3e7):
        values = (base * (1 + rng.random(3000) * 1e-3)).astype(dtype)
        check(dense, values, ulps * float(np.spacing(np.abs(values).max())), (50, 500))


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_more_than_two_to_the_31_bounds(dense: Codec, dtype: str) -> None:
    values = np.array([0.0, 1.0, 2.0**31, 2.0**31 - 1, -(2.0**31), 2.0**32, 1e18, -1e18, 5.0] * 100, dtype=dtype)
    for bound in (0.5, 0.51, 1.0, 1e-6):
        check(dense, values, bound, (18, 90))


@pytest.mark.parametrize("dtype", DTYPES)
def test_residuals_of_every_width(dense: Codec, dense_portable: Codec, dtype: str) -> None:
    rng = np.random.default_rng(4)
    for width in range(31):
        half = 2.0 ** (width - 1)
        values = np.rint(rng.uniform(-half, half, 3000)).astype(dtype)
        stream = check(dense, values, 0.5)
        assert np.array_equal(stream, compress(dense_portable, values, 0.5))
        if 4 < width < 20:
            assert stream.size * 8 < (width + 1) * values.size + 8 * 500


def shaped_cases() -> list[tuple[Array, float, Shape]]:
    shapes = [(0, 0), (16, 32), (17, 0), (100, 1000), (250, 250 * 20), (1 << 33, 1 << 40)]
    cases = [(values, bound, shapes[i % len(shapes)]) for i, (values, bound) in enumerate(hard_cases())]
    field = power_law(64)
    smooth = np.sin(np.arange(300_000) * 1e-3) + 1e-3 * np.arange(300_000) % 7
    for bound in (1.0, 1e-1, 1e-2, 1e-3, 1e-5):
        cases += [(field, bound, shape) for shape in ((0, 0), (64, 0), (64, 4096), (63, 4000), (300, 3000))]
        cases += [(smooth, bound, shape) for shape in ((0, 0), (1000, 0))]
    return cases


@pytest.mark.parametrize("variant", ["portable", "native"])
def test_every_kernel_makes_the_same_streams(dense: Codec, plugins: dict[str, Path], variant: str) -> None:
    """`native` may fuse multiplications with additions, if the sources let it."""
    other = Codec(plugins[f"deltapack-dense-{variant}"])
    for values, bound, shape in shaped_cases():
        stream = check(dense, values, bound, shape)
        assert np.array_equal(stream, compress(other, values, bound, shape)), (values.size, bound, shape)
        fast, slow = (decompress(codec, stream, values, bound, shape) for codec in (dense, other))
        assert np.array_equal(bits(fast), bits(slow))


@settings(max_examples=120)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 3000),
    exponent=st.integers(-140, 120),
    spread=st.integers(0, 30),
    bound_exponent=st.floats(-30, 4),
    dtype=st.sampled_from(DTYPES),
    row=st.integers(0, 60),
    rows=st.integers(0, 20),
)
@example(seed=0, size=300, exponent=-140, spread=0, bound_exponent=-8, dtype="float32", row=16, rows=2)
@example(seed=0, size=300, exponent=120, spread=6, bound_exponent=-20, dtype="float32", row=16, rows=3)
def test_the_bound_holds_and_kernels_agree(
    dense: Codec,
    dense_portable: Codec,
    seed: int,
    size: int,
    exponent: int,
    spread: int,
    bound_exponent: float,
    dtype: str,
    row: int,
    rows: int,
) -> None:
    """Walks with jumps of 2^spread around 2^exponent, bounds from far below an ulp to far above the values."""
    rng = np.random.default_rng(seed)
    jumps = rng.standard_normal(size) * 2.0 ** rng.uniform(-spread, 0, size)
    values = (np.cumsum(jumps) * 2.0**exponent).astype(dtype)
    bound, shape = 2.0 ** (exponent + bound_exponent), (row, row * rows)
    assert np.array_equal(check(dense, values, bound, shape), compress(dense_portable, values, bound, shape))


@pytest.mark.parametrize(("bound", "mode"), [(1e-3, 1), (1e-4, 2)], ids=["states", "codes"])
def test_damage_is_noticed(dense: Codec, turbulence: Array, bound: float, mode: int) -> None:
    """In headers and tables always. In coded bits where few a value are needed: states must end where the encoder
    began. Prefix codes must end with their bits, but mostly find their way back before."""
    values = turbulence[:20000].copy()
    stream = compress(dense, values, bound)
    assert stream[HEADER + 8] == mode
    rng = np.random.default_rng(5)
    unnoticed = 0
    for place in [*range(HEADER + 48 + 16 + 32), *rng.integers(HEADER + 200, stream.size, 300)]:
        damaged = stream.copy()
        damaged[place] ^= np.uint8(1 << rng.integers(8))
        try:
            decompress(dense, damaged, values, bound)
            unnoticed += 1
            assert place >= HEADER + 200
        except CollpressError:
            pass
    assert unnoticed < (30 if mode == 1 else 300)


def test_the_judge_notices_a_codec_that_breaks_its_bound(plugins: dict[str, Path]) -> None:
    broken = Codec(plugins["deltapack-dense-broken"])
    values = power_law(16)
    assert violations(values, decompress(broken, compress(broken, values, 1e-2), values, 1e-2), 1e-2) != []
