"""How alike the parts of a dataset are: what a sum over ranks does to them follows from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from collpress.cards.field import Field, blocks
from collpress.errors import CollpressError

MOST = 256
"""Parts that are compared."""


def parts_part(values: Field) -> dict[str, Any] | None:
    """The card's `parts`; None where the slowest axis counts no parts.

    `cosine`: of each pair of parts as vectors, `null` where one of them is 0; what is not usable counts as 0.
    `coherence`: ‖Σ x‖ / Σ ‖x‖ (Euclidean): 1 for parts that only differ in size, 1/√p for p parts of one size at right
    angles, 0 for parts that cancel. Of more than MOST parts, that many evenly spread ones are compared (`compared`).
    """
    if not values.parts:
        return None
    n = values.shape[0]
    compared = sorted({i * n // MOST for i in range(MOST)}) if n > MOST else list(range(n))
    lines = Field(values.bits.reshape(n, -1), values.missing)
    if not lines.shape[1]:
        raise CollpressError("the parts are empty", allowed="at least one value a part")
    products = np.zeros((len(compared), len(compared)))
    for block in blocks(lines.shape, keep=0):
        columns = lines.reals((slice(0, n), block[1])) if len(compared) == n else _rows(lines, compared, block[1])
        columns[np.isnan(columns)] = 0.0
        products += columns @ columns.T
    norms = np.sqrt(np.diag(products))
    scale = np.outer(norms, norms)
    cosine = np.divide(products, scale, out=np.full_like(scale, np.nan), where=scale > 0)
    pairs = cosine[np.triu_indices(len(compared), 1)]
    pairs = pairs[~np.isnan(pairs)]
    total = float(norms.sum())
    return {
        "parts": n,
        "values_a_part": lines.shape[1],
        "compared": compared if len(compared) < n else None,
        "norms": norms.tolist(),
        "cosine": [[None if math.isnan(c) else max(-1.0, min(1.0, c)) for c in row] for row in cosine.tolist()],
        "cosine_of_pairs": {
            "minimum": float(pairs.min()) if pairs.size else None,
            "mean": float(pairs.mean()) if pairs.size else None,
            "maximum": float(pairs.max()) if pairs.size else None,
        },
        "coherence": math.sqrt(max(0.0, float(products.sum()))) / total if total else None,
    }


def _rows(lines: Field, chosen: list[int], columns: slice) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.concatenate([lines.reals((slice(i, i + 1), columns)) for i in chosen])
