"""topk and sign: what they send, and that with feedback nothing is lost for good."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from codec_judgement import bits, violations
from codec_trips import HEADER, Array, compressed, context, decompressed, gradient, nmse, round_trip, stated, stream_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from collpress.codecs import Codec

F = np.float32
ANY = hnp.arrays("float32", st.integers(0, 300), elements=st.floats(width=32))


@pytest.fixture
def topk(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["topk"])


@pytest.fixture
def sign(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["sign"])


@pytest.fixture(params=["topk", "sign"])
def lossy(request: pytest.FixtureRequest, plugins: dict[str, Path]) -> Codec:
    return Codec(plugins[str(request.param)])


def sent_by_topk(values: Array, density: float) -> Array:
    """Which values: the largest of the finite ones, the first of equals, and all others."""
    finite = np.isfinite(values)
    wanted = max(1, int(np.ceil(density * values.size)))
    order = np.argsort(np.where(finite, -np.abs(values.astype(float)), np.inf), kind="stable")
    sent = ~finite
    sent[order[: min(wanted, int(finite.sum()))]] = True
    return sent


@settings(max_examples=150)
@given(ANY, st.sampled_from([1e-4, 0.01, 0.1, 0.3]))
def test_topk_sends_the_largest_values_and_all_that_are_not_finite(
    plugins: dict[str, Path], values: Array, density: float
) -> None:
    sent = sent_by_topk(values, density)
    if 2 * sent.sum() >= values.size:  # places and values would take as much as all of them
        sent[:] = True
    back = round_trip(Codec(plugins["topk"]), values, density=density)
    assert np.array_equal(bits(back), bits(np.where(sent, values, F(0))))


def test_topk_takes_a_place_and_a_value_for_each(topk: Codec) -> None:
    for dtype, each in ((F, 8), (np.float64, 12)):
        values = gradient(100_001).astype(dtype)
        assert stream_of(topk, values).size == HEADER + 8 + each * 1001
        assert stream_of(topk, values, density=1).size == HEADER + 8 + values.nbytes
        assert np.array_equal(round_trip(topk, values, density=1), values)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sign_sends_signs_and_the_mean_magnitude_of_each_group(sign: Codec, dtype: str) -> None:
    values = gradient(10_001).astype(dtype)
    back = round_trip(sign, values, group=1000)
    for start in range(0, values.size, 1000):
        part = slice(start, start + 1000)
        expected = np.abs(values[part].astype(float)).mean() * np.where(np.signbit(values[part]), -1, 1)
        assert np.allclose(back[part], expected, rtol=1e-6, atol=0)
        assert len(set(np.abs(back[part]).tolist())) == 1
    assert stream_of(sign, values).size == HEADER + 3 * values.itemsize + 1251


def test_sign_keeps_groups_that_have_no_mean(sign: Codec) -> None:
    values = gradient(4096 * 3)
    values[5], values[4100] = np.nan, -np.inf
    back = round_trip(sign, values)
    assert np.array_equal(bits(back)[:8192], bits(values)[:8192])
    assert not np.array_equal(back[8192:], values[8192:])


def test_both_lose_as_much_of_a_gradient_as_is_known(topk: Codec, sign: Codec) -> None:
    values = gradient(1 << 18)
    assert 0.4 < nmse(values, round_trip(sign, values)) < 0.6
    assert 0.4 < nmse(values, round_trip(topk, values)) < 0.7


def sums(codec: Codec, inputs: list[Array], **parameters: str | float) -> Array:
    """What a receiver has in all after these calls; float64."""
    with context(codec, F, **parameters) as sender, context(codec, F, 1, **parameters) as receiver:
        total = np.zeros(inputs[0].size)
        for values in inputs:
            sender.begin()
            total += decompressed(receiver, compressed(sender, values), values.size)
    return total


def test_with_feedback_everything_arrives_in_the_end(lossy: Codec) -> None:
    """The sum of what arrived is behind by what the last call owes, however many calls there were; without, it falls
    behind by more in every call."""
    setting: dict[str, str | float] = {"density": 0.05} if lossy.name == "topk" else {"group": 64}
    rng = np.random.default_rng(0)
    mean = rng.standard_normal(2048)
    inputs = [(mean + 0.3 * rng.standard_normal(2048)).astype(F) for _ in range(320)]

    def behind(calls: int, feedback: str) -> float:
        exact = np.sum(inputs[:calls], axis=0, dtype=np.float64)
        return float(np.abs(sums(lossy, inputs[:calls], feedback=feedback, **setting) - exact).mean())

    assert behind(320, "on") < 1.3 * behind(80, "on")
    assert behind(320, "off") > 3 * behind(80, "off")
    assert behind(320, "on") < 0.1 * behind(320, "off")


def test_each_place_of_a_call_has_a_memory_of_its_own(lossy: Codec) -> None:
    """Two messages in turn, in one context, are what each is in a context of its own."""
    first, second = gradient(500, 1), gradient(500, 2)
    with context(lossy, F, feedback="on") as both, context(lossy, F, feedback="on") as one:
        for _ in range(3):
            both.begin()
            one.begin()
            assert np.array_equal(compressed(both, first), compressed(one, first))
            compressed(both, second)


def test_another_number_of_values_owes_nothing(lossy: Codec) -> None:
    values = gradient(500)
    with context(lossy, F, feedback="on") as made:
        for size in (500, 300, 500):
            made.begin()
            assert np.array_equal(compressed(made, values[:size]), stream_of(lossy, values[:size]))
        made.begin()
        assert not np.array_equal(compressed(made, values), stream_of(lossy, values))


def test_outside_of_calls_and_without_feedback_nothing_is_owed(lossy: Codec) -> None:
    values = gradient(500)
    expected = stream_of(lossy, values)
    with context(lossy, F, feedback="on") as never_begun, context(lossy, F) as without:
        for _ in range(3):
            without.begin()
            assert np.array_equal(compressed(never_begun, values), expected)
            assert np.array_equal(compressed(without, values), expected)


def test_what_is_not_finite_owes_nothing(lossy: Codec) -> None:
    values = gradient(500)
    values[3], values[4], values[5] = np.nan, np.inf, 3e38
    with context(lossy, F, feedback="on") as made:
        for _ in range(4):
            made.begin()
            back = decompressed(made, compressed(made, values), 500)
            assert np.isnan(back[3])
            assert back[4] == np.inf
            assert np.isfinite(back[5:]).all()
        values[3:6] = 0
        for _ in range(3):
            made.begin()
            assert np.isfinite(decompressed(made, compressed(made, values), 500)).all()


@pytest.mark.parametrize("shape", ["constant", "one", "steps", "noise"])
def test_with_feedback_no_message_is_off_by_more_than_stated(lossy: Codec, shape: str) -> None:
    setting: dict[str, str | float] = {"density": 0.02} if lossy.name == "topk" else {"group": 64}
    rng = np.random.default_rng(0)
    shapes = {
        "constant": np.ones(128),
        "one": np.eye(1, 128, 5)[0],  # one value that sign pays off in tiny steps
        "steps": np.linspace(0.9, 1, 128),
        "noise": rng.uniform(-1, 1, 128),
    }
    values = shapes[shape].astype(F)
    worst = 0.0
    with context(lossy, F, feedback="on", **setting) as made:
        bound = made.worst_error(float(np.abs(values).max()))
        for _ in range(400):
            made.begin()
            back = decompressed(made, compressed(made, values), values.size)
            assert violations(values, back, bound) == []
            worst = max(worst, float(np.abs(back.astype(float) - values).max()))
    if shape == "constant" and lossy.name == "topk":
        assert worst > 0.4 * bound  # the bound is of the right size: who waits is owed 1 / density times as much
    assert stated(lossy, values, **setting) <= bound
