"""Arrays with known properties, the same on every machine: integer arithmetic, no library's random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.cards.card import card
from collpress.cards.field import Field
from collpress.data.sidecar import Sidecar

Reals = npt.NDArray[np.float64]


def uniform(n: int, seed: int = 0) -> Reals:
    """Independent values in [0, 1): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
        seed * 0x632BE59BD9B4E019 % 2**64
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(n: int, seed: int = 0) -> Reals:
    """Independent standard normal values (Box and Muller)."""
    radius = np.sqrt(-2 * np.log(1 - uniform(n, 2 * seed + 1)))
    return radius * np.cos(2 * math.pi * uniform(n, 2 * seed + 2))


def field(values: Any, missing: float | None = None, parts: bool = False) -> Field:
    """float32 values, or uint16 bits of bfloat16 ones, as the card's modules get them."""
    array = np.ascontiguousarray(values)
    bits = array if array.dtype == np.uint16 else array.astype("<f4").view(np.uint32)
    return Field(bits, missing, parts)


def card_of(values: Any, missing: float | None = None, parts: bool = False) -> dict[str, Any]:
    """The card of an array, without files."""
    made = field(values, missing, parts)
    n, size = made.bits.size, made.bits.nbytes
    described = Sidecar(
        schema=1,
        id="made/array",
        title="An array of a test",
        dtype="float32" if made.bits.dtype == np.uint32 else "bfloat16",
        shape=made.shape,
        ranks="parts" if parts else "slices",
        parts=made.shape[0] if parts else None,
        elements=n,
        bytes=size,
        sha256="0" * 64,
        unique_bytes=size,
        minimum=None,
        maximum=None,
        missing=None,
        units="1",
        synthetic=True,
        source={},
        licence="-",
        citation="-",
        native_dtype="float32",
    )
    return card(made, described)
