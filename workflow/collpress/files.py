"""Files that appear whole or not at all, hashes, and room on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from collpress.errors import CollpressError

_MARGIN = 1 << 20


def sha256_of(path: Path) -> str:
    """The file's sha256 as 64 hex digits. Errors: it cannot be read, with the reason."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CollpressError(f"cannot read: {error.strerror}", where=str(path)) from None


def make_directory(path: Path) -> None:
    """Make a directory and its parents. Errors: it cannot be made, with the reason."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def atomic(path: Path, beside: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write; it takes the place of `path` at the end of the context, or vanishes when that raises.

    Its temporary name is its own, so that two writers of the same file do each other no harm. `beside`: the directory
    on the same disk where it grows, so that `path`'s own is made only when it is whole.
    """
    make_directory(beside or path.parent)
    temporary = (beside or path.parent) / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        make_directory(path.parent)
        temporary.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file. Errors: it cannot be written, with the reason."""
    with atomic(path) as file:
        file.write(content)


def write_json(path: Path, document: Any) -> bool:
    """Write a JSON document; False, with the file untouched, when it already says the same.

    Errors: it cannot be written, with the reason; ValueError for NaN or Infinity.
    """
    content = (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    if path.is_file() and path.read_bytes() == content:
        return False
    write_atomically(path, content)
    return True


def copy_file(source: Path, target: Path) -> str:
    """Copy a file, executable or not as it is, unless the target has the same bytes; returns their sha256."""
    digest = sha256_of(source)
    if not target.is_file() or sha256_of(target) != digest:
        write_atomically(target, source.read_bytes())
        target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    return digest


def require_room(directory: Path, needed: int) -> None:
    """Refuse to begin what would not fit. Errors: less than `needed` bytes and a margin of 1 MiB free."""
    make_directory(directory)
    free = shutil.disk_usage(directory).free
    if free < needed + _MARGIN:
        raise CollpressError(
            f"not enough room on the disk: {needed + _MARGIN} bytes are needed, {free} are free",
            where=str(directory),
            fix="free some space",
        )


def require_memory(needed: int, what: str) -> None:
    """Refuse to begin what would not fit into memory. Errors: less than `needed` bytes are available for `what`."""
    available = available_memory()
    if available is not None and needed > available:
        raise CollpressError(
            f"not enough memory: at least {needed} bytes are needed, {available} are available",
            where=what,
            fix="make it smaller, or use a machine with more memory",
        )


def available_memory() -> int | None:
    """Bytes that new data may take without swapping, as Linux estimates it; None where that is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    told = (line.split() for line in lines if line.startswith("MemAvailable:"))
    return next((int(words[1]) << 10 for words in told), None)


def unwritable(path: Path, error: OSError) -> CollpressError:
    """What to raise when a file or directory cannot be written."""
    return CollpressError(
        f"cannot write: {error.strerror or error}",
        where=str(path),
        fix="check permissions, free space, and what lies there",
    )
