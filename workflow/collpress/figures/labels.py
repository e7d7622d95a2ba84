"""Numbers and factors as words on axes and in legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collpress.analysis.bandwidth import PER_BLOCK, busbw_formula, operation_formula
from collpress.analysis.sizes import iec as iec
from collpress.usual import USUAL, words

_UNEVEN = {"allgatherv", "alltoallv"}


def size_label(collectives: set[str]) -> str:
    """What `message_bytes` counts, for an axis."""
    blocks = collectives & PER_BLOCK
    if not blocks:
        return "message size (one rank's vector)"
    if blocks != collectives:
        return "message size"
    return "message size (the mean block)" if blocks <= _UNEVEN else "message size (one block)"


def sizes_said(collectives: Sequence[str]) -> str:
    """What `message_bytes` counts for each of some collectives, as a sentence; empty where it is one rank's vector."""
    blocks = [c for c in collectives if c in PER_BLOCK - _UNEVEN]
    uneven = [c for c in collectives if c in _UNEVEN]
    vectors = [c for c in collectives if c not in PER_BLOCK and c != "barrier"]
    if not (blocks or uneven):
        return ""
    kinds = (("one block", blocks), ("the mean block", uneven), ("one rank's vector", vectors))
    return "Message size: " + "; ".join(f"{kind} of {', '.join(names)}" for kind, names in kinds if names) + "."


def rates_said(collectives: Sequence[str]) -> str:
    """How the bus bandwidth of each of some collectives is made, as a sentence."""
    groups: dict[str, list[str]] = {}
    for c in collectives:
        groups.setdefault(_rate(c), []).append(c)
    made = [f"{formula} for {', '.join(names)}" for formula, names in groups.items() if formula]
    without = groups.get("", [])
    told = f"Bus bandwidth = {'; '.join(made)} on p ranks." if made else ""
    return " ".join([told, f"None for {', '.join(without)}."] if told and without else [told] if told else [])


def _rate(collective: str) -> str:
    try:
        factor = busbw_formula(collective).replace("-", "−")
    except KeyError:
        return ""
    size = operation_formula(collective).replace("message_bytes", "message bytes").replace("p m", "p × m")
    return f"{size} / time" + (f" × {factor}" if factor != "1" else "")


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
        return iec(int(value)) if int(value) else "no data"
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
    if name in USUAL:
        return words(name, value)
    known = {"collective", "dtype", "op"}
    return str(value) if name in known else f"{name.replace('_', ' ')} {value}"


def factors(values: Mapping[str, Any]) -> str:
    """Several factors, in their order; the empty ones left out, and how data are wrapped beside what they are."""
    order = list(values)
    if "dataset" in values and "wrap" in values:
        order.remove("wrap")
        order.insert(order.index("dataset") + 1, "wrap")
    return " · ".join(text for text in (factor(name, values[name]) for name in order) if text)
