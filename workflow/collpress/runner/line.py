"""One line of a plan file: its entries, and readers that say where a value is wrong, in the core's words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NoReturn
from urllib.parse import unquote

from collpress.errors import CollpressError, did_you_mean

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-F]{2})")


class PlanError(CollpressError):
    """A fault in the plan file; the message begins with FILE:LINE."""


class Line:
    """Tab-separated key=value entries, percent-encoded.

    Attributes
    ----------
    entries : as written, less key and id, decoded.
    """

    def __init__(self, where: str, text: str, known: Iterable[str]) -> None:
        self._where, self._known = where, tuple(known)
        self._values: dict[str, str] = {}
        for entry in text.split("\t"):
            self._add(entry)
        self.entries = {key: value for key, value in self._values.items() if key not in {"key", "id"}}

    def fail(self, key: str, problem: str, known: Iterable[str] = ()) -> NoReturn:
        allowed = ", ".join(known)
        raise PlanError(f'{self._where}: key "{key}": {problem}' + (f"; known: {allowed}" if allowed else ""))

    def has(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str) -> str:
        if key not in self._values:
            self.fail(key, "missing")
        return self._values[key]

    def word(self, key: str, known: Iterable[str], usual: str | None = None) -> str:
        """One of the known words; `usual` where the line has none."""
        if usual is not None and not self.has(key):
            return usual
        value, words = self.text(key), tuple(known)
        if value not in words:
            self.fail(key, f'unknown value "{value}"{_hint(value, words)}', words)
        return value

    def integer(self, key: str, usual: int | None = None) -> int:
        """A whole number from 0 to 2^64-1; `usual` where the line has none."""
        if usual is not None and not self.has(key):
            return usual
        value = self.text(key)
        if not re.fullmatch(r"\d+", value, re.ASCII) or len(value) > 400 or int(value) >= 1 << 64:
            self.fail(key, f'"{value}" is not a whole number from 0 to 2^64-1')
        return int(value)

    def positive(self, key: str) -> float:
        value = self.text(key)
        number = float(value) if _NUMBER.fullmatch(value) else math.nan
        if not math.isfinite(number) or number <= 0:
            self.fail(key, f'"{value}" is not a finite number above 0')
        return number

    def numbers(self, key: str) -> None:
        """Refuse what is no list of finite numbers with one space between two; absent is well."""
        if self.has(key):
            value = self.text(key)
            texts = value.split(" ")
            if not all(_NUMBER.fullmatch(t) and math.isfinite(float(t)) for t in texts):
                self.fail(key, f'"{value}" is not a list of finite numbers')

    def identity(self, key: str) -> str:
        value = self.text(key)
        if not re.fullmatch("[0-9a-f]{32}", value):
            self.fail(key, f'"{value}" is not 32 lower-case hex digits')
        return value

    def forbid(self, key: str, why: str) -> None:
        """For keys that this kind of point must not have."""
        if self.has(key):
            self.fail(key, why)

    def _add(self, entry: str) -> None:
        key, equals, text = entry.partition("=")
        if not equals:
            raise PlanError(f'{self._where}: "{entry}" is not key=value; known: {", ".join(self._known)}')
        if key not in self._known:
            self.fail(key, f"unknown{_hint(key, self._known)}", self._known)
        if _BAD_ESCAPE.search(text):
            self.fail(key, f'"{text}" has a % without two hex digits (0-9, A-F)')
        if key in self._values:
            self.fail(key, "given twice")
        self._values[key] = unquote(text, errors="surrogateescape")


def _hint(word: str, known: Iterable[str]) -> str:
    hint = did_you_mean(word, known)
    return f" ({hint})" if hint else ""
