"""Values through a codec with some parameters, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.codecs import Codec, Setting
from collpress.codecs.codec import CodecContext

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
HEADER = 32  # bytes that all our streams begin with


def context(codec: Codec, dtype: npt.DTypeLike, rank: int = 0, **parameters: str | float) -> CodecContext:
    return CodecContext(codec, dtype, Setting(parameters=parameters, rank=rank))


def compressed(made: CodecContext, values: Array) -> Bytes:
    stream = np.empty(made.max_bytes(values.size), dtype=np.uint8)
    return stream[: made.compress_into(values, stream)].copy()


def decompressed(made: CodecContext, stream: Bytes, count: int) -> Array:
    values = np.full(count, 7, dtype=made.dtype)
    made.decompress_into(stream, values)
    return values


def stream_of(codec: Codec, values: Array, rank: int = 0, **parameters: str | float) -> Bytes:
    with context(codec, values.dtype, rank, **parameters) as made:
        return compressed(made, values)


def round_trip(codec: Codec, values: Array, rank: int = 0, **parameters: str | float) -> Array:
    with context(codec, values.dtype, rank, **parameters) as made:
        return decompressed(made, compressed(made, values), values.size)


def stated(codec: Codec, values: Array, **parameters: str | float) -> float:
    """The worst error that the codec states for them."""
    with context(codec, values.dtype, **parameters) as made:
        return made.worst_error(float(np.abs(values).max()))


def gradient(count: int, seed: int = 0) -> Array:
    """Student's t with four degrees of freedom, of another magnitude in each layer of 4096 values; float32."""
    rng = np.random.default_rng(seed)
    layers = np.repeat(10.0 ** rng.uniform(-4, -1, count // 4096 + 1), 4096)[:count]
    return (rng.standard_t(4, count) * layers).astype(np.float32)


def nmse(values: Array, back: Array) -> float:
    """Mean square error over mean square."""
    exact = values.astype(np.float64)
    return float(((back - exact) ** 2).sum() / (exact**2).sum())


def hadamard_matrix(size: int) -> Array:
    """Sylvester's, orthonormal."""
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / np.sqrt(size)
