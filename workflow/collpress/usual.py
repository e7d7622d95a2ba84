"""How a call is usually made: factors that a point names only where it is made otherwise, and the words for that.

They came after the first plans: ids, plan lines and cubes leave them out where they are usual, so that older points
stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

ALIGNMENT = 1 << 16
"""Bytes; of the beginning of every buffer."""

USUAL: Mapping[str, str | int] = MappingProxyType(
    {
        "root": 0,
        "buffers": "separate",
        "call": "blocking",
        "imbalance": "none",
        "segment_bytes": "default",
        "fanout": "default",
        "sync": "dissemination",
        "cache": "warm",
        "alignment": ALIGNMENT,
        "backend": "mpi",
        "knobs": "none",
        "feedback": 0,
        "target": "message",
    }
)

_WORDS = {
    "root": "root {}",
    "buffers": "{}",
    "call": "{}",
    "imbalance": "imbalance: {}",
    "segment_bytes": "segments of {} bytes",
    "fanout": "fan-out {}",
    "sync": "start: {}",
    "cache": "{} cache",
    "alignment": "aligned to {} bytes",
    "backend": "through {}",
    "knobs": "knobs: {}",
    "feedback": "fed back {} times",
    "target": "bound of the {}",
}


def unusual(factors: Mapping[str, Any]) -> dict[str, str | int]:
    """Those of `USUAL` that a point has otherwise, in their order.

    >>> unusual({"ranks": 2, "root": 1, "call": "blocking"})
    {'root': 1}
    """
    return {name: factors[name] for name, usual in USUAL.items() if factors.get(name, usual) != usual}


def words(name: str, value: Any) -> str:
    """One of `USUAL` in a title or a sentence; empty where it is usual.

    A value may have become a text on its way through a cube.

    >>> words("segment_bytes", "65536"), words("cache", "cold"), words("root", 0)
    ('segments of 65536 bytes', 'cold cache', '')
    """
    return "" if str(value) == str(USUAL[name]) else _WORDS[name].format(value)
