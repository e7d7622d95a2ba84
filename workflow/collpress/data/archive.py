"""One member of an archive, copied out by its exact name: a plain file of the expected length, or nothing.

Nothing is ever unpacked to where an archive says: the caller names the target. What is written is bounded by the
expected length; headers are bounded, too, so that an archive cannot fill the memory either.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from collpress.data.sources import ArchiveKind
from collpress.errors import CollpressError, did_you_mean
from collpress.files import atomic, require_room
from collpress.printable import one_line, printable

_BLOCK = 1 << 20
_UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # a member with a password
)
_LONGEST_HEADER = 1 << 24


def extract(path: Path, kind: ArchiveKind, member: str | None, size: int, sha256: str | None, target: Path) -> None:
    """Copy one member of an archive to `target`, whole or not at all.

    Parameters
    ----------
    member : its exact name; None for `gz`, which holds one file and no name that matters.
    size : its length in bytes.
    sha256 : None where nobody knows it.

    Errors
    ------
    CollpressError: the archive cannot be read or is cut short; no such member; the member is a link, a device or a
    directory, leaves the directory, or has another length or sha256; no room, or not writable.
    """
    where = f"{path}: {member}" if member else str(path)
    require_room(target.parent, size)
    digest, count = hashlib.sha256(), 0
    try:
        with _opened(path, kind, member or "", size, where) as inside, atomic(target) as file:
            for block in _blocks(inside, where):
                count += len(block)
                if count > size:
                    raise CollpressError(f"the member is longer than the {size} bytes expected", where=where)
                digest.update(block)
                file.write(block)
            if count != size:
                raise CollpressError(f"the member is {count} bytes long, expected {size}", where=where)
            if sha256 not in {None, digest.hexdigest()}:
                raise CollpressError(
                    f"wrong checksum: expected sha256 {sha256}, found {digest.hexdigest()}",
                    where=where,
                    fix="correct member_sha256 in the registry, if the file is meant to be another",
                )
    except _UNREADABLE as error:
        raise _unreadable(error, where) from None


def _blocks(inside: BinaryIO, where: str) -> Iterator[bytes]:
    """What can be read, told apart from what cannot be written."""
    try:
        while block := inside.read(_BLOCK):
            yield block
    except _UNREADABLE as error:
        raise _unreadable(error, where) from None


def _unreadable(error: Exception, where: str) -> CollpressError:
    return CollpressError(f"cannot read the archive: {one_line(error)}", where=where)


@contextmanager
def _opened(path: Path, kind: ArchiveKind, member: str, size: int, where: str) -> Iterator[BinaryIO]:
    """The member's content, if it is what may be copied out."""
    if kind == "zip":
        with zipfile.ZipFile(path) as archive, archive.open(_zip_entry(archive, member, size, where)) as content:
            yield cast(BinaryIO, content)
    elif kind == "gz":
        with gzip.open(path) as content:
            yield cast(BinaryIO, content)
    else:
        with (
            path.open("rb") as outer,
            gzip.GzipFile(fileobj=outer) if kind == "tar.gz" else outer as stream,
            tarfile.open(fileobj=cast(BinaryIO, _Bounded(stream, where)), mode="r:") as tar,
        ):
            # A plain file has content.
            yield cast(BinaryIO, tar.extractfile(_tar_entry(tar, member, size, where)))


class _Bounded(io.RawIOBase):
    """A stream that refuses to hand out headers of a size that no honest archive has: tarfile reads them at once."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, where: str) -> None:
        self._stream, self._where = stream, where

    def read(self, size: int = -1) -> bytes:
        if size > _LONGEST_HEADER:
            raise CollpressError(f"a header of {size} bytes is refused", where=self._where)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def _tar_entry(tar: tarfile.TarFile, member: str, size: int, where: str) -> tarfile.TarInfo:
    seen = []
    for entry in tar:
        if entry.name == member:
            _refuse_unless(entry.isfile() and not entry.issparse(), member, where)
            _refuse_length(entry.size, size, where)
            return entry
        seen.append(entry.name)
    raise _absent(member, seen, where)


def _zip_entry(archive: zipfile.ZipFile, member: str, size: int, where: str) -> zipfile.ZipInfo:
    try:
        entry = archive.getinfo(member)
    except KeyError:
        raise _absent(member, archive.namelist(), where) from None
    kind = stat.S_IFMT(entry.external_attr >> 16)
    _refuse_unless(not entry.is_dir() and kind in {0, stat.S_IFREG}, entry.filename, where)
    _refuse_length(entry.file_size, size, where)
    return entry


def _refuse_unless(plain: bool, name: str, where: str) -> None:
    path = PurePosixPath(name)
    if not plain or path.is_absolute() or ".." in path.parts:
        raise CollpressError("the member is refused: not a plain file inside the archive", where=where)


def _refuse_length(found: int, size: int, where: str) -> None:
    if found != size:
        raise CollpressError(f"the member is {found} bytes long, expected {size}", where=where)


def _absent(member: str, names: list[str], where: str) -> CollpressError:
    some = printable(", ".join(names[:5])) + (f", and {len(names) - 5} others" if len(names) > 5 else "")
    return CollpressError(
        "no such member in the archive",
        where=where,
        allowed=some or "none: it is empty",
        fix=did_you_mean(member, names),
    )
