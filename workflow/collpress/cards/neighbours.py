"""How much a value tells of its neighbours: autocorrelation and mean step along each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from collpress.cards.field import Block, Field, Reals, blocks

LAGS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def axes_part(values: Field, part: dict[str, Any]) -> list[dict[str, Any]]:
    """The card's `axes`, slowest first, without the one that counts parts.

    `autocorrelation` at lag k: the mean of (x_i − m)(x_{i+k} − m) over all pairs along the axis of which both are
    usable, over the variance; m and the variance are those of all values. Lags reach to half of the axis. `null` where
    there is no pair or no variance. `mean_step_over_range`: the mean of |x_{i+1} − x_i| over the value range.
    """
    return [_axis(values, axis, part) for axis in values.inside]


def _axis(values: Field, axis: int, part: dict[str, Any]) -> dict[str, Any]:
    n = values.shape[axis]
    lags = [k for k in LAGS if k <= max(1, n // 2) and k < n]
    described: dict[str, Any] = {"axis": axis, "length": n, "lags": lags}
    spread = bool(lags) and bool(part["std"])
    if not spread:
        flat = 0.0 if part["std"] == 0 and lags else None
        return described | {"autocorrelation": [None] * len(lags), "mean_step_over_range": flat}
    products, pairs = np.zeros(len(lags)), np.zeros(len(lags), dtype=np.int64)
    steps, complete = 0.0, part["usable"] == values.bits.size
    for block in blocks(values.shape, keep=axis):
        x, own = _with_next(values, block, axis, lags[-1])
        x -= part["mean"]
        kept = None
        if not complete:
            kept = ~np.isnan(x)
            x[~kept] = 0.0
        for i, lag in enumerate(lags):
            count = min(own, x.shape[axis] - lag)
            if count > 0:
                a, b = _ahead(x, axis, 0, count), _ahead(x, axis, lag, count)
                products[i] += _dot(a, b)
                both = None if kept is None else _ahead(kept, axis, 0, count) & _ahead(kept, axis, lag, count)
                pairs[i] += a.size if both is None else both.sum()
                if lag == 1:
                    step = np.abs(b - a)
                    steps += float(step.sum() if both is None else step[both].sum())
    with np.errstate(invalid="ignore"):
        correlation = products / pairs / part["std"] ** 2
    width = part["maximum"] - part["minimum"]
    return described | {
        "autocorrelation": [float(c) if p else None for c, p in zip(correlation, pairs, strict=True)],
        "mean_step_over_range": steps / int(pairs[0]) / width if pairs[0] else None,
    }


def _with_next(values: Field, block: Block, axis: int, further: int) -> tuple[Reals, int]:
    """A block with the values behind it along an axis, and how many are its own."""
    own = block[axis]
    longer = slice(own.start, min(own.stop + further, values.shape[axis]))
    return values.reals((*block[:axis], longer, *block[axis + 1 :])), own.stop - own.start


def _ahead(x: Any, axis: int, start: int, count: int) -> Any:
    return x[(slice(None),) * axis + (slice(start, start + count),)]


def _dot(a: Reals, b: Reals) -> float:
    """Σ a b in one thread, so that its last bits do not depend on how many there are."""
    letters = "abcdefghijklmnopqrstuvwxyz"[: a.ndim]
    return float(np.einsum(f"{letters},{letters}->", a, b))
