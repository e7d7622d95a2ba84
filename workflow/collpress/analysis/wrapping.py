"""Where messages hold fewer different bytes than they send: data that were wrapped, or that repeat themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import xarray as xr

from collpress.analysis.bandwidth import contributed_bytes
from collpress.analysis.points import Point, points

HOW = {
    "mirror": "goes on backwards behind its end",
    "perturb": "comes again behind its end, changed a little",
    "repeat": "comes again behind its end",
    "none": "repeats itself",
}
"""What a dataset does, by the factor `wrap`."""


@dataclass(frozen=True)
class Wrapped:
    """Points of one dataset whose messages are not all different bytes; shares are those of the different ones."""

    dataset: str
    wrap: str
    points: tuple[Point, ...]
    least: float
    most: float

    @property
    def words(self) -> str:
        """`colpex/theta goes on backwards behind its end (wrap: mirror); of the bytes sent 41 % are different ones`."""
        low, high = (f"{100 * share:.3g} %" for share in (self.least, self.most))
        spread = low if low == high else f"{low} to {high}"
        named = f" (wrap: {self.wrap})" if self.wrap != "none" else ""
        return f"{self.dataset} {HOW.get(self.wrap, self.wrap)}{named}; of the bytes sent {spread} are different ones"


def wrapped(groups: Iterable[xr.Dataset]) -> list[Wrapped]:
    """By dataset and kind of wrapping, over all experiments; nothing where every byte is one of its own, or where a
    cube of an earlier version does not tell.
    """
    found: dict[tuple[str, str], list[tuple[float, Point]]] = {}
    for group in groups:
        if "unique_bytes" not in group:
            continue
        for point in points(group, ("unique_bytes",)):
            unique = point.numbers["unique_bytes"]
            collective, size, ranks = (point.factors[name] for name in ("collective", "message_bytes", "ranks"))
            sent = contributed_bytes(str(collective), int(size), int(ranks))
            if unique is not None and unique < sent:
                key = str(point.factors["dataset"]), str(point.factors.get("wrap", "none"))
                found.setdefault(key, []).append((unique / sent, point))
    return [
        Wrapped(*key, tuple(p for _, p in members), min(s for s, _ in members), max(s for s, _ in members))
        for key, members in found.items()
    ]
