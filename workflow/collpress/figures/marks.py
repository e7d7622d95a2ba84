"""How each status looks: a glyph, a hatch and a colour of its own, so that none is told by colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """Looks of a status; `ink` is the glyph's colour on `fill`."""

    glyph: str
    fill: str
    hatch: str
    ink: str


MARKS: Mapping[str, Mark] = {
    "ok": Mark("✓", "#cfe8dc", "", "#1b5e43"),
    "unsupported": Mark("–", "#f2f2f2", "////", "#4d4d4d"),
    "not_run": Mark("?", "#ffffff", "", "#4d4d4d"),
    "cancelled": Mark("C", "#d9d2e9", "----", "#3d2a6b"),
    "node_failed": Mark("N", "#c3b1d9", "||||", "#2d1a52"),
    "out_of_memory": Mark("M", "#fbe3a6", "....", "#5c4300"),
    "timed_out": Mark("T", "#f6c65b", "\\\\\\\\", "#4a3400"),
    "failed": Mark("×", "#e8905a", "xxxx", "#3d1400"),
    "crashed": Mark("⚡", "#b5401f", "", "#ffffff"),
    "invalid": Mark("≠", "#1f1f1f", "", "#ffffff"),
}
"""Best first; light to dark, so that a grey print keeps the order of severity."""

NOT_PLANNED_INK = "#8a8a8a"
"""Of the dot in a cell without a point: no frame, no fill, nothing was asked for there."""


def said(status: str) -> str:
    """A status as a person says it."""
    return status.replace("_", " ")
