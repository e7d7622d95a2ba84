"""The coded variables of a cube: what each integer means, as CF's flag_values and flag_meanings.

Codes, not strings, because a string variable cannot say "missing" in NetCDF, and because int8 of a dense cube is small.
A status has one code for ever: codes are part of the cube's schema, new ones are appended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

STATUS: Mapping[str, int] = {
    "ok": 0,
    "unsupported": 1,
    "invalid": 2,
    "failed": 3,
    "crashed": 4,
    "timed_out": 5,
    "out_of_memory": 6,
    "cancelled": 7,
    "node_failed": 8,
    "not_run": 9,
    "not_planned": 10,
}
"""`not_planned` is a cell without a point; every other status is one that a point can end in."""

KNOWN_BY: Mapping[str, int] = {
    "unknown": 0,
    "unverified": 1,
    "read_back": 2,
    "construction": 3,
    "consistent": 4,
    "fingerprint": 5,
    "traffic": 6,
}
"""How it is known which algorithm ran. `unknown`: nothing ran."""

WEAKEST_FIRST = ("unknown", "unverified", "read_back", "consistent", "fingerprint", "traffic", "construction")
"""The words of KNOWN_BY by what they prove."""

NOISY: Mapping[str, int] = {"precision_reached": 0, "noisy": 1}


def flag_attributes(codes: Mapping[str, int], dtype: type[np.integer[Any]]) -> dict[str, object]:
    """`flag_values` (of the variable's own dtype, as CF wants) and `flag_meanings`."""
    return {"flag_values": np.array(list(codes.values()), dtype=dtype), "flag_meanings": " ".join(codes)}


def safe_word(text: str) -> str:
    """`text` as one word of flag_meanings, which may hold letters, digits and `_ - . + @` only."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-.+@") else "_" for c in text) or "_"


def vocabulary(names: Sequence[str], *, first: Sequence[str]) -> dict[str, int]:
    """Codes for the words `first` and then the sorted other names."""
    others = sorted({safe_word(name) for name in names} - set(first))
    return {word: code for code, word in enumerate([*first, *others])}
