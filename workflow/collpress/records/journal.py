"""Reading journals: one file, or all those of a campaign on a platform, streaming."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from collpress.errors import CollpressError
from collpress.records.schema import LINE, Begin, End, Launch, Record
from collpress.records.status import PointStatus, Status, point_status
from collpress.records.upgrade import upgraded

JournalLine = Launch | Begin | Record | End


@dataclass(frozen=True)
class Torn:
    """A last line that was cut off when its writer died: ignored, but told."""

    path: Path
    line: int
    bytes: int


@dataclass
class Journals:
    """What the journals of one campaign on one platform say.

    records : (key, launch) -> the latest record.
    launches : the header of each start of the core, in the order read.
    torn : last lines that were cut off.
    files : the journals that were read.
    """

    records: dict[tuple[str, int], Record] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    torn: list[Torn] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_key: dict[str, dict[int, Record]] = {}
        for (key, launch), record in self.records.items():
            self._by_key.setdefault(key, {})[launch] = record

    def add(self, line: JournalLine) -> None:
        """Take in one line; of two records of one (key, launch) the later one stays."""
        if isinstance(line, Launch):
            self.launches.append(line)
        elif isinstance(line, Record):
            known = self.records.get((line.key, line.launch))
            if known is None or (line.utc, line.attempt) >= (known.utc, known.attempt):
                self.records[line.key, line.launch] = line
                self._by_key.setdefault(line.key, {})[line.launch] = line

    def of(self, key: str) -> dict[int, Record]:
        """Launch number -> latest record of one point."""
        return self._by_key.get(key, {})

    def status(self, key: str, launches: int) -> PointStatus:
        """The one visible status of one point."""
        return point_status(self.of(key), launches)

    def done(self, key: str, launch: int) -> bool:
        """Whether this launch of the point need not be tried again."""
        record = self.records.get((key, launch))
        return record is not None and not record.retryable


def ok_medians(records: Mapping[int, Record], launches: int) -> list[float]:
    """The median (s) of each launch below `launches` that is ok, in the order of launches."""
    kept = sorted((launch, record) for launch, record in records.items() if launch < launches)
    return [r.time_s.median for _, r in kept if r.status is Status.OK and r.time_s is not None]


def parse_line(text: str, where: str) -> JournalLine:
    """One journal line, checked and upgraded.

    Raises
    ------
    CollpressError : `where` (file:line) holds something else.
    """
    try:
        document = json.loads(text, parse_constant=_refuse)
        if not isinstance(document, dict):
            raise ValueError("not a JSON object")
        return LINE.validate_python(upgraded(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what = f"not a journal line: {place}: {first['msg']}"
    except ValueError as error:
        what = f"not a journal line: {error}"
    raise CollpressError(what, where=where, fix="move this journal away; its points are measured again")


def read_journal(path: Path, torn: list[Torn] | None = None) -> Iterator[JournalLine]:
    """The lines of one journal, in order; a torn last line is left out and appended to `torn`.

    Raises
    ------
    CollpressError : a line that is not the last one is damaged, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if not raw.endswith(b"\n"):
                    if torn is not None:
                        torn.append(Torn(path, number, len(raw)))
                    return
                where = f"{path}:{number}"
                try:
                    text = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise CollpressError(f"not a journal line: {error}", where=where) from None
                yield parse_line(text, where)
    except OSError as error:
        raise CollpressError(f"the journal cannot be read: {error.strerror}", where=str(path)) from None


def read_campaign(directory: Path) -> Journals:
    """All journals below `results/campaigns/<campaign>/<platform>`; none is not an error."""
    journals = Journals()
    for path in sorted(directory.glob("batches/*/journal-*.jsonl"), key=_age):
        journals.files.append(path)
        for line in read_journal(path, journals.torn):
            journals.add(line)
    return journals


def attempt_of(path: Path) -> int:
    """The attempt in a journal's name (`journal-3.jsonl`: 3); 0 when it has none."""
    number = path.stem.removeprefix("journal-")
    return int(number) if number.isdecimal() else 0


def _age(path: Path) -> tuple[str, int]:
    return path.parent.name, attempt_of(path)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not allowed; a missing number is null")
