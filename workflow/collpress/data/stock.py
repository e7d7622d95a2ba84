"""What is there already and what is still to be fetched: cheap looks at names and sizes; checksums are for `get`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from collpress.data.registry import Entry
from collpress.data.sources import ManualSource, UrlSource, WheelMember


def is_prepared(entry: Entry, results: Path) -> bool:
    """Whether values and sidecar lie where they belong, and the values have the right length."""
    values = results / "data" / f"{entry.public_id}.bin"
    return _is_file(values, entry.bytes) and values.with_suffix(".json").is_file()


def to_fetch(entries: Iterable[Entry], results: Path) -> dict[str, int]:
    """The files that preparing these datasets would download, by name, each once, with its bytes.

    A file for each part counts once, as `NAME{part}`. Where nobody tells the length of an archive it is that of what is
    in it. What a person must bring is left out.
    """
    files = {}
    for entry in entries:
        source = entry.fetched
        if source is None or isinstance(source, ManualSource) or is_prepared(entry, results):
            continue
        if not is_cached(entry, results / "cache"):
            files[source.file] = source.size if isinstance(source, UrlSource) else source.bytes
    return files


def room_needed(entry: Entry, results: Path) -> int:
    """Bytes that preparing a dataset will take on the disk: to be fetched, taken out of an archive, and prepared."""
    cache, source = results / "cache", entry.fetched
    taken_out = getattr(source, "member_bytes", None) or 0
    if source is None or isinstance(source, ManualSource) or is_cached(entry, cache):
        return entry.bytes + taken_out
    names, each = [source.file], source.bytes or taken_out
    if isinstance(source, UrlSource) and source.parts is not None:
        names = [source.file.replace("{part}", name) for name in source.parts.names]
    missing = sum(max(0, each - _come(cache, name)) for name in names)
    return entry.bytes + taken_out + missing


def part_of(path: Path) -> Path:
    """Where a file of the cache grows until it is whole and right."""
    return path.with_name(f".{path.name}.part")


def _come(cache: Path, name: str) -> int:
    """Bytes of a file that are there already, whole or not."""
    places = cache / name, part_of(cache / name)
    return max((place.stat().st_size for place in places if place.is_file()), default=0)


def is_cached(entry: Entry, cache: Path) -> bool:
    """Whether the file that a dataset is made of, or what was taken out of it, lies in the cache."""
    source = entry.fetched
    if isinstance(source, WheelMember):
        member = cache / source.member_file
        return _is_file(member, source.member_bytes) or _is_file(cache / source.file, source.bytes)
    sources = (entry.url, entry.otherwise, entry.manual)
    return any(file is not None and _has(file, cache) for file in sources)


def _has(source: UrlSource | ManualSource, cache: Path) -> bool:
    if isinstance(source, UrlSource) and source.parts is not None:
        names = source.parts.names
        return all(_is_file(cache / source.file.replace("{part}", name), source.bytes) for name in names)
    taken_out = (
        isinstance(source, UrlSource)
        and source.archive is not None
        and source.member_sha256 is not None
        and _is_file(cache / source.member_file, source.member_bytes)
    )
    return taken_out or _is_file(cache / source.file, source.bytes)


def _is_file(path: Path, size: int | None) -> bool:
    return path.is_file() and size in {None, path.stat().st_size}
