"""One file from outside, as it must be: name, length, checksum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError
from collpress.files import sha256_of, write_atomically


@dataclass(frozen=True)
class Wanted:
    """A file and what is known of it.

    Parameters
    ----------
    bytes : its length, None where nobody tells.
    sha256 : published or recorded at first use, None where neither is.
    md5 : where only that is published.
    at_most : no more is taken from a server, where nobody tells the length.
    aliases : other names under which people may have it; they count only where a checksum tells whether it is the file.
    """

    file: str
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None
    at_most: int | None = None
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Under which the file may lie in a directory of the user's."""
        return (self.file,) if self.checksum is None else tuple(dict.fromkeys((self.file, *self.aliases)))

    @property
    def checksum(self) -> tuple[str, str] | None:
        """Algorithm and digits of the better checksum."""
        if self.sha256 is not None:
            return "sha256", self.sha256
        return None if self.md5 is None else ("md5", self.md5)

    def fits(self, path: Path) -> bool:
        """Whether a file has the length and the checksum, as far as they are known."""
        if not path.is_file() or (self.bytes is not None and path.stat().st_size != self.bytes):
            return False
        return self.checksum is None or digest_of(path, self.checksum[0]) == self.checksum[1]

    def __str__(self) -> str:
        """`100 bytes, sha256 ...`."""
        length = "length unknown" if self.bytes is None else f"{self.bytes} bytes"
        return f"{length}, {' '.join(self.checksum or ('no', 'checksum published'))}"


def digest_of(path: Path, algorithm: str) -> str:
    """A file's sha256 or md5. Errors: it cannot be read."""
    if algorithm == "sha256":
        return sha256_of(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise CollpressError(f"cannot read: {error.strerror}", where=str(path)) from None


def recorded(path: Path) -> str | None:
    """The sha256 that a file without a published one had when it was first used; it stands beside it in `FILE.sha256`.

    Errors
    ------
    CollpressError: the record is not what `sha256sum` writes.
    """
    note = _note(path)
    if not note.is_file():
        return None
    digits = note.read_text(encoding="utf-8", errors="replace").partition(" ")[0]
    if len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise CollpressError("this is no record of a sha256", where=str(note), fix="delete it to record it anew")
    return digits


def record(path: Path) -> str:
    """Write down the sha256 of a file for all later uses."""
    digits = sha256_of(path)
    write_atomically(_note(path), f"{digits}  {path.name}\n".encode())
    return digits


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
