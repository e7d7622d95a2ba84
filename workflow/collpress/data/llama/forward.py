"""A text through the model, layer by layer, with all that a layer computes on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from collpress.data.llama.model import EMBEDDING, Model, Reals
from collpress.data.llama.operations import angles, attention, gated, heads_first, norm, rotated, tokens_first


@dataclass(frozen=True)
class Layer:
    """What one layer computed: rows are tokens, `q`, `k` and `v` are (head, token, dimension).

    `k` and `v` are what a KV-cache holds: keys are stored after the rotary embedding.
    """

    number: int
    x: Reals
    """What went in: the residual stream, (token, width)."""
    scaled: Reals
    normed: Reals
    q: Reals
    k: Reals
    v: Reals
    weights: Reals
    attended: Reals
    """All heads side by side, before attn_output."""
    middle: Reals
    """The residual stream between attention and feed-forward network."""
    middle_scaled: Reals
    middle_normed: Reals
    gate: Reals
    up: Reals
    hidden: Reals
    """The feed-forward network's inside, before ffn_down."""
    out: Reals
    """What goes out: the residual stream, (token, width)."""


def layers(model: Model, tokens: Sequence[int]) -> Iterator[Layer]:
    """The layers' results, one after the other; nothing of them is kept here."""
    sizes = model.sizes
    x = model.weights[EMBEDDING][np.asarray(tokens)]
    cosine, sine = angles(len(tokens), sizes.head_width, sizes.theta, x.dtype)
    for number in range(sizes.layers):
        layer = _layer(model, number, x, cosine, sine)
        yield layer
        x = layer.out


def _layer(model: Model, number: int, x: Reals, cosine: Reals, sine: Reals) -> Layer:
    sizes = model.sizes
    normed, scaled = norm(x, model.of(number, "attn_norm"), sizes.epsilon)
    q, k = (
        rotated(heads_first(normed @ model.of(number, part).T, heads), cosine, sine)
        for part, heads in (("attn_q", sizes.heads), ("attn_k", sizes.kv_heads))
    )
    v = np.ascontiguousarray(heads_first(normed @ model.of(number, "attn_v").T, sizes.kv_heads))
    result, weights = attention(q, k, v)
    attended = tokens_first(result)
    middle = x + attended @ model.of(number, "attn_output").T
    middle_normed, middle_scaled = norm(middle, model.of(number, "ffn_norm"), sizes.epsilon)
    gate, up = (middle_normed @ model.of(number, part).T for part in ("ffn_gate", "ffn_up"))
    hidden = gated(gate, up)
    out = middle + hidden @ model.of(number, "ffn_down").T
    attention_values = (x, scaled, normed, q, k, v, weights, attended, middle)
    return Layer(number, *attention_values, middle_scaled, middle_normed, gate, up, hidden, out)


def shares(count: int, ranks: int) -> list[slice]:
    """`count` things on `ranks` ranks, one after the other; the first ranks have one more where it does not divide."""
    ends = [rank * (count // ranks) + min(rank, count % ranks) for rank in range(ranks + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def partial_sums(model: Model, layer: Layer, ranks: int) -> tuple[Sequence[Reals], Sequence[Reals]]:
    """What each tensor-parallel rank would bring to the two all-reduces of a layer: (token, width) each.

    A rank holds some of the heads and their columns of attn_output, and some rows of ffn_gate and ffn_up and the same
    columns of ffn_down; the sum over the ranks is what the layer adds to the residual stream.
    """
    output, down = model.of(layer.number, "attn_output"), model.of(layer.number, "ffn_down")
    width = model.sizes.head_width
    heads = [slice(width * one.start, width * one.stop) for one in shares(model.sizes.heads, ranks)]
    attention_parts = [layer.attended[:, part] @ output[:, part].T for part in heads]
    ffn_parts = [layer.hidden[:, part] @ down[:, part].T for part in shares(model.sizes.ffn, ranks)]
    return attention_parts, ffn_parts
