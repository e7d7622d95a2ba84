"""The model's passes agree with what they mean: differences of the loss, prefixes of the text, sums over ranks."""

from __future__ import annotations

import numpy as np
import pytest

from collpress.data.llama import operations
from collpress.data.llama.backward import loss_and_gradients, ready_order
from collpress.data.llama.forward import layers, partial_sums, shares
from collpress.data.llama.model import EMBEDDING, FINAL_NORM, Model, tensor


def changed(model: Model, name: str, place: tuple[int, ...], step: float) -> Model:
    weight = model.weights[name].copy()
    weight[place] += step
    return Model(model.sizes, {**model.weights, name: weight})


def loss(model: Model, tokens: list[int]) -> float:
    return loss_and_gradients(model, tokens, [])[0]


def worst_difference(model: Model, tokens: list[int]) -> float:
    """The largest distance of gradients from central differences, over the largest gradient of their tensor."""
    random = np.random.Generator(np.random.Philox(9))
    gradients = dict(loss_and_gradients(model, tokens, ready_order(model.sizes))[1])
    worst = 0.0
    for name, gradient in gradients.items():
        places = [tuple(int(random.integers(n)) for n in gradient.shape) for _ in range(3)]
        if name == EMBEDDING:
            places += [(tokens[3], 7), (tokens[-1], 11)]
        for place in [*places, np.unravel_index(np.abs(gradient).argmax(), gradient.shape)]:
            ends = [loss(changed(model, name, place, step), tokens) for step in (1e-5, -1e-5)]
            worst = max(worst, abs((ends[0] - ends[1]) / 2e-5 - gradient[place]) / np.abs(gradient).max())
    return worst


def test_gradients_are_the_differences_of_the_loss(tiny: Model, tokens: list[int]) -> None:
    assert tiny.weights[EMBEDDING].dtype == np.float64
    assert worst_difference(tiny, tokens) < 1e-6


@pytest.mark.parametrize("fault", ["turned the wrong way", "no softmax term"])
def test_the_differences_show_a_faulty_derivative(
    tiny: Model, tokens: list[int], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "turned the wrong way":
        wrong = lambda x, cosine, sine: operations.rotated(x, cosine, -sine)  # noqa: E731
        monkeypatch.setattr("collpress.data.llama.backward.rotated", wrong)
    else:
        wrong = lambda d, q, k, v, w: operations.attention_back(d, q, k, v, np.ones_like(w) / w.shape[-1])  # noqa: E731
        monkeypatch.setattr("collpress.data.llama.backward.attention_back", wrong)
    assert worst_difference(tiny, tokens) > 1e-3


def test_gradients_come_in_the_order_in_which_they_are_ready_and_only_those_that_are_wanted(
    tiny: Model, tokens: list[int]
) -> None:
    order = ready_order(tiny.sizes)
    assert sorted(order) == sorted(tiny.weights)
    assert order[:2] == [FINAL_NORM, tensor(1, "ffn_down")]
    assert order[-2:] == [tensor(0, "attn_norm"), EMBEDDING]
    everything = dict(loss_and_gradients(tiny, tokens, order)[1])
    assert list(everything) == order
    for wanted in ([tensor(1, "attn_q")], [tensor(0, "ffn_up"), tensor(1, "attn_norm")], [FINAL_NORM], [EMBEDDING]):
        some = dict(loss_and_gradients(tiny, tokens, wanted)[1])
        assert sorted(some) == sorted(wanted)
        assert all(np.array_equal(some[name], everything[name]) for name in wanted)


def test_the_loss_of_a_model_that_knows_nothing_is_that_of_a_guess(tiny: Model, tokens: list[int]) -> None:
    blank = Model(tiny.sizes, {name: np.zeros_like(weight) for name, weight in tiny.weights.items()})
    assert loss(blank, tokens) == pytest.approx(np.log(tiny.sizes.vocabulary))


def test_decoding_token_by_token_leaves_the_same_cache_as_the_whole_text(tiny: Model, tokens: list[int]) -> None:
    whole = list(layers(tiny, tokens))
    for length in range(1, len(tokens) + 1):
        for prefix, full in zip(layers(tiny, tokens[:length]), whole, strict=True):
            np.testing.assert_allclose(prefix.k[:, -1], full.k[:, length - 1], rtol=0, atol=1e-12)
            np.testing.assert_allclose(prefix.v[:, -1], full.v[:, length - 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_partial_sums_of_tensor_parallel_ranks_add_up_to_what_the_layer_adds(
    tiny: Model, tokens: list[int], ranks: int
) -> None:
    for layer in layers(tiny, tokens):
        attention, ffn = partial_sums(tiny, layer, ranks)
        assert len(attention) == len(ffn) == ranks
        np.testing.assert_allclose(sum(attention), layer.middle - layer.x, atol=1e-12)
        np.testing.assert_allclose(sum(ffn), layer.out - layer.middle, atol=1e-12)
        if ranks > 1:
            assert np.abs(attention[0] - attention[1]).max() > 1e-3


def test_heads_are_shared_out_as_evenly_as_they_can_be() -> None:
    assert [one.stop - one.start for one in shares(9, 4)] == [3, 2, 2, 2]
    assert [(one.start, one.stop) for one in shares(1536, 3)] == [(0, 512), (512, 1024), (1024, 1536)]


def test_each_group_of_query_heads_reads_its_own_key_head(tiny: Model, tokens: list[int]) -> None:
    first = next(iter(layers(tiny, tokens)))
    for head in range(tiny.sizes.heads):
        shared = head // (tiny.sizes.heads // tiny.sizes.kv_heads)
        scores = first.q[head] @ first.k[shared].T / np.sqrt(tiny.sizes.head_width)
        scores[np.triu_indices(len(tokens), 1)] = -np.inf
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(first.weights[head], expected, atol=1e-12)
