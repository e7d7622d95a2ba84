"""What one pass gives: the shapes of its products, and files that take them piece by piece.

| product | axes |
|---|---|
| gradients | rank, value: tensor after tensor in the order in which they become ready, the last layer's first |
| keys, values | rank, layer, KV head, token, dimension: a rank's whole KV-cache |
| decode | rank, token, layer, key or value, KV head, dimension: the same in the order in which decoding appends it |
| residual | rank, layer, token, width: what the layer hands on, and a pipeline's stage behind it would receive |
| attention-partial, mlp-partial | rank, layer, token, width: what a tensor-parallel rank brings to an all-reduce |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from collpress.data.bfloat16 import narrowed
from collpress.data.llama.model import Reals, Sizes
from collpress.errors import CollpressError

FORWARD = ("keys", "values", "decode", "residual", "attention-partial", "mlp-partial")
"""What a pass forwards gives."""
PARTIAL = FORWARD[4:]
HALF = FORWARD[:3]
"""What is stored as bfloat16, as serving does; everything else as float32."""


def shape(what: str, sizes: Sizes, ranks: int, tokens: int, layers: int, gradients: Sequence[str]) -> tuple[int, ...]:
    """The shape of a product; `layers` counts those whose activations are kept, `gradients` names the tensors."""
    head = (sizes.kv_heads, sizes.head_width)
    return {
        "gradients": (ranks, sum(math.prod(sizes.shapes[name]) for name in gradients)),
        "keys": (ranks, sizes.layers, head[0], tokens, head[1]),
        "values": (ranks, sizes.layers, head[0], tokens, head[1]),
        "decode": (ranks, tokens, sizes.layers, 2, *head),
    }.get(what, (ranks, layers, tokens, sizes.width))


def chosen(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that match one of the patterns, in their own order. Errors: a pattern that matches none."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise CollpressError(
                f'no tensor matches "{pattern}"', where="capture.gradients", allowed=f"{names[0]}, {names[1]}, ..."
            )
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


class Product:
    """A file that takes an array piece by piece and holds it as a dataset does: float32, or the bits of bfloat16."""

    def __init__(self, file: BinaryIO, shape: tuple[int, ...], what: str) -> None:
        self._file, self._shape, self._half = file, shape, what in HALF
        self._dtype = _dtype(what)

    def put(self, at: tuple[int, ...], piece: Reals, *, offset: int = 0) -> None:
        """Write a piece where the indices `at` of the slowest axes begin, and `offset` values further on."""
        steps = [math.prod(self._shape[axis + 1 :]) for axis in range(len(at))]
        first = sum(index * step for index, step in zip(at, steps, strict=True)) + offset
        values: npt.NDArray[Any] = np.ascontiguousarray(piece, np.float32)
        values = np.ascontiguousarray(narrowed(values) if self._half else values, self._dtype)
        self._file.seek(first * self._dtype.itemsize)
        self._file.write(values.data)


def load(path: Path, shape: tuple[int, ...], what: str) -> npt.NDArray[Any]:
    """The array of a product's file, mapped. Errors: it has another length than the shape asks for."""
    dtype = _dtype(what)
    needed, found = math.prod(shape) * dtype.itemsize, path.stat().st_size
    if found != needed:
        said = f"the capture has {found} bytes, the registry's shape {list(shape)} asks for {needed}"
        raise CollpressError(
            said, where=str(path), fix="correct the shape; if it is right, delete the file and try again"
        )
    return np.memmap(path, dtype, "r", shape=shape)


def _dtype(what: str) -> np.dtype[Any]:
    return np.dtype("<u2" if what in HALF else "<f4")
