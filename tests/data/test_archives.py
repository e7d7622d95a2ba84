"""One member of an archive comes out by its exact name, if it is a plain file of the right length; nothing else."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fetched import CONTENT, sha256

from collpress.data.archive import extract
from collpress.errors import CollpressError

MEMBER = "100x500x500/field.f32"
BODY = CONTENT[:10_000]
Entry = tuple[str, bytes | tarfile.TarInfo]


def _tar(*entries: Entry, mode: str = "w", form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as tar:  # type: ignore[call-overload]
        for name, content in entries:
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _special(kind: bytes, name: str = MEMBER, target: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def _zip(name: str, content: bytes, mode: int = 0o100644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        archive.writestr(entry, content)
    return out.getvalue()


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., Path]:
    """Extract from these bytes; the target is `out/field.f32`."""

    def taken(content: bytes, kind: str, member: str | None = MEMBER, **changed: Any) -> Path:
        path, target = tmp_path / "archive", tmp_path / "out" / "field.f32"
        path.write_bytes(content)
        told = {"size": len(BODY), "sha256": sha256(BODY), **changed}
        extract(path, kind, member, told["size"], told["sha256"], target)  # type: ignore[arg-type]
        return target

    return taken


def _refused(take: Callable[..., Path], tmp_path: Path, *arguments: Any, **changed: Any) -> str:
    with pytest.raises(CollpressError) as caught:
        take(*arguments, **changed)
    assert not list((tmp_path / "out").glob("*")), "nothing under the final name, and no half file"
    assert {p.name for p in tmp_path.iterdir()} <= {"archive", "out"}
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("tar", _tar(("100x500x500/other.f32", b"x" * 70_000), (MEMBER, BODY))),
        ("tar", _tar((MEMBER, BODY), form=tarfile.GNU_FORMAT)),
        ("tar.gz", _tar(("a", b"x" * 70_000), (MEMBER, BODY), ("../evil", b"y"), mode="w:gz")),
        ("zip", _zip(MEMBER, BODY)),
        ("gz", gzip.compress(BODY)),
    ],
    ids=["tar", "gnu-tar", "tar.gz", "zip", "gz"],
)
def test_the_member_comes_out_and_nothing_else(
    take: Callable[..., Path], tmp_path: Path, kind: str, content: bytes
) -> None:
    assert take(content, kind, None if kind == "gz" else MEMBER).read_bytes() == BODY
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {"archive", "field.f32"}


def test_without_a_known_checksum_its_length_decides(take: Callable[..., Path]) -> None:
    assert take(gzip.compress(BODY), "gz", None, sha256=None).read_bytes() == BODY


@pytest.mark.parametrize(
    "special",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE],
    ids=["symbolic-link", "hard-link", "character-device", "block-device", "pipe", "directory"],
)
def test_what_is_no_plain_file_is_refused(take: Callable[..., Path], tmp_path: Path, special: bytes) -> None:
    assert "not a plain file" in _refused(take, tmp_path, _tar((MEMBER, _special(special))), "tar")


@pytest.mark.parametrize("name", ["../field.f32", "a/../../field.f32", "/tmp/field.f32"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_name_that_leads_out_is_refused_even_if_the_registry_asks_for_it(
    take: Callable[..., Path], tmp_path: Path, name: str, kind: str
) -> None:
    content = _tar((name, BODY)) if kind == "tar" else _zip(name, BODY)
    assert "not a plain file inside the archive" in _refused(take, tmp_path, content, kind, name)


def test_a_symbolic_link_in_a_zip_is_refused(take: Callable[..., Path], tmp_path: Path) -> None:
    assert "not a plain file" in _refused(take, tmp_path, _zip(MEMBER, BODY, 0o120777), "zip")


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_only_the_exact_name_counts(take: Callable[..., Path], tmp_path: Path, kind: str) -> None:
    near = "./" + MEMBER if kind != "zip" else "100x500x500/field.f3"
    content = _zip(near, BODY) if kind == "zip" else _tar((near, BODY), mode="w:gz" if kind == "tar.gz" else "w")
    said = _refused(take, tmp_path, content, kind)
    assert "no such member in the archive" in said
    assert f'did you mean "{near}"?' in said


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip", "gz"])
@pytest.mark.parametrize("change", [-1, 1])
def test_a_member_of_another_length_is_refused(
    take: Callable[..., Path], tmp_path: Path, kind: str, change: int
) -> None:
    content = {
        "tar": _tar((MEMBER, BODY)),
        "tar.gz": _tar((MEMBER, BODY), mode="w:gz"),
        "zip": _zip(MEMBER, BODY),
        "gz": gzip.compress(BODY),
    }[kind]
    member = None if kind == "gz" else MEMBER
    said = _refused(take, tmp_path, content, kind, member, size=len(BODY) + change)
    assert str(len(BODY) + change) in said


def test_a_bomb_ends_at_the_expected_length(
    take: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    real = gzip.GzipFile.read
    monkeypatch.setattr(gzip.GzipFile, "read", lambda f, n=-1: read.append(n) or real(f, n))
    bomb = gzip.compress(bytes(50_000_000), 1)
    assert "longer than the 10000 bytes expected" in _refused(take, tmp_path, bomb, "gz", None)
    assert read == [1 << 20], "one block of 1 MiB, not the 50 MB"


def test_a_header_that_would_fill_the_memory_is_refused(take: Callable[..., Path], tmp_path: Path) -> None:
    huge = tarfile.TarInfo("././@PaxHeader")
    huge.type, huge.size = tarfile.XHDTYPE, 1 << 30
    content = gzip.compress(huge.tobuf(tarfile.USTAR_FORMAT) + bytes(100_000))
    assert "a header of 1073741824 bytes is refused" in _refused(take, tmp_path, content, "tar.gz")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("tar", b"no archive"),
        ("tar.gz", b"no archive"),
        ("tar.gz", gzip.compress(b"no archive")),
        ("zip", b"no archive"),
        ("gz", b"no archive"),
        ("gz", gzip.compress(BODY)[:-500]),
        ("gz", gzip.compress(BODY)[:-8] + b"\0" * 8),
        ("tar.gz", _tar((MEMBER, BODY), mode="w:gz")[:-3000]),
        ("tar", _tar((MEMBER, BODY))[:5000]),
        ("zip", _zip(MEMBER, BODY).replace(b"PK\x01\x02", b"PK\x09\x09")),
    ],
    ids=["tar", "tar.gz", "gz-of-no-tar", "zip", "gz", "cut-gz", "gz-checksum", "cut-tar.gz", "cut-tar", "zip-index"],
)
def test_what_cannot_be_read_is_told(take: Callable[..., Path], tmp_path: Path, kind: str, content: bytes) -> None:
    said = _refused(take, tmp_path, content, kind, None if kind == "gz" else MEMBER)
    assert "cannot read the archive" in said or "bytes long, expected" in said


def test_another_content_of_the_same_length_names_both_checksums(take: Callable[..., Path], tmp_path: Path) -> None:
    said = _refused(take, tmp_path, _tar((MEMBER, BODY[::-1])), "tar")
    assert f"expected sha256 {sha256(BODY)}, found {sha256(BODY[::-1])}" in said


def test_room_is_looked_for_first(take: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    assert "not enough room" in _refused(take, tmp_path, _tar((MEMBER, BODY)), "tar")
