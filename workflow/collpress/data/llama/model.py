"""A model of the Llama architecture: its sizes and its weights, as a GGUF file holds them.

Matrices are (output, input): a layer computes `x @ weight.T`. Tensors have their names of the file.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.data.llama.blocks import dequantised
from collpress.data.llama.gguf import Gguf
from collpress.errors import CollpressError

Reals = npt.NDArray[np.floating[Any]]
"""float32; float64 where a test wants to see more digits."""

EMBEDDING, FINAL_NORM = "token_embd.weight", "output_norm.weight"
PARTS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
"""What a layer consists of, in the order in which it is used."""


@dataclass(frozen=True)
class Sizes:
    """What the architecture leaves open. A head's width is `width // heads`; the output head is the embedding."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int
    vocabulary: int
    context: int
    theta: float
    """Base of the rotary embedding's wave lengths."""
    epsilon: float
    """Added to the mean square before its root is taken."""

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor by name, in the order in which a pass uses them."""
        d, kv = self.width, self.kv_heads * self.head_width
        part = dict(
            zip(PARTS, ((d,), (d, d), (kv, d), (kv, d), (d, d), (d,), *2 * [(self.ffn, d)], (d, self.ffn)), strict=True)
        )
        layers = {tensor(layer, name): part[name] for layer in range(self.layers) for name in PARTS}
        return {EMBEDDING: (self.vocabulary, d), **layers, FINAL_NORM: (d,)}


def tensor(layer: int, part: str) -> str:
    """The name of a layer's tensor."""
    return f"blk.{layer}.{part}.weight"


@dataclass(frozen=True)
class Model:
    sizes: Sizes
    weights: Mapping[str, Reals]

    def of(self, layer: int, part: str) -> Reals:
        """One tensor of a layer."""
        return self.weights[tensor(layer, part)]


def sizes_of(gguf: Gguf) -> Sizes:
    """The sizes that a file declares. Errors: another architecture, or sizes that do not go together."""
    if (architecture := gguf.value("general.architecture", str)) != "llama":
        raise CollpressError(f"the architecture {architecture!r}", where=str(gguf.path), allowed="'llama'")
    whole = {
        "layers": "block_count",
        "width": "embedding_length",
        "heads": "attention.head_count",
        "kv_heads": "attention.head_count_kv",
        "ffn": "feed_forward_length",
        "context": "context_length",
    }
    numbers = {name: gguf.value(f"llama.{key}", int) for name, key in whole.items()}
    embedding = gguf.tensors.get(EMBEDDING)
    sizes = Sizes(
        **numbers,
        vocabulary=embedding.shape[0] if embedding is not None else 0,
        theta=float(gguf.value("llama.rope.freq_base", (int, float))),
        epsilon=float(gguf.value("llama.attention.layer_norm_rms_epsilon", float)),
    )
    if sizes.layers > len(gguf.tensors):  # before anything is made for each of them
        raise CollpressError(f"{sizes.layers} layers, but {len(gguf.tensors)} tensors", where=str(gguf.path))
    fits = min(*numbers.values(), sizes.vocabulary) > 0 and sizes.width % sizes.heads == 0
    fits = fits and sizes.heads % sizes.kv_heads == 0 and sizes.head_width % 2 == 0
    fits = fits and math.isfinite(sizes.theta) and sizes.theta > 1 and 0 < sizes.epsilon < 1
    if not fits:
        raise CollpressError(
            f"the sizes do not go together: {sizes}", where=str(gguf.path), fix="take another GGUF file"
        )
    return sizes


def load(gguf: Gguf) -> Model:
    """All weights as float32.

    llama.cpp stores the rows of attn_q and attn_k so that the two numbers that the rotary embedding turns together lie
    side by side; here they lie half a head apart again, as the model was trained.

    Errors: another architecture; a tensor that is missing, too many or of another shape; a head of its own.
    """
    sizes = sizes_of(gguf)
    shapes = sizes.shapes
    if more := sorted(gguf.tensors.keys() - shapes.keys()):
        raise CollpressError(
            f"tensors that this model has no use for: {', '.join(more[:3])}",
            where=str(gguf.path),
            allowed="embedding, layers and final norm of a Llama whose output head is its embedding",
        )
    stored = {name: gguf.tensor(name, shape) for name, shape in shapes.items()}
    weights = {name: dequantised(one) for name, one in stored.items()}
    for layer in range(sizes.layers):
        for part, heads in (("attn_q", sizes.heads), ("attn_k", sizes.kv_heads)):
            weights[tensor(layer, part)] = halves_apart(weights[tensor(layer, part)], heads)
    return Model(sizes, weights)


def halves_apart(rows: Reals, heads: int) -> Reals:
    """Rows that lie in pairs, head by head, so that the second of each pair follows half a head after the first."""
    out, width = rows.shape
    return rows.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


def checksum(model: Model) -> str:
    """sha256 of all weights as the model uses them, in the order of `Sizes.shapes`."""
    digest = hashlib.sha256()
    for name in model.sizes.shapes:
        digest.update(np.ascontiguousarray(model.weights[name], "<f4").data)
    return digest.hexdigest()
