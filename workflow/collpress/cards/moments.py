"""Mean, spread, skewness, kurtosis and two histograms: two passes in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from collpress.cards.field import Block, Field, Reals, blocks, in_line
from collpress.cards.order import PROBABILITIES, Order
from collpress.cards.patterns import Tally

BINS = 100


def values_part(values: Field, found: Tally, ordered: Order) -> dict[str, Any]:
    """The card's `values`; numbers are `null` where there is no usable value, or no spread."""
    n = found.usable
    part: dict[str, Any] = {
        "usable": n,
        "missing": found.missing,
        "nan": found.nan,
        "infinite": found.infinite,
        "zeros": found.zeros,
        "negative_zeros": found.negative_zeros,
        "subnormal": found.subnormal,
        "negative": found.negative,
        "positive": n - found.zeros - found.negative,
        "distinct": ordered.distinct,
        "most_common": {"value": ordered.most_common, "count": ordered.most_common_count},
        "quantiles": {f"{p:g}": v for p, v in zip(PROBABILITIES, ordered.quantiles, strict=False)} if n else None,
    }
    return part | _moments(values, n)


def _moments(values: Field, n: int) -> dict[str, Any]:
    names = ("minimum", "maximum", "mean", "std", "skewness", "kurtosis", "norm")
    if not n:
        return dict.fromkeys(names)
    line = in_line(values)
    total, squares, low, high = 0.0, 0.0, math.inf, -math.inf
    for block in blocks(line.shape):
        x = _usable(line, block)
        if x.size:
            total, squares = total + float(x.sum()), squares + _sum_of(x, x)
            low, high = min(low, float(x.min())), max(high, float(x.max()))
    mean = low if low == high else total / n
    sums = np.zeros(3)
    for block in blocks(line.shape):
        d = _usable(line, block) - mean
        square = d * d
        sums += [square.sum(), _sum_of(square, d), _sum_of(square, square)]
    second, third, fourth = (float(s) / n for s in sums)
    spread = second > 0
    return dict(
        zip(
            names,
            (
                low,
                high,
                mean,
                math.sqrt(second),
                third / second**1.5 if spread else None,
                fourth / second**2 if spread else None,
                math.sqrt(squares),
            ),
            strict=True,
        )
    )


def histograms(values: Field, part: dict[str, Any]) -> dict[str, Any]:
    """The card's `histograms`: equally wide bins over all values (`whole`) and between the 0.1 and the 99.9 % quantile
    (`body`); the last bin holds its right edge.
    """
    if not part["usable"]:
        return {"whole": None, "body": None}
    ends = {
        "whole": (part["minimum"], part["maximum"]),
        "body": (part["quantiles"]["0.001"], part["quantiles"]["0.999"]),
    }
    counts = {name: np.zeros(BINS, dtype=np.int64) for name in ends}
    line = in_line(values)
    for block in blocks(line.shape):
        x = _usable(line, block)
        for name, (low, high) in ends.items():
            if high > low:
                counts[name] += np.histogram(x, BINS, (low, high))[0]
    return {
        name: {"low": low, "high": high, "counts": counts[name].tolist()} if high > low else None
        for name, (low, high) in ends.items()
    }


def _sum_of(a: Reals, b: Reals) -> float:
    """Σ a b in one thread, so that its last bits do not depend on how many there are."""
    return float(np.einsum("i,i->", a, b))


def _usable(line: Field, block: Block) -> Reals:
    x = line.reals(block)
    kept = ~np.isnan(x)
    return x if kept.all() else x[kept]
