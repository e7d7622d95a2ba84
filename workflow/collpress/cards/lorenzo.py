"""An estimate of how well a field compresses: the entropy of what a Lorenzo predictor leaves after quantisation.

Dual quantisation, as in cuSZ (Tian et al., PACT 2020): values are rounded to multiples of twice the error bound, and
each of the integers is predicted from its neighbours by differences along one, two or three axes (Ibarria et al.,
Computer Graphics Forum 22, 2003). The entropy of the differences is what an ideal coder would need. No codec is run:
real ones need tables and headers, and some find more structure than this.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.cards.field import Block, Field, blocks
from collpress.cards.patterns import entropy

BOUND = 1e-3
"""Relative to the value range."""
_STEPS = 1 / (2 * BOUND)
"""Quantisation steps in the value range."""


def lorenzo_part(values: Field, part: dict[str, Any]) -> dict[str, Any]:
    """The card's `lorenzo`: for 1, 2 and 3 axes as far as there are.

    One axis is memory order (within a part); two and three are the last ones, each field of leading axes for itself.
    Before the first value of an axis stands the smallest value of the data; values that are not usable count as it.
    `estimated_ratio` is the bits of a stored value over the entropy, `null` where that is 0.
    """
    entries = []
    if part["usable"]:
        for order in range(1, min(3, len(values.inside)) + 1):
            counts = _residuals(values, order, part)
            bits = entropy(counts)
            entries.append(
                {
                    "axes": order,
                    "bits_per_value": bits,
                    "estimated_ratio": 8 * values.bits.dtype.itemsize / bits if bits else None,
                    "zeros": int(counts[counts.size // 2]),
                }
            )
    return {"bound": "rel 1e-3", "estimate": True, "predictors": entries}


def _residuals(values: Field, order: int, part: dict[str, Any]) -> npt.NDArray[np.int64]:
    """Counts of the differences, 0 in the middle."""
    lines = values.bits.reshape(values.shape[0] if values.parts else 1, -1)
    field = Field(lines, values.missing) if order == 1 else values
    first = len(field.shape) - order
    reach = (math.ceil(_STEPS) + 1) * 2 ** (order - 1)
    counts = np.zeros(2 * reach + 1, dtype=np.int64)
    for block in blocks(field.shape):
        residual = _quantised(field, block, first, part)
        for axis in range(first, len(field.shape)):
            residual = np.diff(residual, axis=axis)
        counts += np.bincount(residual.reshape(-1) + reach, minlength=counts.size)
    return counts


def _quantised(field: Field, block: Block, first: int, part: dict[str, Any]) -> npt.NDArray[np.int32]:
    """A block and what lies before it along the axes from `first` on; 0 before the field begins."""
    before = tuple(slice(max(0, s.start - (a >= first)), s.stop) for a, s in enumerate(block))
    width = part["maximum"] - part["minimum"]
    scaled = field.reals(before)
    scaled -= part["minimum"]
    scaled *= _STEPS / width if width else 0.0
    steps = np.where(np.isnan(scaled), 0.0, np.rint(scaled)).astype(np.int32)
    edge = [(int(a >= first and s.start == 0), 0) for a, s in enumerate(block)]
    return np.pad(steps, edge)
