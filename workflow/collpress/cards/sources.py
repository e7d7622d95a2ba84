"""Which modules a card depends on; found by reading them, without importing numpy or matplotlib."""

from __future__ import annotations

from pathlib import Path

from collpress.figures.registry import modules_behind

_ROOM = Path(__file__).resolve().parent


def card_sources() -> list[Path]:
    """All modules of this room, and what they use of the figures' style: editing one makes the cards anew."""
    return modules_behind(sorted(_ROOM.glob("*.py")), ("cards", "figures"))
