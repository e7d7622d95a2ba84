"""What is there already and what is still to be fetched: cheap looks at names and sizes; checksums are for `get`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from collpress.data.registry import Entry
from collpress.data.sources import WheelMember


def is_prepared(entry: Entry, results: Path) -> bool:
    """Whether values and sidecar lie where they belong, and the values have the right length."""
    values = results / "data" / f"{entry.id}.bin"
    return _is_file(values, entry.bytes) and values.with_suffix(".json").is_file()


def to_fetch(entries: Iterable[Entry], results: Path) -> dict[str, int]:
    """The files that preparing these datasets would download, by name, each once, with its bytes."""
    files = {}
    for entry in entries:
        source = entry.fetched
        if source is not None and not is_prepared(entry, results) and not _is_cached(entry, results / "cache"):
            files[source.file] = source.bytes
    return files


def _is_cached(entry: Entry, cache: Path) -> bool:
    source = entry.fetched
    if isinstance(source, WheelMember) and _is_file(cache / source.member_file, source.member_bytes):
        return True
    return source is not None and _is_file(cache / source.file, source.bytes)


def _is_file(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
