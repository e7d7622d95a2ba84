"""What a person sees of a sweep: one line that is overwritten on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_EVERY_S = 5.0


class Progress:
    """Counts what is done of `planned` measurements (a point in one launch) and says so on standard error."""

    def __init__(self, stage: str, planned: int, launches: int, stream: TextIO | None = None) -> None:
        self.stage, self.planned, self.launches = stage, planned, launches
        self.done = 0
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._began = self._told = time.monotonic()
        self._shown = ""

    def show(self, launch: int, points_done: int, points: int) -> None:
        """Say where we are, unless that was said a moment ago."""
        now = time.monotonic()
        if now - self._told < (0.2 if self._terminal else _EVERY_S):
            return
        self._told = now
        text = f"{self.stage}: {points_done}/{points} points, launch {launch + 1} of {self.launches}, {self._left(now)}"
        self._write(text)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._write(text, stays=True)

    def close(self) -> None:
        """Leave the terminal's last line."""
        if self._terminal and self._shown:
            self._stream.write("\r" + " " * len(self._shown) + "\r")
            self._stream.flush()

    def _left(self, now: float) -> str:
        if not self.done:
            return "time left not known yet"
        return f"{duration((now - self._began) / self.done * (self.planned - self.done))} left"

    def _write(self, text: str, stays: bool = False) -> None:
        if self._terminal:
            padding = " " * max(0, len(self._shown) - len(text))
            self._stream.write(f"\r{text}{padding}" + ("\n" if stays else ""))
            self._shown = "" if stays else text
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def duration(seconds: float) -> str:
    """
    >>> duration(4.2), duration(80), duration(7300)
    ('4 s', '1 min 20 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
