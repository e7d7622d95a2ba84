"""Numbers and factors as words on axes and in legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collpress.analysis.sizes import iec as iec

_PER_BLOCK = {"allgather", "gather", "scatter", "alltoall"}


def size_label(collectives: set[str]) -> str:
    """What `message_bytes` counts, for an axis."""
    blocks = collectives & _PER_BLOCK
    if not blocks:
        return "message size (one rank's vector)"
    return "message size (one block)" if blocks == collectives else "message size"


def algorithm(name: str) -> str:
    """An algorithm's name and its kind, short enough for a legend.

    >>> algorithm("library:ring"), algorithm("reference:recursive_doubling")
    ('ring (lib.)', 'recursive doubling (ref.)')
    """
    kind, _, stem = name.partition(":")
    short = {"library": "lib.", "reference": "ref.", "compressed": "compr."}
    return f"{stem.replace('_', ' ')} ({short.get(kind, kind)})" if stem else kind


def factor(name: str, value: Any) -> str:
    """One factor's value as it reads in a title or at a row."""
    if name == "algorithm":
        return algorithm(str(value))
    if name == "message_bytes":
        return iec(int(value))
    if name in ("ranks", "nodes"):
        return f"{value} {name if value != 1 else name[:-1]}"
    if name == "dataset":
        return "data: " + str(value)
    if name == "codec":
        return "no codec" if value == "none" else str(value)
    if name == "error_bound":
        return "" if value == "none" else str(value)
    if name == "wrap":
        return "" if value == "none" else f"wrapped: {value}"
    known = {"collective", "dtype", "op"}
    return str(value) if name in known else f"{name.replace('_', ' ')} {value}"


def factors(values: Mapping[str, Any]) -> str:
    """Several factors, in their order; the empty ones left out, and how data are wrapped beside what they are."""
    order = list(values)
    if "dataset" in values and "wrap" in values:
        order.remove("wrap")
        order.insert(order.index("dataset") + 1, "wrap")
    return " · ".join(text for text in (factor(name, values[name]) for name in order) if text)
