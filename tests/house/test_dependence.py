"""Which room may import which: docs/house.md, "What may touch what"."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "workflow" / "collpress"
LEAVES = {"collectives", "errors", "fidelity", "files", "layout", "log", "printable", "usual"}
MAY_IMPORT = {
    "spec": set(),
    "data": {"spec"},
    "codecs": set(),
    "metrics": {"codecs"},
    "provenance": set(),
    "records": set(),
    "plan": {"spec", "data", "provenance", "codecs"},
    "execute": {"plan", "records", "provenance", "codecs", "metrics"},
    "analysis": set(),
    "cube": {"records", "analysis", "provenance"},
    "findings": {"analysis", "cube"},
    "comparison": {"analysis", "cube", "figures", "provenance"},
    "figures": {"analysis", "cube", "provenance"},
    "cards": {"data", "figures", "provenance"},
    "doctor": {"spec", "plan", "execute", "provenance"},
    "runner": set(),
    "dossier": {"plan", "records", "execute", "analysis"},
}


def imported(room: str) -> set[str]:
    """Rooms and leaves that a room's modules import."""
    found = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {parts[1] for name in names if (parts := name.split("."))[0] == "collpress" and len(parts) > 1}
    return found - {room}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    assert imported(room) <= MAY_IMPORT[room] | LEAVES


def test_every_room_has_its_rule() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"verbs"}
    assert rooms == MAY_IMPORT.keys()
