"""Files of a user, checked against what they were when they were registered."""

from __future__ import annotations

from pathlib import Path

from collpress.data.sources import LocalSource
from collpress.errors import CollpressError
from collpress.files import sha256_of


def files(source: LocalSource, dataset: str) -> list[Path]:
    """The files, in order. Errors: one is gone, or has another length or sha256 than at registration."""
    found = []
    for said in source.files:
        path = Path(said.path)
        if not path.is_file():
            fix = "put it back, or remove the entry and register it anew"
            raise CollpressError(f"{dataset}: the file is gone", where=said.path, fix=fix)
        size = path.stat().st_size
        if size != said.bytes or sha256_of(path) != said.sha256:
            raise CollpressError(
                f"{dataset}: the file has changed since it was registered ({said.bytes} bytes then, {size} now)",
                where=said.path,
                allowed=f"sha256 {said.sha256}",
                fix="restore it, or remove the entry and register it anew",
            )
        found.append(path)
    return found
