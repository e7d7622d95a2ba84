"""From an entry's source to the files that its values are read from."""

from __future__ import annotations

from pathlib import Path

from collpress.data import archive, web
from collpress.data.access import Access
from collpress.data.elsewhere import adopt
from collpress.data.progress import tell
from collpress.data.registry import Entry
from collpress.data.sources import ManualSource, UrlSource
from collpress.data.wanted import Wanted, record, recorded
from collpress.errors import CollpressError
from collpress.files import make_directory, require_room, sha256_of
from collpress.layout import ROOT

File = UrlSource | ManualSource


def obtained(entry: Entry, cache: Path, access: Access) -> tuple[File, list[Path]]:
    """The source that has a dataset's values, `url`, `otherwise` or `manual`, and its files: one, or one for each part.

    `otherwise` is used where its file is at hand and that of `url` is not, or where that of `url` cannot be had.

    Errors
    ------
    CollpressError: all of `web.file` and `archive.extract`; a file that only a person can bring is not there; the list
    of the parts' checksums is not right.
    """
    if entry.manual is not None:
        return entry.manual, [_brought(entry.manual, cache, entry.id, access)]
    assert entry.url is not None
    if entry.otherwise is None:
        return entry.url, _files(entry.url, cache, entry.id, access)
    for source in (entry.url, entry.otherwise):
        if _at_hand(source, cache, access):
            return source, _files(source, cache, entry.id, access)
    try:
        return entry.url, _files(entry.url, cache, entry.id, access)
    except CollpressError as error:
        if not access.offline:
            tell(f"{error.what}\n{entry.id}: trying {entry.otherwise.file}, which holds the same values")
        try:
            return entry.otherwise, _files(entry.otherwise, cache, entry.id, access)
        except CollpressError as other:
            raise CollpressError(
                f"{error.what}\n{other.what}", where=entry.id, fix=f"{error.fix}\n   or: {other.fix}"
            ) from None


def part_sources(source: UrlSource) -> list[UrlSource]:
    """One source for each part of a source of many.

    Errors: the list of checksums cannot be read, or lacks a part.
    """
    if source.parts is None:
        return [source]
    path = ROOT / source.parts.checksums
    try:
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise CollpressError(f"cannot read the list of checksums: {error}", where=str(path)) from None
    known = {row[1].lstrip("*"): row[0] for row in rows if len(row) == 2}
    sources = []
    for name in source.parts.names:
        file = source.file.replace("{part}", name)
        if file not in known:
            raise CollpressError(f"no checksum of {file}", where=str(path), fix="add a line: SHA256  FILE")
        told = source.model_dump(exclude_none=True, exclude={"parts"})
        told |= {"file": file, "sha256": known[file]}
        told["addresses"] = [address.replace("{part}", name) for address in source.addresses]
        sources.append(UrlSource.model_validate(told))
    return sources


def _at_hand(source: UrlSource, cache: Path, access: Access) -> bool:
    """Whether a source's file is there without asking a server."""
    return source.parts is None and (_member_at_hand(source, cache, access) or web.found(source, cache, access))


def _files(source: UrlSource, cache: Path, dataset: str, access: Access) -> list[Path]:
    if source.parts is not None:
        each = part_sources(source)
        missing = [one for one in each if not (cache / one.file).is_file()]
        require_room(cache, source.size // len(each) * len(missing))
        return [web.file(one, cache, dataset, access) for one in each]
    if source.archive is None:
        return [web.file(source, cache, dataset, access)]
    member = cache / source.member_file
    if not _member_at_hand(source, cache, access):
        path = web.file(source, cache, dataset, access)
        assert source.member_bytes is not None
        archive.extract(path, source.archive, source.member, source.member_bytes, source.member_sha256, member)
    return [member]


def _member_at_hand(source: UrlSource, cache: Path, access: Access) -> bool:
    """Whether what the archive holds lies in the cache, or unpacked in a directory of the user's."""
    if source.archive is None or source.member_sha256 is None:
        return False
    target = cache / source.member_file
    if Wanted(target.name, source.member_bytes, source.member_sha256).fits(target):
        return True
    make_directory(cache)
    bare = Wanted(
        Path(source.member or source.file.removesuffix(".gz")).name, source.member_bytes, source.member_sha256
    )
    return adopt(bare, target, access.directories)


def _brought(source: ManualSource, cache: Path, dataset: str, access: Access) -> Path:
    path = cache / source.file
    wanted = Wanted(source.file, source.bytes, source.known_sha256 or recorded(path))
    if not path.is_file():
        make_directory(cache)
        adopt(wanted, path, access.directories)
    if not path.is_file():
        page = f" ({source.page})" if source.page else ""
        raise CollpressError(
            f"{source.file} cannot be fetched by a program: {source.ask}{page}",
            where=dataset,
            fix=f"put the file at {path} ({wanted}), or name a directory that has it with --from",
        )
    if not wanted.fits(path):
        there = f"{path.stat().st_size} bytes, sha256 {sha256_of(path)}"
        raise CollpressError(f"{path} is another file: {there}", where=dataset, allowed=str(wanted))
    if wanted.sha256 is None:
        tell(f"{path.name}: nobody publishes its checksum; sha256 {record(path)} is recorded and asked for from now on")
    return path
