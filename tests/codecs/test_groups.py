"""int8, int4 and int4-hadamard: groups that share a scale, by their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from codec_judgement import bits
from codec_trips import Array, context, decompressed, gradient, hadamard_matrix, nmse, round_trip, stated, stream_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from collpress.codecs import Codec
from collpress.errors import CollpressError

F = np.float32
WIDTHS = {"int8": 8, "int4": 4, "int4-hadamard": 4}
VALUES = hnp.arrays("float32", st.integers(1, 300), elements=st.floats(-(2.0**100), 2.0**100, width=32))


@pytest.fixture(params=sorted(WIDTHS))
def quantiser(request: pytest.FixtureRequest, plugins: dict[str, Path]) -> Codec:
    return Codec(plugins[str(request.param)])


@pytest.fixture(params=["int4", "int8"])
def plain(request: pytest.FixtureRequest, plugins: dict[str, Path]) -> Codec:
    return Codec(plugins[str(request.param)])


@pytest.fixture
def int4(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["int4"])


@pytest.fixture
def smoothed(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["int4-hadamard"])


def symmetric(group: Array, width: int) -> Array:
    scale = np.abs(group).max() / F(2 ** (width - 1) - 1)
    return np.rint(group * (F(1) / scale)) * scale if scale >= np.finfo(F).tiny else group


def asymmetric(group: Array, width: int) -> Array:
    low, high = group.min(), group.max()
    scale = (high - low) / F(2**width - 1)
    if low == high:
        return group
    return low + np.rint((group - low) * (F(1) / scale)) * scale if scale >= np.finfo(F).tiny else group


@settings(max_examples=60)
@given(VALUES, st.integers(32, 200))
def test_values_become_the_nearest_of_their_groups_steps(plugins: dict[str, Path], values: Array, group: int) -> None:
    for name in ("int4", "int8"):
        for kind, expected in (("symmetric", symmetric), ("asymmetric", asymmetric)):
            back = round_trip(Codec(plugins[name]), values, group=group, kind=kind)
            for start in range(0, values.size, group):
                part = slice(start, start + group)
                assert np.array_equal(back[part], expected(values[part], WIDTHS[name])), (name, kind)


def test_two_codes_share_a_byte_the_first_in_its_lower_half(int4: Codec) -> None:
    stream = stream_of(int4, np.array([7, -7, 1, 2, -1], F))
    scale, codes = stream[32:36].view(F)[0], stream[36:]
    assert scale == 1
    assert codes.tolist() == [0x97, 0x21, 0x0F]


@pytest.mark.parametrize("group", [32, 100, 128, 65536])
@pytest.mark.parametrize(("kind", "words"), [("symmetric", 1), ("asymmetric", 2)])
def test_streams_have_the_bits_that_their_codes_need(quantiser: Codec, group: int, kind: str, words: int) -> None:
    for dtype in (np.float32, np.float64):
        values = np.random.default_rng(0).standard_normal(70001).astype(dtype)
        groups = [min(group, values.size - start) for start in range(0, values.size, group)]
        codes = sum((WIDTHS[quantiser.name] * size + 7) // 8 for size in groups)
        expected = 32 + len(groups) * words * values.itemsize + codes
        assert stream_of(quantiser, values, group=group, kind=kind).size == expected


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
def test_groups_that_have_no_scale_stay_as_they_are(quantiser: Codec, kind: str) -> None:
    values = np.random.default_rng(0).standard_normal(1024).astype(F)
    values[5], values[200], values[256:384], values[400] = np.nan, -np.inf, values[256:384] * F(1e-40), 3e38
    back = round_trip(quantiser, values, kind=kind)
    assert np.array_equal(bits(back)[:512], bits(values)[:512])
    assert not np.array_equal(back[512:], values[512:])


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_stated_error_is_reached_but_not_exceeded(plain: Codec, dtype: str, kind: str, rounding: str) -> None:
    values = np.linspace(-1, 1, 65536).astype(dtype)
    error = np.abs(round_trip(plain, values, group=65536, kind=kind, rounding=rounding).astype(float) - values).max()
    bound = stated(plain, values, kind=kind, rounding=rounding)
    assert 0.97 * bound < error <= bound


def test_the_stated_error_of_transformed_values_can_be_reached(smoothed: Codec) -> None:
    """One block makes the steps as large as they can be; in the other all coefficients are off by half a step, which
    the way back adds up in one value."""
    size, matrix = 32, hadamard_matrix(32)
    half = np.sqrt(size) / 14
    rng = np.random.default_rng(0)
    tries = (rng.choice([-half, half], size) for _ in range(1000))
    flat = min(tries, key=lambda coefficients: float(np.abs(matrix @ coefficients).max()))
    wanted = matrix[3] * np.sqrt(size)  # signs of the errors: a row, so all of them meet in value 3
    coefficients = flat * (1 + 1e-4 * np.sign(flat) * wanted)
    values = np.concatenate([np.ones(size), matrix @ coefficients]).astype(F)
    assert np.abs(values).max() == 1
    error = np.abs(round_trip(smoothed, values) - values).max()
    bound = stated(smoothed, values)
    assert 0.98 * bound < error <= bound
    assert bound > 32 / 14


@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("size", [1, 5, 31, 32, 33, 127, 150, 500])
def test_blocks_are_transformed_and_their_tails_in_smaller_powers_of_two(
    plugins: dict[str, Path], smoothed: Codec, block: int, size: int
) -> None:
    """The same as int4 of the transformed values, transformed back; by matrices, in float64."""
    values = np.random.default_rng(size).standard_t(3, size)
    blocks = []
    for start in range(0, size, 128):
        left, power = min(128, size - start), block
        while left > 0:
            while power > left:
                power //= 2
            blocks.append(power)
            left -= power
    edges = np.cumsum([0, *blocks])

    def transformed(x: Array) -> Array:
        parts = zip(edges[:-1], edges[1:], blocks, strict=True)
        return np.concatenate([hadamard_matrix(power) @ x[begin:end] for begin, end, power in parts])

    expected = transformed(round_trip(Codec(plugins["int4"]), transformed(values)))
    assert np.allclose(round_trip(smoothed, values, block=block), expected, rtol=0, atol=1e-12)


def test_a_transform_spreads_outliers(plugins: dict[str, Path], smoothed: Codec, int4: Codec) -> None:
    values = gradient(1 << 18)
    plain, spread = nmse(values, round_trip(int4, values)), nmse(values, round_trip(smoothed, values))
    assert spread < 0.5 * plain
    assert 0.02 < plain < 0.06
    assert nmse(values, round_trip(smoothed, values, kind="asymmetric", block=128)) < 0.9 * spread
    assert nmse(values, round_trip(Codec(plugins["int8"]), values)) < 2e-4


def test_stochastic_rounding_has_no_mean_error(plain: Codec) -> None:
    """Over 400 seeds the mean error of each value is within five standard deviations of 0; to nearest it is not."""
    values = np.random.default_rng(0).uniform(-1, 1, 256).astype(F)
    step = float(np.abs(values[:128]).max()) / (2 ** (WIDTHS[plain.name] - 1) - 1)
    seeds = 400
    backs = [round_trip(plain, values, rounding="stochastic", seed=seed).astype(float) for seed in range(seeds)]
    allowed = 5 * 0.5 * step / np.sqrt(seeds)
    assert np.abs(np.mean(backs, axis=0) - values)[:128].max() < allowed
    assert np.abs(round_trip(plain, values).astype(float) - values)[:128].max() > 3 * allowed


def test_stochastic_rounding_takes_one_of_the_two_neighbours(quantiser: Codec) -> None:
    values = np.random.default_rng(1).uniform(-1, 1, 12800).astype(F)
    if quantiser.name == "int4-hadamard":  # twice a step of values up to sqrt(32)
        assert np.abs(round_trip(quantiser, values, rounding="stochastic") - values).max() < 1
        return
    scale = np.repeat(np.abs(values.reshape(-1, 128)).max(axis=1) / F(2 ** (WIDTHS[quantiser.name] - 1) - 1), 128)
    steps = round_trip(quantiser, values, rounding="stochastic") / scale
    assert np.allclose(steps, np.rint(steps), atol=1e-4)
    assert (np.abs(steps - values / scale) < 1 + 1e-4).all()
    ups = np.rint(steps) > values / scale
    assert 0.45 < ups.mean() < 0.55


def test_equal_seeds_and_data_draw_equal_numbers_and_others_others(quantiser: Codec) -> None:
    values = np.random.default_rng(2).standard_normal(5000).astype(F)

    def drawn(rank: int = 0, seed: int = 1, values: Array = values) -> Array:
        return stream_of(quantiser, values, rank, rounding="stochastic", seed=seed)

    assert np.array_equal(drawn(), drawn())
    assert not np.array_equal(drawn(), drawn(rank=1))
    assert not np.array_equal(drawn(), drawn(seed=2))
    assert not np.array_equal(drawn(), stream_of(quantiser, values))
    alike = [bits(drawn(values=np.roll(values, 128 * n)))[32:] for n in range(2)]
    assert not np.array_equal(np.roll(alike[0], alike[0].size // 39), alike[1])


def test_a_decoder_of_other_groups_refuses_and_one_of_another_seed_does_not(quantiser: Codec) -> None:
    values = np.random.default_rng(3).standard_normal(1000).astype(F)
    stream = stream_of(quantiser, values, rounding="stochastic")
    with context(quantiser, F, rank=3, seed=77) as other:
        assert np.array_equal(decompressed(other, stream, 1000), round_trip(quantiser, values, rounding="stochastic"))
    for setting in ({"group": 64}, {"kind": "asymmetric"}):
        with context(quantiser, F, **setting) as other, pytest.raises(CollpressError, match="made by another codec"):
            decompressed(other, stream, 1000)


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vector_and_portable_loops_draw_and_round_alike(plugins: dict[str, Path], dtype: str, kind: str) -> None:
    values = gradient(5001).astype(dtype)
    values[77] = np.nan
    for name in ("int8", "int4-hadamard"):
        setting = {"kind": kind, "rounding": "stochastic", "group": 100}
        plain, portable = Codec(plugins[name]), Codec(plugins[f"{name}-portable"])
        assert np.array_equal(stream_of(plain, values, **setting), stream_of(portable, values, **setting))
        assert np.array_equal(bits(round_trip(plain, values, **setting)), bits(round_trip(portable, values, **setting)))


def test_blocks_are_powers_of_two(smoothed: Codec) -> None:
    with pytest.raises(CollpressError, match="does not support this dtype or configuration"):
        round_trip(smoothed, np.ones(3, F), block=96)
