"""What getting datasets would ask for: files, addresses, checksums, room on the disk. Nothing is fetched or made."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from collpress.data.obtain import part_sources
from collpress.data.registry import Entry
from collpress.data.sources import ManualSource, UrlSource, WheelMember
from collpress.data.stock import is_cached, is_prepared


def outlook(entries: Iterable[Entry], results: Path) -> dict[str, Any]:
    """The datasets with their files, and what all of them need together; sizes in bytes.

    `state` is `prepared`, `cached` (its file is here), `fetch`, `generate`, or `manual` (a person must bring the file).
    A file that several datasets share counts once. `bytes` is `null` where nobody tells, and counts as the member's.
    """
    rows = [_row(entry, results) for entry in entries]
    to_fetch = {file["file"]: file["counted"] for row in rows if row["state"] == "fetch" for file in row["files"]}
    open_rows = [row for row in rows if row["state"] != "prepared"]
    members = {row["member"]: row["member_bytes"] for row in open_rows if row["member"]}
    disk = sum(to_fetch.values()) + sum(members.values()) + sum(row["bytes"] for row in open_rows)
    place = next(path for path in (results.absolute(), *results.absolute().parents) if path.is_dir())
    for row in rows:
        for file in row["files"]:
            del file["counted"]
    return {
        "datasets": rows,
        "bytes_to_fetch": sum(to_fetch.values()),
        "disk_bytes": disk,
        "free_bytes": shutil.disk_usage(place).free,
        "where": str(results),
    }


def outlook_text(told: dict[str, Any]) -> str:
    """The same for people."""
    lines = []
    for row in told["datasets"]:
        lines += [f"{row['id']}: {_state(row)}; licence: {row['licence']}"]
        if row["state"] in {"fetch", "manual", "cached"}:
            lines += [line for file in row["files"] for line in _file_lines(file)]
            if row["ask"]:
                lines.append(f"  {row['ask']}")
            for file in row["otherwise"]:
                lines += ["  where that cannot be had:", *(f"  {line}" for line in _file_lines(file))]
        if row["state"] != "prepared":
            taken_out = f", {_mb(row['member_bytes'])} taken out of the archive" if row["member"] else ""
            lines.append(f"  prepared: {row['bytes']} bytes, {_checksum(row['sha256'])}{taken_out}")
    lines.append(
        f"{len(told['datasets'])} datasets: {_mb(told['bytes_to_fetch'])} to fetch, {_mb(told['disk_bytes'])} of disk"
        f" in {told['where']}/ (what is fetched may be deleted afterwards); {_mb(told['free_bytes'])} are free"
    )
    return "\n".join(lines)


def _row(entry: Entry, results: Path) -> dict[str, Any]:
    source = entry.fetched
    archived = isinstance(source, UrlSource) and source.archive is not None
    member = source.member_file if isinstance(source, WheelMember) or archived else None  # type: ignore[union-attr]
    return {
        "id": entry.id,
        "state": _what(entry, results),
        "files": list(_files(source)),
        "otherwise": list(_files(entry.otherwise)),
        "ask": source.ask if isinstance(source, ManualSource) else None,
        "member": member,
        "member_bytes": source.member_bytes if member is not None else None,  # type: ignore[union-attr]
        "bytes": entry.bytes,
        "sha256": entry.sha256,
        "licence": entry.licence,
    }


def _what(entry: Entry, results: Path) -> str:
    if is_prepared(entry, results):
        return "prepared"
    if entry.local is not None:
        return "local"
    if entry.fetched is None:
        return "generate"
    if is_cached(entry, results / "cache"):
        return "cached"
    return "manual" if entry.manual is not None else "fetch"


def _files(source: WheelMember | UrlSource | ManualSource | None) -> Iterator[dict[str, Any]]:
    if isinstance(source, UrlSource):
        for one in part_sources(source):
            checksums = {"sha256": one.known_sha256, "md5": one.md5}
            about = {
                "archive": one.archive,
                "member": one.member,
                "member_sha256": one.member_sha256,
                "token": one.token,
            }
            sizes = {"bytes": one.bytes, "counted": one.size}
            yield {"file": one.file, **sizes, **checksums, "addresses": list(one.addresses), **about}
    elif source is not None:
        sha256 = None if source.sha256 == "unpublished" else source.sha256
        asked = [f"pip: {source.package}=={source.version}"] if isinstance(source, WheelMember) else []
        yield {
            "file": source.file,
            "bytes": source.bytes,
            "counted": source.bytes or 0,
            "sha256": sha256,
            "addresses": asked,
        }


def _file_lines(file: dict[str, Any]) -> Iterator[str]:
    size = "length not published" if file["bytes"] is None else f"{file['bytes']} bytes"
    md5 = f"md5 {file['md5']}" if file.get("md5") else None
    sha256 = f"sha256 {file['sha256']}" if file["sha256"] else None
    yield f"  {file['file']}  {size}  {sha256 or md5 or 'no checksum published'}"
    if file.get("member_sha256"):
        yield f"    of it: {file['member'] or 'its content'}  sha256 {file['member_sha256']}"
    for address in file["addresses"]:
        yield f"    {address}"
    if file.get("token"):
        yield f"    asks for a token in {file['token']}"


def _state(row: dict[str, Any]) -> str:
    words: dict[str, str] = {
        "fetch": "to be fetched",
        "generate": "to be made here",
        "local": "to be read where it lies",
        "cached": "fetched, to be prepared",
        "manual": "a person must bring its file",
    }
    state = str(row["state"])
    return words.get(state, state)


def _checksum(sha256: str | None) -> str:
    return f"sha256 {sha256}" if sha256 else "its sha256 will be recorded"


def _mb(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"
