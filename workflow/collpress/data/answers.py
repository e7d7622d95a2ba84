"""What servers and libraries say when they do not send a file, in few words and without what may be secret."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import requests
import urllib3

from collpress.printable import one_line

_WORDS = 120
"""Letters of a library's message that are shown: some hold what the server sent."""


class RefusedError(requests.RequestException):
    """What a server sends is not what was asked for; it would not help to ask again."""


class AgainError(Exception):
    """It may help to ask again.

    Parameters
    ----------
    wait_s : how long the server wants to be left alone.
    """

    def __init__(self, text: str, wait_s: float = 0.0) -> None:
        super().__init__(text)
        self.wait_s = wait_s


def shown(address: str) -> str:
    """An address without what may hold a signature or a token.

    >>> shown("https://me@example.org/a?token=1")
    'https://example.org/a'
    """
    if address.startswith("doi:"):
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_page(block: bytes) -> bool:
    """Whether a file that begins so is a web page."""
    begin = block[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return begin.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def reason(error: BaseException) -> str:
    """Why nothing came of it, in few words and without the addresses that were redirected to."""
    if isinstance(error, RefusedError):
        return one_line(error)
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    cause = _deepest(error)
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    broken = isinstance(error, requests.exceptions.ChunkedEncodingError | urllib3.exceptions.ProtocolError)
    short = re.sub(r"\?\S+", "?...", one_line(text))[:_WORDS] or type(error).__name__
    return f"broken off: {short}" if broken else short


def _deepest(error: BaseException) -> BaseException:
    """The error that others were made of; requests and urllib3 wrap each other several times."""
    candidates = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((c for c in candidates if isinstance(c, BaseException)), None)
    return error if inner is None else _deepest(inner)
