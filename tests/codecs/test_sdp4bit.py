"""sdp4bit: gradients on two levels, and differences of weights that all ranks follow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from codec_judgement import bits, violations
from codec_trips import (
    HEADER,
    Array,
    compressed,
    context,
    decompressed,
    gradient,
    nmse,
    round_trip,
    stated,
    stream_of,
)

from collpress.codecs import Codec
from collpress.codecs.codec import CodecContext
from collpress.errors import CollpressError

F = np.float32
WEIGHTS = {"of": "weight_difference"}


@pytest.fixture
def sdp4bit(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["sdp4bit"])


@pytest.fixture
def ranks(sdp4bit: Codec) -> Iterator[list[CodecContext]]:
    """Contexts of three ranks for weights, in their first call."""
    with ExitStack() as stack:
        made = [stack.enter_context(context(sdp4bit, F, rank, **WEIGHTS)) for rank in range(3)]
        for rank in made:
            rank.begin()
        yield made


def training(steps: int, count: int = 5000) -> list[Array]:
    """Weights that move by a thousandth of their size in each step."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(count)
    moves = 1e-3 * rng.standard_normal((steps, count))
    return list((weights + np.cumsum(moves, axis=0)).astype(F))


@pytest.mark.parametrize("size", [0, 1, 31, 32, 127, 128, 129, 511, 512, 513, 10007])
@pytest.mark.parametrize(("level", "width", "group"), [("intra", 8, 512), ("inter", 4, 128)])
def test_gradients_of_any_length_take_8_bits_within_and_4_between_nodes(
    sdp4bit: Codec, level: str, width: int, group: int, size: int
) -> None:
    values = gradient(size, size)
    stream = stream_of(sdp4bit, values, level=level)
    groups = [min(group, size - start) for start in range(0, size, group)]
    assert stream.size == HEADER + 4 * len(groups) + sum((width * n + 7) // 8 for n in groups)
    if size:
        assert violations(values, round_trip(sdp4bit, values, level=level), stated(sdp4bit, values, level=level)) == []


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_between_nodes_gradients_travel_as_int4_hadamard(
    plugins: dict[str, Path], sdp4bit: Codec, rounding: str
) -> None:
    values, setting = gradient(5001), {"rounding": rounding, "seed": 5}
    other = stream_of(Codec(plugins["int4-hadamard"]), values, 2, **setting)
    assert np.array_equal(stream_of(sdp4bit, values, 2, **setting)[HEADER:], other[HEADER:])


def test_the_levels_have_the_errors_of_their_bits(sdp4bit: Codec) -> None:
    values = gradient(1 << 18)
    assert 1e-5 < nmse(values, round_trip(sdp4bit, values, level="intra", rounding="nearest")) < 2e-4
    assert 5e-3 < nmse(values, round_trip(sdp4bit, values, rounding="nearest")) < 3e-2
    assert nmse(values, round_trip(sdp4bit, values)) < 5e-2


def test_differences_of_weights_leave_less_and_less_error(sdp4bit: Codec, ranks: list[CodecContext]) -> None:
    sender, receiver, _ = ranks
    errors = []
    for weights in training(6):
        sender.begin()
        receiver.begin()
        back = decompressed(receiver, compressed(sender, weights), weights.size)
        errors.append(nmse(weights, back))
        assert violations(weights, back, stated(sdp4bit, weights, **WEIGHTS)) == []
    assert errors[0] > 1e-2
    assert max(errors[2:]) < 1e-3 * errors[0]
    alone = training(6)[-1]
    assert nmse(alone, round_trip(sdp4bit, alone, **WEIGHTS)) > 1e-2


def test_all_receivers_follow_many_senders_in_any_order(ranks: list[CodecContext]) -> None:
    """Two messages of each of three ranks a call, of one length; each rank sees them in another order, its own too."""
    rng = np.random.default_rng(0)
    for step in range(4):
        for rank in ranks:
            rank.begin()
        weights = [[training(4, 3000)[step] * (1 + sender + 3 * n) for n in range(2)] for sender in range(3)]
        streams = [[compressed(rank, values) for values in own] for rank, own in zip(ranks, weights, strict=True)]
        seen: dict[tuple[int, int], set[bytes]] = {}
        for rank in ranks:
            for place in rng.permutation(6):
                sender, n = divmod(int(place), 2)
                back = decompressed(rank, streams[sender][n], 3000)
                seen.setdefault((sender, n), set()).add(back.tobytes())
                assert nmse(weights[sender][n], back) < (0.5, 5e-3, 1e-4, 1e-4)[step]
        assert all(len(different) == 1 for different in seen.values())


def test_a_stream_may_be_decompressed_again_but_none_may_be_missed(ranks: list[CodecContext]) -> None:
    sender, receiver, late = ranks
    first, second, third = (compressed_in_a_call(sender, weights) for weights in training(3))
    assert np.array_equal(decompressed(receiver, first, 5000), decompressed(receiver, first, 5000))
    with pytest.raises(CollpressError, match="made by another codec"):
        decompressed(receiver, third, 5000)
    once = decompressed(receiver, second, 5000)
    assert np.array_equal(decompressed(receiver, second, 5000), once)
    with pytest.raises(CollpressError, match="made by another codec"):
        decompressed(receiver, third[:-1].copy(), 5000)
    decompressed(receiver, third, 5000)
    with pytest.raises(CollpressError, match="made by another codec"):
        decompressed(late, third, 5000)


def compressed_in_a_call(sender: CodecContext, weights: Array) -> Array:
    sender.begin()
    return compressed(sender, weights)


def test_another_number_of_weights_begins_anew(ranks: list[CodecContext]) -> None:
    sender, receiver, late = ranks
    for weights in training(2):
        decompressed(receiver, compressed_in_a_call(sender, weights), 5000)
    shorter = compressed_in_a_call(sender, training(1)[0][:4000])
    assert np.array_equal(decompressed(receiver, shorter, 4000), decompressed(late, shorter, 4000))


def test_outside_of_calls_every_message_stands_for_itself(sdp4bit: Codec) -> None:
    weights = training(1)[0]
    with context(sdp4bit, F, **WEIGHTS) as made:
        streams = [compressed(made, weights) for _ in range(3)]
    assert np.array_equal(streams[0], streams[2])
    with context(sdp4bit, F, 1, **WEIGHTS) as fresh:
        assert np.array_equal(decompressed(fresh, streams[2], 5000), round_trip(sdp4bit, weights, **WEIGHTS))


def test_weights_that_are_not_finite_come_back_and_do_no_lasting_harm(ranks: list[CodecContext]) -> None:
    sender, receiver, _ = ranks
    steps = training(4)
    steps[1][7], steps[1][3000] = np.nan, np.inf
    backs = [decompressed(receiver, compressed_in_a_call(sender, weights), 5000) for weights in steps]
    assert np.array_equal(bits(backs[1])[:2048], bits(steps[1])[:2048])
    assert np.isinf(backs[1][3000])
    assert nmse(steps[3], backs[3]) < 1e-4
