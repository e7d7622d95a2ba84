"""Numbers and factors as words on axes and in legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collpress.analysis.bandwidth import busbw_formula, operation_formula
from collpress.analysis.sizes import iec as iec
from collpress.collectives import BLOCKS, UNEVEN, idle
from collpress.usual import USUAL, words


def size_label(collectives: set[str]) -> str:
    """What `message_bytes` counts, for an axis."""
    blocks = collectives & BLOCKS
    if collectives == {"barrier"}:
        return "a barrier sends no data"
    if not blocks:
        return "message size (one rank's vector)"
    if blocks != collectives:
        return "message size"
    return "message size (the mean block)" if blocks <= UNEVEN else "message size (one block)"


def sizes_said(collectives: Sequence[str]) -> str:
    """What `message_bytes` counts for each of some collectives, as a sentence; empty where it is one rank's vector."""
    blocks = [c for c in collectives if c in BLOCKS - UNEVEN]
    uneven = [c for c in collectives if c in UNEVEN]
    vectors = [c for c in collectives if c not in BLOCKS and c != "barrier"]
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


def has_rate(collective: str) -> bool:
    """Whether a collective has a bus bandwidth."""
    return bool(_rate(collective))


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


def collective(values: Mapping[str, Any]) -> str:
    """The collective among some factors; allreduce where they name none."""
    return str(values.get("collective", "allreduce"))


def factors(values: Mapping[str, Any], of: str = "") -> str:
    """Several factors, in their order; how data are wrapped stands beside what they are. Those are left out that say
    nothing, or mean nothing for the collective, which is `of` where it is not among them.
    """
    meaningless = idle(of or collective(values))
    order = [name for name in values if name not in meaningless]
    if "dataset" in order and "wrap" in order:
        order.remove("wrap")
        order.insert(order.index("dataset") + 1, "wrap")
    return " · ".join(text for text in (factor(name, values[name]) for name in order) if text)
