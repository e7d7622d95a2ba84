"""Files that appear whole or not at all, and are left alone when nothing in them changes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError


def write_json(path: Path, document: Any) -> bool:
    """Write a JSON document atomically; False, with the file untouched, when it already says the same."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    with _unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _publish(Path(name), path, 0o644)
    return True


def copy_file(source: Path, target: Path) -> str:
    """Copy a file atomically unless the target has the same bytes; returns their sha256."""
    digest = sha256_of(source)
    if target.is_file() and sha256_of(target) == digest:
        return digest
    with _unwritable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        shutil.copyfile(source, name)
        _publish(Path(name), target, 0o755 if os.access(source, os.X_OK) else 0o644)
    return digest


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _publish(temporary: Path, path: Path, mode: int) -> None:
    temporary.chmod(mode)
    temporary.replace(path)


class _unwritable:  # noqa: N801 - reads as a phrase: `with _unwritable(path)`
    """Turns the system's refusal to write into a message for people."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise unwritable(self.path, error) from None


def unwritable(path: Path, error: OSError) -> CollpressError:
    """The message for a place where nothing can be written."""
    return CollpressError(
        f"cannot write: {error.strerror or error}",
        where=str(path),
        fix="check permissions, free space, and what lies there",
    )
