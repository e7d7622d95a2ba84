"""One pass, as its own process sees it: the request, the model, every rank's text, the products into their files."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from collpress.data.llama import gguf, model
from collpress.data.llama.backward import loss_and_gradients, ready_order
from collpress.data.llama.forward import Layer, partial_sums
from collpress.data.llama.forward import layers as forward_layers
from collpress.data.llama.model import Model, Reals, Sizes
from collpress.data.llama.products import HALF, PARTIAL, Product, chosen, shape
from collpress.data.llama.tokenizer import Tokenizer
from collpress.errors import CollpressError
from collpress.files import atomic, require_memory, require_room


class Request(BaseModel):
    """What a pass shall do; `products` says which file each wanted product goes to, `asked` which is needed now."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: str
    shape: tuple[int, ...]
    """That the registry expects of what is asked for."""
    gguf: Path
    weights_sha256: str
    text: Path
    tokens: int
    ranks: int
    layers: tuple[int, ...]
    gradients: tuple[str, ...]
    products: Mapping[str, Path]


def run(request: Request) -> None:
    """Run the pass; every product appears whole when all of them are made.

    Errors
    ------
    CollpressError: the model's file, weights or a shape other than the registry's, a text that is too short, more
    tokens than the model takes, layers or tensors that it does not have, more tensor-parallel ranks than heads; memory
    or room.
    """
    file = gguf.read(request.gguf)
    sizes = model.sizes_of(file)
    names = chosen(request.gradients, ready_order(sizes))
    layers = _layers(request, sizes)
    texts = _texts(request, Tokenizer(file), sizes)
    wanted = [what for what in request.products if what not in PARTIAL or request.ranks <= sizes.heads]
    if request.asked not in wanted:
        raise CollpressError(
            f"{request.ranks} tensor-parallel ranks cannot share {sizes.heads} heads", allowed=f"at most {sizes.heads}"
        )
    shapes = {what: shape(what, sizes, request.ranks, request.tokens, len(layers), names) for what in wanted}
    if shapes[request.asked] != request.shape:
        allowed = f"{list(request.shape)}, as the registry says"
        raise CollpressError(f"the shape is {list(shapes[request.asked])}", allowed=allowed)
    stored = sum(math.prod(shapes[what]) * (2 if what in HALF else 4) for what in wanted)
    require_room(request.products[request.asked].parent, stored)
    require_memory(_memory(request, sizes, len(layers)), "capture")
    loaded = model.load(file)
    if (found := model.checksum(loaded)) != request.weights_sha256:
        raise CollpressError(
            f"wrong checksum of the weights: expected sha256 {request.weights_sha256}, found {found}",
            where=str(request.gguf),
            fix="if the entry was changed on purpose, write the new weights_sha256 into it",
        )
    with ExitStack() as files:
        products = {
            what: Product(files.enter_context(atomic(request.products[what])), shapes[what], what) for what in wanted
        }
        for rank, tokens in enumerate(texts):
            _rank(loaded, rank, tokens, _Keeper(loaded, rank, request, layers, products), names)


def _rank(loaded: Model, rank: int, tokens: list[int], keeper: _Keeper, names: list[str]) -> None:
    """One rank's text, forwards and, where gradients are wanted, backwards."""
    gradients = keeper.products.get("gradients")
    if gradients is None:
        for layer in forward_layers(loaded, tokens):
            keeper.see(layer)
    else:
        loss, pieces = loss_and_gradients(loaded, tokens, names, keeper.see)
        print(f"rank {rank}: {len(tokens)} tokens, loss {loss:.3f} nats", file=sys.stderr, flush=True)
        offset = 0
        for _, piece in pieces:
            gradients.put((rank,), piece, offset=offset)
            offset += piece.size
    keeper.end()


class _Keeper:
    """Takes from each layer what is wanted of it, for one rank."""

    def __init__(
        self, loaded: Model, rank: int, request: Request, layers: list[int], products: Mapping[str, Product]
    ) -> None:
        self.products = products
        self._model, self._rank, self._ranks, self._layers = loaded, rank, request.ranks, layers
        sizes = loaded.sizes
        cache = (request.tokens, sizes.layers, 2, sizes.kv_heads, sizes.head_width)
        self._trace = np.empty(cache if "decode" in products else 0, np.float32)

    def see(self, layer: Layer) -> None:
        for what, cached in (("keys", layer.k), ("values", layer.v)):
            if what in self.products:
                self.products[what].put((self._rank, layer.number), cached)
        if "decode" in self.products:
            self._trace[:, layer.number, 0] = layer.k.swapaxes(0, 1)
            self._trace[:, layer.number, 1] = layer.v.swapaxes(0, 1)
        if layer.number in self._layers:
            self._see_activations(layer, self._layers.index(layer.number))

    def _see_activations(self, layer: Layer, place: int) -> None:
        if "residual" in self.products:
            self.products["residual"].put((self._rank, place), layer.out)
        if self._rank == 0 and any(
            what in self.products for what in PARTIAL
        ):  # all tensor-parallel ranks read one text
            for what, parts in zip(PARTIAL, partial_sums(self._model, layer, self._ranks), strict=True):
                self._put_partial(what, place, parts)

    def _put_partial(self, what: str, place: int, parts: Sequence[Reals]) -> None:
        if what in self.products:
            for rank, part in enumerate(parts):
                self.products[what].put((rank, place), part)

    def end(self) -> None:
        if "decode" in self.products:
            self.products["decode"].put((self._rank,), self._trace)


def _layers(request: Request, sizes: Sizes) -> list[int]:
    beyond = [layer for layer in request.layers if layer >= sizes.layers]
    if beyond or len(set(request.layers)) < len(request.layers):
        said = ", ".join(map(str, request.layers))
        raise CollpressError(
            f"the layers {said}", where="capture.layers", allowed=f"0 to {sizes.layers - 1}, each once"
        )
    return sorted(request.layers) or list(range(sizes.layers))


def _texts(request: Request, tokenizer: Tokenizer, sizes: Sizes) -> Iterator[list[int]]:
    """Each rank's tokens: the text's, one run after the other, none twice."""
    if request.tokens > sizes.context:
        raise CollpressError(
            f"{request.tokens} tokens", where="capture.tokens", allowed=f"at most {sizes.context}, the model's context"
        )
    try:
        tokens = tokenizer.encode(request.text.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise CollpressError("the text is not UTF-8", where=str(request.text)) from None
    needed = request.ranks * request.tokens
    if needed > len(tokens):
        raise CollpressError(
            f"the text has {len(tokens)} tokens; {request.ranks} ranks with {request.tokens} each need {needed}",
            where=str(request.text),
            fix="take fewer ranks or tokens, or a longer text: no text is read twice",
        )
    return (tokens[rank * request.tokens : (rank + 1) * request.tokens] for rank in range(request.ranks))


def _memory(request: Request, sizes: Sizes, layers: int) -> int:
    """Bytes that the weights and, for gradients, the layers of one text take at least."""
    weights = sum(int(np.prod(one)) for one in sizes.shapes.values())
    layer = request.tokens * (10 * sizes.width + 3 * sizes.ffn) + sizes.heads * request.tokens**2
    return 4 * (weights + layer * (sizes.layers if "gradients" in request.products else 1))
