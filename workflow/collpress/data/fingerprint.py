"""What captured tensors are known by. Their last digits depend on processor and library, so no checksum can be pinned:
a fingerprint says what must be the same anywhere, and how closely. It lies in resources/fingerprints/<id>.json.

Of each rank's part: its norm, the root mean square of 64 pieces in their order, 256 single values, quantiles, how often
each exponent of bfloat16 occurs, and, where tokens are rows, the channels with the largest mean magnitude.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.data.bfloat16 import Values, numbers
from collpress.errors import CollpressError
from collpress.files import write_atomically
from collpress.layout import ROOT

PIECES, SINGLE, CHANNELS = 64, 256, 8
QUANTILES = (0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999)
SUBSAMPLE = 1 << 20
"""Values, evenly spread, that the quantiles are of."""
NORM, VALUE, SHARE = 1e-3, 1e-2, 2e-3
"""Largest relative difference of norms; of single values and quantiles, over the larger of the value and the root mean
square around it; and largest share of values whose exponent may differ."""


def place(dataset: str) -> Path:
    """Where a dataset's fingerprint lies."""
    return ROOT / "resources" / "fingerprints" / f"{dataset}.json"


def fingerprint(values: Values) -> dict[str, Any]:
    """The fingerprint of float32 values, or of bfloat16 ones as 16-bit patterns; the slowest axis counts parts."""
    return {"schema": 1, "shape": list(values.shape), "parts": [_part(part) for part in values]}


def write(dataset: str, values: Values) -> Path:
    """Write a dataset's fingerprint where `check` looks for it, one line a part."""
    found = fingerprint(values)
    parts = ",\n".join(json.dumps(part) for part in found.pop("parts"))
    write_atomically(place(dataset), f'{json.dumps(found)[:-1]}, "parts": [\n{parts}]}}\n'.encode())
    return place(dataset)


def check(dataset: str, values: Values) -> bool:
    """Whether the dataset has a fingerprint; the values must then agree with it.

    Errors: values that do not, with the first thing that differs; a fingerprint that cannot be read.
    """
    path = place(dataset)
    if not path.is_file():
        return False
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        difference = compare(stored, fingerprint(values))
    except (ValueError, KeyError, TypeError, OSError):
        raise CollpressError("no fingerprint, version 1", where=str(path), fix="take it from the repository") from None
    if difference:
        raise CollpressError(
            f"the captured values are not those of the fingerprint: {difference}",
            where=dataset,
            fix="a model, text or program that was changed gives other values; if that is on purpose, run"
            f" collpress dataset fingerprint {dataset}",
        )
    return True


def compare(stored: dict[str, Any], found: dict[str, Any]) -> str:
    """The first thing in which two fingerprints differ by more than rounding can explain; empty when nothing does."""
    if stored["shape"] != found["shape"] or len(stored["parts"]) != len(found["parts"]):
        return f"the shape is {found['shape']}, not {stored['shape']}"
    for rank, (before, now) in enumerate(zip(stored["parts"], found["parts"], strict=True)):
        if difference := _compare_part(before, now):
            return f"part {rank}: {difference}"
    return ""


def _part(part: Values) -> dict[str, Any]:
    values = np.ascontiguousarray(numbers(part))
    flat = values.reshape(-1)
    pieces = np.array_split(flat, PIECES)
    squares = [float(np.sum(np.square(piece, dtype=np.float64))) for piece in pieces]
    exponents = np.sum([np.bincount((p.view(np.uint32) >> 23) & 255, minlength=256) for p in pieces], axis=0)
    used = np.flatnonzero(exponents)
    single = flat[np.linspace(0, flat.size - 1, SINGLE).astype(np.int64)]
    spread = flat[:: -(-flat.size // SUBSAMPLE)]
    return {
        "norm": _short(math.sqrt(sum(squares))),
        "pieces": [_short(math.sqrt(s / p.size)) for s, p in zip(squares, pieces, strict=True)],
        "single": [_short(value) for value in single],
        "quantiles": {str(q): _short(v) for q, v in zip(QUANTILES, np.quantile(spread, QUANTILES), strict=True)},
        "exponents": {"first": int(used[0]), "counts": exponents[used[0] : used[-1] + 1].tolist()},
        "channels": _channels(values),
    }


def _channels(values: npt.NDArray[np.float32]) -> dict[str, Any] | None:
    """The channels (all axes but the last but one, which counts tokens) that stand out; None where there are none."""
    if values.ndim < 3:
        return None
    mean = np.mean(np.abs(values), axis=-2).reshape(-1)
    largest = np.argsort(mean)[::-1][:CHANNELS]
    return {"largest": largest.tolist(), "over_median": [_short(mean[c] / np.median(mean)) for c in largest]}


def _compare_part(before: dict[str, Any], now: dict[str, Any]) -> str:
    for key in ("norm", "pieces"):
        old, new = np.atleast_1d(before[key]), np.atleast_1d(now[key])
        if not np.allclose(new, old, rtol=NORM, atol=0):
            worst = int(np.argmax(np.abs(new - old)))
            return f"{key} {worst} is {new[worst]}, not {old[worst]}"
    around = np.repeat(before["pieces"], SINGLE // PIECES)
    total = np.full(len(QUANTILES), np.sqrt(np.mean(np.square(before["pieces"]))))
    single = before["single"], now["single"]
    quantiles = [list(one["quantiles"].values()) for one in (before, now)]
    for what, (stored, found), scale in (("value", single, around), ("quantile", quantiles, total)):
        over = np.abs(np.subtract(found, stored)) / np.maximum(np.abs(stored), scale)
        if over.max(initial=0) > VALUE:
            return f"{what} {int(over.argmax())} is {found[over.argmax()]}, not {stored[over.argmax()]}"
    old_counts, new_counts = (_counts(one["exponents"]) for one in (before, now))
    moved = np.abs(old_counts - new_counts).sum() / 2 / old_counts.sum()
    if moved > SHARE:
        return f"the exponents of {moved:.2%} of the values are others"
    if before["channels"] is not None and set(before["channels"]["largest"][:4]) - set(now["channels"]["largest"]):
        return f"the largest channels are {now['channels']['largest']}, not {before['channels']['largest']}"
    return ""


def _counts(exponents: dict[str, Any]) -> npt.NDArray[np.int64]:
    counts = np.zeros(256, np.int64)
    counts[exponents["first"] : exponents["first"] + len(exponents["counts"])] = exponents["counts"]
    return counts


def _short(number: float) -> float:
    """Seven digits: as many as a float32 has."""
    return float(f"{float(number):.7g}")
