"""A point in words, for lists of points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collpress.analysis.sizes import iec
from collpress.collectives import idle
from collpress.usual import unusual, words

_NAMED = ("collective", "algorithm", "codec", "error_bound", "dataset", "wrap", "dtype", "op")


def label(factors: Mapping[str, Any]) -> str:
    """Only what tells a point from others.

    >>> label({"collective": "allreduce", "algorithm": "library:ring", "message_bytes": 4096, "ranks": 1, "nodes": 1})
    'allreduce library:ring, 4 KiB, 1 rank'
    """
    meaningless = idle(str(factors.get("collective", "allreduce")))
    named = [name for name in _NAMED if name not in meaningless]
    kept = [str(factors[name]) for name in named if factors.get(name) not in (None, "none", "pattern")]
    if str(factors.get("algorithm")).startswith("compressed:") and factors.get("codec") == "none":
        kept.insert(2, "without codec")
    size, ranks, nodes = (factors.get(name) for name in ("message_bytes", "ranks", "nodes"))
    said = [" ".join(kept), iec(size) if isinstance(size, int) and size else "", _count(ranks, "rank")]
    said += ["" if nodes == 1 else _count(nodes, "node"), *(words(n, v) for n, v in unusual(factors).items())]
    return ", ".join(word for word in said if word)


def _count(n: Any, noun: str) -> str:
    return "" if n is None else f"{n} {noun}" if n == 1 else f"{n} {noun}s"
