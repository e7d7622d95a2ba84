"""Outlier channels: indices of the last axis whose values are much larger than those of the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from collpress.cards.field import Field, blocks

OUTLIER = 4.0
"""Times the median channel of the group."""
MOST = 1 << 22
"""Channels of all groups together."""
SHOWN = 256


def channels_part(values: Field, part: dict[str, Any]) -> dict[str, Any] | None:
    """The card's `channels`; None for data with fewer than two axes, fewer than two channels or no usable value.

    A channel is an index of the last axis within a group, an index of all axes but the last two (for a KV cache: layer
    and head). Its size is the mean of |x| along the second last axis; ratios are to the median channel of the group.
    """
    axes = values.inside
    if len(axes) < 2 or values.shape[-1] < 2 or not part["usable"]:
        return None
    rows, n = values.shape[-2:]
    groups = values.shape[:-2]
    if math.prod(groups) * n > MOST:
        return None
    sums = np.zeros((*groups, n))
    counts = np.zeros((*groups, n), dtype=np.int64)
    for block in blocks(values.shape, keep=-2):
        x = np.abs(values.reals(block))
        usable = ~np.isnan(x)
        target = (*block[:-2], block[-1])
        sums[target] += np.where(usable, x, 0.0).sum(axis=-2)
        counts[target] += usable.sum(axis=-2)
    mean = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    median = np.median(mean, axis=-1, keepdims=True)
    ratio = np.divide(mean, median, out=np.full_like(mean, np.nan), where=median > 0)
    known = ~np.isnan(ratio)
    if not known.any():
        return None
    at = np.unravel_index(int(np.nanargmax(ratio)), ratio.shape)
    group = tuple(int(i) for i in at[:-1])
    profile = ratio[group]
    width = math.ceil(n / SHOWN)
    return {
        "channels": n,
        "groups": math.prod(groups),
        "rows": rows,
        "groups_without_median": int((~known[..., 0]).sum()),
        "outliers": int((ratio[known] > OUTLIER).sum()),
        "largest": {"ratio": float(ratio[at]), "group": list(group), "channel": int(at[-1])},
        "profile": {
            "channels_a_point": width,
            "ratio": [float(profile[i : i + width].max()) for i in range(0, n, width)],
        },
    }
