"""The plan file: what one start of the core shall measure, one point a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from collpress.files import unwritable

HEADER = "collpress-plan\t1\n"


def write_plan(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write the entries of each point as `key=value`, separated by tabs; entries that are None are left out."""
    text = HEADER + "".join(plan_line(entries) + "\n" for entries in lines)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise unwritable(path, error) from None


def plan_line(entries: Mapping[str, Any]) -> str:
    """One point.

    >>> plan_line({"algorithm": "reference:ring", "data_path": "a b/é.bin"}).replace(chr(9), " ")
    'algorithm=reference:ring data_path=a%20b/%C3%A9.bin'
    """
    return "\t".join(f"{key}={encode(value)}" for key, value in entries.items() if value is not None)


def encode(value: Any) -> str:
    """Percent-encode everything but `A-Za-z0-9._:/+-`."""
    return quote(str(value), safe="/:+").replace("~", "%7E")
