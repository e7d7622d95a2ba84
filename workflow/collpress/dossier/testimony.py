"""Every journal line that speaks of one point, with file and line number: records, and what begins without an end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collpress.dossier.search import relative
from collpress.errors import CollpressError
from collpress.records.journal import Journals, attempt_of, parse_line
from collpress.records.schema import Launch, Record

_KIND = 30
"""Characters at the beginning of a line that hold its kind."""


@dataclass
class Testimony:
    """What the journals of a campaign on a platform say of one point.

    journals : typed records of its id, for its status; they are looked up by key.
    records : every record of its id, all attempts, the oldest first: `where` (FILE:LINE) and the line as it is.
    begun : `begin` lines without a record behind them: the core died there, or is at it now.
    launches : the starts of the core that measured it, with `where`.
    damaged : lines that name it and cannot be read.
    """

    journals: Journals = field(default_factory=Journals)
    records: list[dict[str, Any]] = field(default_factory=list)
    begun: list[dict[str, Any]] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def of_key(self, key: str | None) -> list[dict[str, Any]]:
        """Records under the point's present key."""
        return [record for record in self.records if record["key"] == key]

    def of_other_keys(self, key: str | None) -> list[dict[str, Any]]:
        """Records of the same id that were made with another core, plugin, dataset, machine or setting."""
        return [record for record in self.records if record["key"] != key]


def testimony(directory: Path, identity: str, key: str | None) -> Testimony:
    """Read the journals of `results/campaigns/<campaign>/<platform>`; only lines that name the point are parsed.

    Raises
    ------
    CollpressError : a journal cannot be read.
    """
    heard = Testimony()
    for path in sorted(directory.glob("batches/*/journal-*.jsonl"), key=lambda p: (p.parent.name, attempt_of(p))):
        _hear(path, identity, key, heard)
    heard.records.sort(key=lambda record: (record["launch"], record["utc"], record["attempt"]))
    return heard


def _hear(path: Path, identity: str, key: str | None, heard: Testimony) -> None:
    launch: dict[str, Any] | None = None
    begun: dict[str, Any] | None = None
    for number, text in _lines(path):
        where = f"{relative(path)}:{number}"
        named = identity in text or (key is not None and key in text)
        header = '"launch"' in text[:_KIND]
        if not named and not header:
            continue
        try:
            line = parse_line(text, where)
        except CollpressError as error:
            if named:
                heard.damaged.append(f"{where}: {error.what}")
            continue
        raw = {"where": where, **json.loads(text)}
        if isinstance(line, Launch):
            raw.pop("order")
            launch = raw
        elif isinstance(line, Record) and line.id == identity:
            begun = None
            heard.records.append(raw)
            heard.journals.add(line)
            if launch is not None and launch not in heard.launches:
                heard.launches.append(launch)
        elif raw["kind"] == "begin":
            if begun is not None:
                heard.begun.append(begun)
            begun = raw
    if begun is not None:
        heard.begun.append(begun)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Whole lines with their numbers; a torn last line is no line."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.endswith(b"\n"):
                    yield number, raw.decode("utf-8", "replace")
    except OSError as error:
        raise CollpressError(f"the journal cannot be read: {error.strerror}", where=str(path)) from None
