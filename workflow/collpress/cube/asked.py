"""How the points of a cube were to be measured, and on which data: for whoever compares two cubes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from collpress.errors import CollpressError
from collpress.records import Record

SETTINGS = ("warmup", "min_iterations", "max_iterations", "precision", "at_most", "at_least", "instrumented")
"""Entries of a plan line that say how long and how exactly to measure; `at_most` in seconds a launch."""


def measure_settings(records: Iterable[Record]) -> dict[str, list[str]]:
    """Every value that each setting had in the records, sorted; settings that no record names are absent."""
    seen: dict[str, set[str]] = {}
    for record in records:
        for name in SETTINGS:
            value = (record.requested or {}).get(name)
            if value is not None:
                seen.setdefault(name, set()).add(value)
    return {name: sorted(seen[name]) for name in SETTINGS if name in seen}


def dataset_checksums(inventory: Path, used: Iterable[str]) -> dict[str, str] | None:
    """sha256 of the datasets that the points use, from the inventory that froze the plan; None where there is none.

    Raises
    ------
    CollpressError : the inventory is damaged.
    """
    try:
        listed = json.loads(inventory.read_text(encoding="utf-8"))["datasets"]
        known = {str(dataset["id"]): str(dataset["sha256"]) for dataset in listed}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CollpressError(f"this inventory cannot be read: {error}", where=str(inventory)) from error
    return {name: known[name] for name in sorted(set(used)) if name in known}
