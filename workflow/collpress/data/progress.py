"""How far a download is: one line that changes on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_TERMINAL_S, _LOG_S = 0.2, 5.0
"""Least time between two lines."""


def tell(text: str) -> None:
    """A line for whoever waits."""
    print(text, file=sys.stderr, flush=True)


class Progress:
    """Counts bytes and tells of them on standard error.

    Parameters
    ----------
    total : bytes of the whole file, None where nobody knows.
    have : bytes that are there already; the rate leaves them out.
    clock : seconds, monotonic.
    """

    def __init__(self, total: int | None, have: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._have, self._count, self._clock = total, have, have, clock
        self._begin = self._told = clock()
        self._changes = sys.stderr.isatty()
        self._open = False

    def add(self, count: int) -> None:
        """Some more bytes have come."""
        self._count += count
        now = self._clock()
        if now - self._told >= (_TERMINAL_S if self._changes else _LOG_S):
            self._told = now
            self._say(self._line(now))

    def end(self) -> None:
        """No more will come; tells how many there are, and at which rate they came."""
        self._say(self._line(self._clock()))
        if self._open:
            print(file=sys.stderr, flush=True)
            self._open = False

    def _line(self, now: float) -> str:
        of = "" if self._total is None else f" of {self._total / 1e6:.1f}"
        line = f"  {self._count / 1e6:.1f}{of} MB"
        rate = (self._count - self._have) / max(now - self._begin, 1e-3)
        if rate > 0:
            line += f", {rate / 1e6:.2f} MB/s"
            if self._total is not None and self._total > self._count:
                line += f", {_duration((self._total - self._count) / rate)} left"
        return line

    def _say(self, line: str) -> None:
        if self._changes:
            print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
            self._open = True
        else:
            print(line, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    """
    >>> _duration(42.2), _duration(125), _duration(7300)
    ('43 s', '2 min 5 s', '2 h 1 min')
    """
    whole = int(-(-seconds // 1))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
