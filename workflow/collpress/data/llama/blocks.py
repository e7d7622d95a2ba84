"""From stored blocks to float32, the same bits everywhere: one product and one sum a value, each rounded once.

Source of the blocks: ggml, `block_q4_1` and `block_q8_0`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collpress.data.llama.gguf import Tensor

Floats = npt.NDArray[np.float32]

_PIECE = 1 << 15
"""Blocks that are worked on at a time: what they need stays in the processor's cache."""
_Q4_1 = np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)])
_Q8_0 = np.dtype([("scale", "<f2"), ("levels", "i1", 32)])


def dequantised(tensor: Tensor) -> Floats:
    """The tensor's values: float32 of its shape, a copy."""
    if tensor.encoding.name == "F32":
        return np.frombuffer(tensor.blocks, "<f4").astype(np.float32).reshape(tensor.shape)
    stored = np.frombuffer(tensor.blocks, _Q4_1 if tensor.encoding.name == "Q4_1" else _Q8_0)
    values = np.empty((stored.size, 32), np.float32)
    turn = _from_q4_1 if tensor.encoding.name == "Q4_1" else _from_q8_0
    for begin in range(0, stored.size, _PIECE):
        turn(stored[begin : begin + _PIECE], values[begin : begin + _PIECE])
    return values.reshape(tensor.shape)


def _from_q4_1(stored: npt.NDArray[np.void], values: Floats) -> None:
    """scale · level + least; a byte holds the levels of values i (low half) and i + 16 (high half)."""
    values[:, :16] = stored["pairs"] & 15
    values[:, 16:] = stored["pairs"] >> 4
    values *= stored["scale"].astype(np.float32)[:, None]
    values += stored["least"].astype(np.float32)[:, None]


def _from_q8_0(stored: npt.NDArray[np.void], values: Floats) -> None:
    """scale · level."""
    values[...] = stored["levels"]
    values *= stored["scale"].astype(np.float32)[:, None]
