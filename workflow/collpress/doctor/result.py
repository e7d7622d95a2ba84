"""What one check says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "problem", "skipped", "note"]


@dataclass(frozen=True)
class Result:
    """One check's verdict.

    Parameters
    ----------
    check : what was looked at, in a few words.
    verdict : `ok`; `problem` (always with a fix); `skipped`: the check could not be done, `found` says why; `note`:
        worth knowing, nothing to mend.
    found : what was seen.
    fix : what to do about a problem.
    """

    check: str
    verdict: Verdict
    found: str
    fix: str = ""

    def __post_init__(self) -> None:
        if (self.verdict == "problem") != bool(self.fix):
            raise ValueError(f"{self.check}: a problem has a fix, and nothing else has one")
        if not self.found:
            raise ValueError(f"{self.check}: a verdict says what was found")


Check = Callable[[], Iterable[Result]]
"""A check takes what it looks at by closure; it may say several things."""


def ok(check: str, found: str) -> Result:
    return Result(check, "ok", found)


def problem(check: str, found: str, fix: str) -> Result:
    return Result(check, "problem", found, fix)


def skipped(check: str, why: str) -> Result:
    return Result(check, "skipped", why)


def note(check: str, found: str) -> Result:
    return Result(check, "note", found)
