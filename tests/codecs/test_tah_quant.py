"""tah-quant: which tiles have how many bits, which are transformed, and what the streams mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from codec_judgement import bits, violations
from codec_trips import (
    HEADER,
    Array,
    Bytes,
    context,
    decompressed,
    gradient,
    hadamard_matrix,
    nmse,
    round_trip,
    stated,
    stream_of,
)

from collpress.codecs import Codec
from collpress.errors import CollpressError

F = np.float32


@pytest.fixture
def tah(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["tah-quant"])


def activations(tokens: int = 64, channels: int = 1024) -> Array:
    """Normal values; a few channels are outliers, as those of transformers are, and some tokens are nearly silent but
    for them."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((tokens, channels))
    values[:, rng.choice(channels, 8, replace=False)] *= 30
    return values.astype(F).ravel()


@dataclass
class Tile:
    bits: int  # 0: raw
    pivot: int | None  # None: not transformed
    values: Array


def bfloat(stream: Bytes, at: int) -> float:
    word = int(stream[at]) | int(stream[at + 1]) << 8
    return float(np.array(word << 16, np.uint32).view(F))


def read(stream: Bytes, count: int, tile: int = 64) -> list[Tile]:
    """The tiles of a float32 stream, decoded in float64 by the format's description."""
    at, tiles = HEADER, []
    for start in range(0, count, tile):
        size = min(tile, count - start)
        kind = int(stream[at])
        at += 1
        if kind == 0:
            tiles.append(Tile(0, None, stream[at : at + 4 * size].view(F).astype(float)))
            at += 4 * size
            continue
        width, pivot = kind & 15, None
        if kind & 16:
            pivot, at = int(stream[at]), at + 1
        low, scale = bfloat(stream, at), bfloat(stream, at + 2)
        at += 4
        used = (size * width + 7) // 8
        flat = np.unpackbits(stream[at : at + used], bitorder="little")[: size * width].reshape(size, width)
        at += used
        values = low + scale * (flat @ (1 << np.arange(width)))
        if pivot is not None:
            values = hadamard_matrix(size) @ values
            values[[0, pivot]] = values[[pivot, 0]]
        tiles.append(Tile(width, pivot, values))
    assert at == stream.size
    return tiles


def entropy(tile: Array) -> float:
    share = np.abs(tile.astype(float))
    share = share[share > 0] / share.sum()
    return float(-(share * np.log2(share)).sum())


@pytest.mark.parametrize("size", [1, 63, 64, 65, 5000, 65536])
def test_streams_mean_what_the_format_says(tah: Codec, size: int) -> None:
    values = gradient(size)
    expected = np.concatenate([tile.values for tile in read(stream_of(tah, values), size)])
    assert np.allclose(round_trip(tah, values), expected, rtol=0, atol=1e-6 * float(np.abs(values).max()))


@pytest.mark.parametrize(("low", "high", "share"), [(3, 4, 0.8), (2, 6, 0.5), (3, 4, 1), (3, 4, 0)])
def test_tiles_with_the_least_entropy_have_fewer_bits(tah: Codec, low: int, high: int, share: float) -> None:
    values = activations()
    tiles = read(stream_of(tah, values, low=low, high=high, share=share), values.size)
    few = [entropy(values[64 * i : 64 * i + 64]) for i, tile in enumerate(tiles) if tile.bits == low]
    many = [entropy(values[64 * i : 64 * i + 64]) for i, tile in enumerate(tiles) if tile.bits == high]
    assert (len(few), len(few) + len(many)) == (int((1 - share) * len(tiles)), len(tiles))
    if few and many:
        assert max(few) <= min(many) + 1e-3  # logarithms are approximate


def test_tiles_whose_largest_value_is_twice_the_second_are_transformed(tah: Codec) -> None:
    values = activations()
    tiles = read(stream_of(tah, values), values.size)
    transformed = 0
    for i, tile in enumerate(tiles):
        magnitudes = np.abs(values[64 * i : 64 * i + 64])
        second, first = np.sort(magnitudes)[-2:]
        assert (tile.pivot is not None) == (first >= 2 * second)
        if tile.pivot is not None:
            assert tile.pivot == magnitudes.argmax()
            transformed += 1
    assert 0.1 < transformed / len(tiles) < 0.9


def test_steps_reach_from_the_smallest_value_to_the_largest(tah: Codec) -> None:
    """Offsets are rounded to 8 bits, far more than the values' range; no value is off by more than half a step."""
    for offset in (100.0, -100.0):
        values = (offset + np.random.default_rng(0).uniform(0, 0.1, 640)).astype(F)
        back = round_trip(tah, values, share=1)
        assert {tile.bits for tile in read(stream_of(tah, values, share=1), values.size)} == {4}
        assert np.abs(back - values).max() < (0.1 + 0.5) / 15 / 2 * 1.01


def test_pivots_that_are_transformed_leave_less_error(tah: Codec, plugins: dict[str, Path]) -> None:
    values = activations()
    error = nmse(values, round_trip(tah, values, share=1))
    plain = nmse(values, round_trip(Codec(plugins["int4"]), values, group=64, kind="asymmetric"))
    assert error < 0.8 * plain
    assert error < nmse(values, round_trip(tah, values)) < nmse(values, round_trip(tah, values, share=0))
    rate = 8 * (stream_of(tah, values).size - HEADER) / values.size
    assert 0.8 * 4 + 0.2 * 3 + 5 * 8 / 64 < rate < 4.6


def test_tiles_that_cannot_be_scaled_stay_as_they_are(tah: Codec) -> None:
    values = gradient(640)
    values[5], values[70], values[130], values[192:256] = np.nan, np.inf, 3e38, 1e-42
    values[256:320], values[320:384] = 0, 0.1
    back = round_trip(tah, values)
    assert np.array_equal(bits(back)[:192], bits(values)[:192])
    assert np.array_equal(back[256:320], values[256:320])
    assert [tile.bits for tile in read(stream_of(tah, values), 640)][:3] == [0, 0, 0]
    assert violations(values, back, stated(tah, np.nan_to_num(values, posinf=0))) == []


@pytest.mark.parametrize("tile", [16, 64, 256])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_tile_with_one_outlier_stays_within_the_stated_error(tah: Codec, dtype: str, tile: int) -> None:
    rng = np.random.default_rng(0)
    worst = 0.0
    for low in (2, 3):
        values = rng.uniform(-0.5, 0.5, 64 * tile).reshape(-1, tile)
        values[:, 3] = 1
        flat = values.astype(dtype).ravel()
        setting = {"tile": tile, "low": low, "high": 8}
        bound = stated(tah, flat, **setting)
        back = round_trip(tah, flat, **setting)
        assert violations(flat, back, bound) == []
        worst = max(worst, float(np.abs(back - flat).max()))
    assert worst > 0


def test_a_decoder_of_other_tiles_or_bits_refuses(tah: Codec) -> None:
    stream = stream_of(tah, gradient(640))
    for setting in ({"tile": 32}, {"low": 2}, {"high": 5}):
        with context(tah, F, **setting) as other, pytest.raises(CollpressError, match="made by another codec"):
            decompressed(other, stream, 640)
    with context(tah, F, share=0.1) as other:
        decompressed(other, stream, 640)
