"""One attempt's journal: made anew, followed while the core appends, appended to when no core runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from collpress.execute.batch import BatchPoint
from collpress.files import unwritable
from collpress.records.journal import JournalLine, attempt_of, parse_line
from collpress.records.schema import SCHEMA, Record
from collpress.records.status import Status


class Attempt:
    """The next attempt in a batch's directory.

    Raises
    ------
    CollpressError : the directory cannot be written to.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._read = self._line = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self.number = 1 + max((attempt_of(path) for path in directory.glob("journal-*.jsonl")), default=0)
            self.journal = directory / f"journal-{self.number}.jsonl"
            self.journal.open("x").close()
        except OSError as error:
            raise unwritable(directory, error) from None

    def news(self) -> Iterator[JournalLine]:
        """The whole lines that were appended since the last call."""
        with self.journal.open("rb") as file:
            file.seek(self._read)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return
                self._read += len(raw)
                self._line += 1
                yield parse_line(raw.decode("utf-8", "replace"), f"{self.journal}:{self._line}")

    def drop_torn_line(self) -> None:
        """Cut off what a dead core did not finish; only when nobody writes."""
        with self.journal.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() > self._read:
                file.truncate(self._read)

    def charge(
        self, point: BatchPoint, launch: int, status: Status, reason: str, elapsed_s: float | None = None
    ) -> Record:
        """Append a record of our own: for a point that took the core down, or one that will not run. It is no news."""
        record = Record(
            schema=SCHEMA,
            key=point.key,
            id=point.id,
            launch=launch,
            attempt=self.number,
            utc=now(),
            elapsed_s=elapsed_s,
            by="supervisor",
            status=status,
            reason=reason,
            requested=point.requested,
        )
        line = (record.model_dump_json(by_alias=True) + "\n").encode("utf-8")
        try:
            with self.journal.open("ab") as file:
                file.write(line)
                file.flush()
        except OSError as error:
            raise unwritable(self.journal, error) from None
        self._read += len(line)
        self._line += 1
        return record


def now() -> str:
    """This moment in UTC, as the journals write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
