"""What a verb says on standard error also goes to its log file: people watch the one, Snakemake names the other."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class _Tee(io.TextIOBase):
    """Writes to a terminal and to a file; the file gets whole lines only, without what a carriage return overwrote."""

    def __init__(self, terminal: TextIO, file: TextIO) -> None:
        self._terminal, self._file, self._line = terminal, file, ""

    def write(self, text: str) -> int:
        self._terminal.write(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._file.write(line.rsplit("\r", 1)[-1] + "\n")
        return len(text)

    def flush(self) -> None:
        self._terminal.flush()
        self._file.flush()

    def isatty(self) -> bool:
        return self._terminal.isatty()

    def fileno(self) -> int:
        return self._terminal.fileno()


@contextmanager
def log_to(path: Path) -> Iterator[None]:
    """Copy standard error to `path` as long as the context lasts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal = sys.stderr
    with path.open("w", encoding="utf-8") as file:
        sys.stderr = _Tee(terminal, file)
        try:
            yield
        finally:
            sys.stderr = terminal
