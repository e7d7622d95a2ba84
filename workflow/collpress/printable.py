"""Text that others wrote (plugins, servers, records), made fit for a terminal and a page."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text without control characters: each becomes a space.

    >>> printable("a\\x1b[31m  b")
    'a [31m  b'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def one_line(text: object) -> str:
    """The text as one printable line with single spaces.

    >>> one_line("a\\n  b\\x1b")
    'a b'
    """
    return " ".join(printable(str(text)).split())
