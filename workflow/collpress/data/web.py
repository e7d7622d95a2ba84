"""A file that web servers hold: fetched by pooch from the first of its addresses that has it, and checked.

The file stays in `results/cache/` under its own name, and every use checks its hash. One that a person puts there by
hand is used as it is; one with another hash is left alone until the right one takes its place.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

import pooch
import requests

from collpress.data.sources import UrlSource, may_be_asked
from collpress.data.turn import turn
from collpress.errors import CollpressError
from collpress.files import make_directory, require_room, sha256_of, unwritable
from collpress.printable import one_line

_BLOCK = 1 << 18
_CONNECT_S, _SILENCE_S = 10.0, 60.0
"""Patience with a server that does not answer, and with one that stops sending."""
_WORDS = 120
"""Letters of a library's message that are shown: some hold what the server sent."""
_LINES = 10
"""Most lines of progress for one file; a small one has fewer."""


def file(source: UrlSource, cache: Path, dataset: str) -> Path:
    """The file in `cache`, fetched when it is not there.

    Parameters
    ----------
    dataset : who asks, for messages.

    Errors
    ------
    CollpressError: no address has it, with what each one said (no connection, an HTTP status, another length or
    sha256, a redirection that is refused) and which file to put where by hand; no room, or not writable.
    """
    path = cache / source.file
    if not _is_right(path, source):
        make_directory(cache)
        with turn(cache / f".{source.file}.lock"):
            if not _is_right(path, source):  # the one before may have fetched it
                _fetch(source, path, dataset)
    return path


def _is_right(path: Path, source: UrlSource) -> bool:
    return path.is_file() and path.stat().st_size == source.bytes and sha256_of(path) == source.sha256


def _fetch(source: UrlSource, path: Path, dataset: str) -> None:
    require_room(path.parent, source.bytes)
    said = []
    for address in source.addresses:
        _tell(f"fetching {source.file} ({source.bytes / 1e6:.1f} MB) from {_shown(address)}")
        try:
            _fetch_from(address, source, path)
            return
        except (requests.RequestException, ValueError) as error:  # the one is an OSError too, the other a bad header
            reason = _reason(error)
        except OSError as error:
            raise unwritable(path, error) from None
        _tell(f"  {reason}")
        said.append(f"{_shown(address)}: {reason}")
    there = ""
    if path.is_file():
        there = f"\n    {path}, which is there: {path.stat().st_size} bytes, sha256 {sha256_of(path)}"
    raise CollpressError(
        f"cannot fetch {source.file}\n    " + "\n    ".join(said) + there,
        where=dataset,
        fix=f"try again; without a network, get the file elsewhere and put it at {path}"
        f" ({source.bytes} bytes, sha256 {source.sha256})",
    )


def _fetch_from(address: str, source: UrlSource, path: Path) -> None:
    """Fetch from one address; the file takes its place only when it has the right hash."""
    pooch.get_logger().setLevel("WARNING")  # it would announce each file in its own words
    pooch.retrieve(address, f"sha256:{source.sha256}", source.file, path.parent, downloader=_Download(source))


class _Refused(requests.RequestException):
    """What a server sends is not what was asked for."""


class _Download:
    """A downloader for pooch: its own for HTTP, watched for redirections, length, hash and progress."""

    def __init__(self, source: UrlSource) -> None:
        self._source = source

    def __call__(self, url: str, output_file: str, caller: Any) -> None:
        with Path(output_file).open("wb") as target:
            watched = _Watched(target, self._source)
            self._downloader(url)(url, watched, caller)
        if watched.count != self._source.bytes:
            raise _Refused(f"it ended after {watched.count} of {self._source.bytes} bytes")
        if (found := watched.digest.hexdigest()) != self._source.sha256:
            raise _Refused(f"wrong checksum: expected sha256 {self._source.sha256}, found {found}")

    def _downloader(self, url: str) -> Any:
        def follow(response: requests.Response, **_: Any) -> None:
            if response.is_redirect:
                target = urljoin(response.url, response.headers["location"])
                if not may_be_asked(target) or urlsplit(target).scheme != urlsplit(url).scheme:
                    raise _Refused(f"it redirects to {_shown(target)}, which may not be asked")

        patience = (_CONNECT_S, _SILENCE_S)
        return pooch.HTTPDownloader(chunk_size=_BLOCK, timeout=patience, hooks={"response": follow})


class _Watched:
    """A file that counts and hashes what is written, tells of it, and takes no more than was promised."""

    def __init__(self, target: BinaryIO, source: UrlSource) -> None:
        self._target, self._source = target, source
        self.count, self.digest = 0, hashlib.sha256()
        self._lines, self._told = max(1, min(_LINES, source.bytes // 10_000_000)), 0

    def write(self, block: bytes) -> int:
        self.count += len(block)
        if self.count > self._source.bytes:
            raise _Refused(f"it sends more than the {self._source.bytes} bytes that the file has")
        self.digest.update(block)
        done = self._lines * self.count // self._source.bytes
        if done > self._told:
            self._told = done
            _tell(f"  {self.count / 1e6:.1f} of {self._source.bytes / 1e6:.1f} MB")
        return self._target.write(block)

    def flush(self) -> None:
        self._target.flush()


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _shown(address: str) -> str:
    """An address without what may hold a signature or a token."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(error: Exception) -> str:
    """Why a server's answer is of no use, in few words and without the addresses that it was redirected to."""
    if isinstance(error, _Refused):
        return one_line(error)
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code} {one_line(error.response.reason)[:_WORDS]}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    cause = _deepest(error)
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    kinds = ((requests.exceptions.ChunkedEncodingError, "broken off: "), (requests.RequestException, ""))
    prefix = next((prefix for kind, prefix in kinds if isinstance(error, kind)), "a bad header: ")
    return prefix + (re.sub(r"\?\S+", "?...", one_line(text))[:_WORDS] or type(error).__name__)


def _deepest(error: BaseException) -> BaseException:
    """The error that others were made of; requests and urllib3 wrap each other several times."""
    candidates = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((c for c in candidates if isinstance(c, BaseException)), None)
    return error if inner is None else _deepest(inner)
