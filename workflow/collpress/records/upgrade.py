"""Older journal lines made readable: one function a schema version, applied one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from collpress.records.schema import SCHEMA

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

# version -> how a line of that version becomes one of the next; version 1 is the first
UPGRADES: Mapping[int, Upgrade] = MappingProxyType({})


def upgraded(line: dict[str, Any], upgrades: Mapping[int, Upgrade] = UPGRADES, current: int = SCHEMA) -> dict[str, Any]:
    """`line` in the current schema version.

    Raises
    ------
    ValueError : the line says no version, one newer than this program, or one that nothing upgrades.
    """
    version = line.get("schema")
    if not isinstance(version, int):
        raise ValueError("no schema version")
    if version > current:
        raise ValueError(f"schema version {version} is newer than this program's {current}; update collpress")
    while version < current:
        if version not in upgrades:
            raise ValueError(f"schema version {version} is older than any this program can upgrade")
        version += 1
        line = {**upgrades[version - 1](line), "schema": version}
    return line
