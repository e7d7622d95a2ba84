"""One file from one address: a downloader for pooch that goes on where an earlier one stopped.

What has come lies in a part file beside the target until it is whole and right; a cut connection, a full disk or a
killed process leave it there, and the next try asks only for the rest. A note beside it says which address and which
version of the file it is from.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import requests
import urllib3

from collpress.data.answers import AgainError, RefusedError, is_page, reason, shown
from collpress.data.asking import OutOfRangeError, ask, resolved
from collpress.data.credentials import Token
from collpress.data.progress import Progress, tell
from collpress.data.wanted import Wanted
from collpress.files import require_room, write_atomically

_BLOCK = 1 << 18
_RETRIES = 3
"""Further tries at one address without `_PROGRESS` more bytes."""
_PROGRESS = 1 << 20
_BACKOFF_S = 1.0
"""Before the first further try; doubled before each later one."""
_sleep = time.sleep


class Transfer:
    """Fetches one file, from whichever address pooch is told to fetch.

    Parameters
    ----------
    wanted : what must come.
    part : where it grows; nobody else writes there as long as this object is used.
    token : shown to the host of the address, and to no other.
    """

    def __init__(self, wanted: Wanted, part: Path, token: Token | None = None) -> None:
        self._wanted, self._part, self._token = wanted, part, token
        self._note = part.with_name(f"{part.name}.json")
        self._resumed = False

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        """For pooch: `output_file` is a name of its own, which it moves to the final one after its own check.

        Errors: RefusedError, a requests.RequestException, with the reason; OSError where the file cannot be written.
        """
        self._tries(url)
        if self._resumed and not self._is_right():
            # What was there may have been of another version of the file: once more, from its beginning.
            tell("  the whole has a wrong checksum; fetching it again from its beginning")
            self.forget()
            self._tries(url)
        if not self._is_right():
            found = self._digest()
            self.forget()
            algorithm, digits = self._wanted.checksum or ("", "")
            raise RefusedError(f"wrong checksum: expected {algorithm} {digits}, found {found}")
        self._part.replace(output_file)
        self.forget()

    def forget(self) -> None:
        """Delete what has come so far."""
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _tries(self, address: str) -> None:
        failures = 0
        while True:
            before = self._length()
            try:
                self._once(address)
                return
            except RefusedError:
                if not self._length():
                    self.forget()
                raise
            except AgainError as error:
                if isinstance(error, OutOfRangeError):
                    self.forget()
                failures = 1 if self._length() >= before + _PROGRESS else failures + 1
                if failures > _RETRIES:
                    raise RefusedError(str(error)) from None
                wait = max(_BACKOFF_S * 2 ** (failures - 1), error.wait_s)
                tell(f"  {error}; trying again in {wait:g} s")
                _sleep(wait)

    def _once(self, address: str) -> None:
        have, validator = self._resumable(address)
        if have and have == self._wanted.bytes:
            return
        with closing(ask(resolved(address), self._token, have, validator)) as response:
            begin, total = self._agreed(response, have)
            blocks = _blocks(response)
            first = next(blocks, b"")
            if not begin and is_page(first):
                raise RefusedError(
                    "it sends a web page instead of the file: a login page, or one that tells of an error"
                )
            if self._wanted.bytes is not None and total not in {None, self._wanted.bytes}:
                raise RefusedError(f"its file has {total} bytes, expected {self._wanted.bytes}")
            if have and not begin:
                tell("  the server sends the whole file again")
            if not begin:
                self._write_note(address, response, total)
            if total is not None:
                require_room(self._part.parent, total - begin)
            if begin:
                self._resumed = True
                tell(f"  going on after {begin / 1e6:.1f} MB")
            with self._part.open("r+b" if begin else "wb") as target:
                target.seek(begin)
                target.truncate()
                whole = self._wanted.bytes or total
                _receive(chain([first], blocks), target, begin, whole, whole or self._wanted.at_most)

    def _agreed(self, response: requests.Response, have: int) -> tuple[int, int | None]:
        """Where what the server sends begins, and how long the whole is; None where it does not say."""
        begin, total = 0, _number(response.headers.get("Content-Length"))
        if response.status_code == 206:
            found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
            total = int(found[2]) if found and found[2] != "*" else None
            expected = self._wanted.bytes or self._read_note().get("bytes") or total
            if not found or int(found[1]) != have or total not in {None, expected}:
                self.forget()
                raise AgainError("it sends another piece than it was asked for")
            begin = have
        return begin, total

    def _resumable(self, address: str) -> tuple[int, str | None]:
        """Bytes that are there and may be gone on from, and what tells the server which version they are of."""
        have, note = self._length(), self._read_note()
        if not have or (self._wanted.bytes is not None and have > self._wanted.bytes):
            return 0, None
        validator = note.get("validator") if note.get("address") == shown(address) else None
        # Without a checksum nobody would notice pieces of two versions: only the same server may go on, with its word.
        if self._wanted.checksum is None and not validator:
            return 0, None
        return have, validator

    def _length(self) -> int:
        return self._part.stat().st_size if self._part.is_file() else 0

    def _is_right(self) -> bool:
        return self._wanted.checksum is None or self._digest() == self._wanted.checksum[1]

    def _digest(self) -> str:
        algorithm = self._wanted.checksum[0] if self._wanted.checksum else "sha256"
        with self._part.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()

    def _read_note(self) -> dict[str, Any]:
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def _write_note(self, address: str, response: requests.Response, total: int | None) -> None:
        etag = response.headers.get("ETag", "")
        # A weak tag, as a date without one, does not promise the same bytes.
        note = {"address": shown(address), "validator": etag if etag.startswith('"') else None, "bytes": total}
        write_atomically(self._note, json.dumps(note).encode())


def _receive(blocks: Iterable[bytes], target: BinaryIO, begin: int, total: int | None, at_most: int | None) -> None:
    progress, count = Progress(total, begin), begin
    try:
        for block in blocks:
            count += len(block)
            if at_most is not None and count > at_most:
                target.truncate(0)
                raise RefusedError(
                    f"it sends more than the {at_most} bytes that the file {'has' if total else 'may have'}"
                )
            target.write(block)
            progress.add(len(block))
    finally:
        progress.end()
    if total is not None and count < total:
        raise AgainError(f"it ended after {count} of {total} bytes")


def _blocks(response: requests.Response) -> Iterator[bytes]:
    """What comes, byte for byte: a file that is compressed stays so."""
    try:
        yield from response.raw.stream(_BLOCK, decode_content=False)
    except (urllib3.exceptions.HTTPError, requests.RequestException, OSError) as error:
        raise AgainError(reason(error)) from None


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdecimal():
        raise RefusedError("a bad header: its Content-Length is no number")
    return int(text)
