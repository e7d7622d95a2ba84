"""The one exception for a user's mistakes: what is wrong, where, what is allowed, how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class CollpressError(Exception):
    """A mistake that a person can fix; the command line prints it without a traceback and exits with `exit_code`.

    Parameters
    ----------
    what : what is wrong, one sentence without a full stop.
    where : file, line and field, or the command.
    allowed : what would have been accepted.
    fix : what to do about it.
    at : the way from the field that was read to the part of it that is wrong: keys and list positions.
    """

    exit_code = 2

    def __init__(
        self, what: str, *, where: str = "", allowed: str = "", fix: str = "", at: tuple[str | int, ...] = ()
    ) -> None:
        self.what, self.where, self.allowed, self.fix, self.at = what, where, allowed, fix, at
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.what, self.where, self.allowed, self.fix, self.at)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.allowed:
            lines.append(f"  allowed: {self.allowed}")
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


class IncompleteError(CollpressError):
    """Points that should have run did not."""

    exit_code = 3


def _rebuild(
    cls: type[CollpressError], what: str, where: str, allowed: str, fix: str, at: tuple[str | int, ...]
) -> CollpressError:
    return cls(what, where=where, allowed=allowed, fix=fix, at=at)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`'did you mean "ring"?'` or an empty string.

    >>> did_you_mean("rnig", ["ring", "linear"])
    'did you mean "ring"?'
    """
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'did you mean "{close[0]}"?' if close else ""
