"""The operations of a layer, each with its derivative. Rows are tokens; arrays keep the type of their arguments.

Sources: RMSNorm, Zhang & Sennrich 2019; rotary embedding, Su et al. 2021, with the halves of a head turned together;
SwiGLU, Shazeer 2020; grouped-query attention, Ainslie et al. 2023.
"""

from __future__ import annotations

import math

import numpy as np

from collpress.data.llama.model import Reals


def norm(x: Reals, weight: Reals, epsilon: float) -> tuple[Reals, Reals]:
    """RMSNorm of each row: its result, and the row over its root mean square, which the derivative needs."""
    scaled = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(epsilon))
    return scaled * weight, scaled


def norm_back(d: Reals, x: Reals, scaled: Reals, weight: Reals, epsilon: float) -> tuple[Reals, Reals]:
    """From the loss's derivative by the result to those by `x` and by the weight."""
    root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(epsilon))
    inner = d * weight
    return (inner - scaled * np.mean(inner * scaled, axis=-1, keepdims=True)) / root, np.sum(d * scaled, axis=0)


def angles(tokens: int, head_width: int, theta: float, dtype: np.dtype) -> tuple[Reals, Reals]:
    """Cosine and sine by which the rotary embedding turns: (token, half a head).

    The angle itself is rounded to float32, as it was in training: that shifts a late token's keys by more than all
    other rounding together.
    """
    waves = (theta ** (-np.arange(0, head_width, 2) / head_width)).astype(np.float32)
    turn = (np.arange(tokens, dtype=np.float32)[:, None] * waves).astype(np.float64)
    return np.cos(turn).astype(dtype), np.sin(turn).astype(dtype)


def rotated(x: Reals, cosine: Reals, sine: Reals) -> Reals:
    """(head, token, dimension), turned by the tokens' angles; with `-sine`, turned back, which is the derivative."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)


def attention(q: Reals, k: Reals, v: Reals) -> tuple[Reals, Reals]:
    """Causal attention. `q`: (head, token, dimension), `k` and `v` the same with fewer heads, each for a group.

    Returns the result, like `q`, and the weights (head, token, token of the past), which the derivative needs.
    """
    group, tokens = q.shape[0] // k.shape[0], q.shape[1]
    weights = np.empty((q.shape[0], tokens, tokens), q.dtype)
    result = np.empty_like(q)
    future = np.triu(np.full((tokens, tokens), -np.inf, q.dtype), 1)
    for head in range(q.shape[0]):
        scores = q[head] @ k[head // group].T
        scores *= q.dtype.type(1 / math.sqrt(q.shape[-1]))
        scores += future
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        weights[head] = scores
        result[head] = scores @ v[head // group]
    return result, weights


def attention_back(d: Reals, q: Reals, k: Reals, v: Reals, weights: Reals) -> tuple[Reals, Reals, Reals]:
    """From the loss's derivative by the result to those by `q`, `k` and `v`."""
    group, scale = q.shape[0] // k.shape[0], q.dtype.type(1 / math.sqrt(q.shape[-1]))
    dq, dk, dv = np.empty_like(q), np.zeros_like(k), np.zeros_like(v)
    for head in range(q.shape[0]):
        shared = head // group
        dv[shared] += weights[head].T @ d[head]
        inner = d[head] @ v[shared].T
        inner -= np.sum(inner * weights[head], axis=-1, keepdims=True)
        inner *= weights[head]
        inner *= scale
        dq[head] = inner @ k[shared]
        dk[shared] += inner.T @ q[head]
    return dq, dk, dv


def gated(gate: Reals, up: Reals) -> Reals:
    """SiLU of `gate`, times `up`."""
    result: Reals = gate / (1 + np.exp(-gate)) * up
    return result


def gated_back(d: Reals, gate: Reals, up: Reals) -> tuple[Reals, Reals]:
    """From the loss's derivative by the result to those by `gate` and `up`."""
    sigmoid = 1 / (1 + np.exp(-gate))
    return d * up * sigmoid * (1 + gate * (1 - sigmoid)), d * gate * sigmoid


def heads_first(x: Reals, heads: int) -> Reals:
    """(token, heads · dimension) to (head, token, dimension)."""
    return x.reshape(x.shape[0], heads, -1).swapaxes(0, 1)


def tokens_first(x: Reals) -> Reals:
    """(head, token, dimension) to (token, heads · dimension)."""
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)
