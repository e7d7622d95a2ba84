"""The loss of a text and its gradients, handed out tensor by tensor in the order in which they become ready.

The loss is the mean cross-entropy of each token but the first, given those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from collpress.data.llama.forward import Layer, layers
from collpress.data.llama.model import EMBEDDING, FINAL_NORM, PARTS, Model, Reals, Sizes, tensor
from collpress.data.llama.operations import (
    angles,
    attention_back,
    gated_back,
    heads_first,
    norm,
    norm_back,
    rotated,
    tokens_first,
)

_ROWS = 64
"""Tokens whose scores over the vocabulary are held at a time."""


def ready_order(sizes: Sizes) -> list[str]:
    """The names of all tensors in the order in which their gradients are ready: the last layer's first.

    That is the order in which data-parallel training sends them, in buckets (Li et al. 2020, PyTorch Distributed).
    """
    inside = [tensor(layer, part) for layer in reversed(range(sizes.layers)) for part in reversed(PARTS)]
    return [FINAL_NORM, *inside, EMBEDDING]


def loss_and_gradients(
    model: Model, tokens: Sequence[int], wanted: Sequence[str], seen: Callable[[Layer], None] = lambda layer: None
) -> tuple[float, Iterator[tuple[str, Reals]]]:
    """One pass forwards, at once, and one backwards, as far as the iterator is read.

    Parameters
    ----------
    wanted : names of tensors; layers below the lowest of them are left out of the pass backwards, and of the memory.
    seen : is shown every layer on the way forwards.

    Returns
    -------
    The loss in nats, and the gradients by name, in the order of `ready_order`.
    """
    lowest = 0 if EMBEDDING in wanted else min((_layer_of(n, model) for n in wanted), default=model.sizes.layers)
    kept: list[Layer] = []
    x: Reals = np.empty(0)
    for layer in layers(model, tokens):
        seen(layer)
        if layer.number >= lowest:
            kept.append(layer)
        x = layer.out
    normed, scaled = norm(x, model.weights[FINAL_NORM], model.sizes.epsilon)
    loss, d, d_head = _head(model.weights[EMBEDDING], normed, tokens, EMBEDDING in wanted)
    dx, d_norm = norm_back(d, x, scaled, model.weights[FINAL_NORM], model.sizes.epsilon)
    return loss, _back(model, tokens, frozenset(wanted), kept, dx, d_norm, d_head)


def _back(
    model: Model,
    tokens: Sequence[int],
    wanted: frozenset[str],
    kept: list[Layer],
    dx: Reals,
    d_norm: Reals,
    d_head: Reals | None,
) -> Iterator[tuple[str, Reals]]:
    if FINAL_NORM in wanted:
        yield FINAL_NORM, d_norm
    while kept:
        layer = kept.pop()
        dx, gradients = _layer_back(model, layer, dx, {p for p in PARTS if tensor(layer.number, p) in wanted})
        for part in reversed(PARTS):
            if part in gradients:
                yield tensor(layer.number, part), gradients[part]
    if d_head is not None:
        np.add.at(d_head, np.asarray(tokens), dx)
        yield EMBEDDING, d_head


def _head(embedding: Reals, x: Reals, tokens: Sequence[int], wanted: bool) -> tuple[float, Reals, Reals | None]:
    """The loss, and its derivatives by the final rows and, if wanted, by the embedding as the output head."""
    targets = np.asarray(tokens[1:])
    dx: Reals = np.zeros_like(x)
    loss = 0.0
    d_embedding: Reals | None = np.zeros_like(embedding) if wanted else None
    for begin in range(0, targets.size, _ROWS):
        rows = x[begin : min(begin + _ROWS, targets.size)]
        own = (np.arange(len(rows)), targets[begin : begin + _ROWS])
        scores = rows @ embedding.T
        scores -= scores.max(axis=-1, keepdims=True)
        loss -= float(scores[own].sum())
        np.exp(scores, out=scores)
        totals = scores.sum(axis=-1, keepdims=True)
        loss += float(np.log(totals).sum())
        scores /= totals
        scores[own] -= 1
        scores /= targets.size
        dx[begin : begin + len(rows)] = scores @ embedding
        if d_embedding is not None:
            d_embedding += scores.T @ rows
    return loss / targets.size, dx, d_embedding


def _layer_back(model: Model, layer: Layer, d: Reals, wanted: set[str]) -> tuple[Reals, dict[str, Reals]]:
    """From the loss's derivative by what went out to that by what went in, and to those by the wanted weights."""
    number, sizes = layer.number, model.sizes
    found: dict[str, Reals] = {}

    def through(part: str, by_result: Reals, argument: Reals) -> Reals:
        """Back through `argument @ weight.T`."""
        if part in wanted:
            found[part] = by_result.T @ argument
        return by_result @ model.of(number, part)

    def normed(part: str, by_result: Reals, argument: Reals, scaled: Reals) -> Reals:
        by_argument, found_here = norm_back(by_result, argument, scaled, model.of(number, part), sizes.epsilon)
        if part in wanted:
            found[part] = found_here
        return by_argument

    d_gate, d_up = gated_back(through("ffn_down", d, layer.hidden), layer.gate, layer.up)
    d_inner: Reals = through("ffn_up", d_up, layer.middle_normed)
    d_inner = d_inner + through("ffn_gate", d_gate, layer.middle_normed)
    d = d + normed("ffn_norm", d_inner, layer.middle, layer.middle_scaled)

    by_heads = heads_first(through("attn_output", d, layer.attended), sizes.heads)
    d_q, d_k, d_v = attention_back(by_heads, layer.q, layer.k, layer.v, layer.weights)
    cosine, sine = angles(d.shape[0], sizes.head_width, sizes.theta, d.dtype)
    d_inner = through("attn_v", tokens_first(d_v), layer.normed)
    d_inner += through("attn_k", tokens_first(rotated(d_k, cosine, -sine)), layer.normed)
    d_inner += through("attn_q", tokens_first(rotated(d_q, cosine, -sine)), layer.normed)
    return d + normed("attn_norm", d_inner, layer.x, layer.scaled), found


def _layer_of(name: str, model: Model) -> int:
    """The layer that a tensor belongs to; one beyond the last for what comes after all of them."""
    return model.sizes.layers if name == FINAL_NORM else int(name.split(".")[1])
