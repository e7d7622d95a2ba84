"""A dataset of one file for each part; a dataset that two files can give; ISABEL's size from a server to values."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from fetched import closed_port, sha256
from webserver import Answer, WebServer

from collpress.cli import main
from collpress.data.access import Access
from collpress.data.prepare import places, prepare
from collpress.data.registry import Entry, load_registry
from collpress.data.stock import room_needed
from collpress.errors import CollpressError

HOURS = np.random.Generator(np.random.Philox(8)).normal(size=(3, 4, 5)).astype("<f4")
FIELD = HOURS[0].tobytes()
MEMBER = "100x500x500/Uf01.f32"


def _archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(MEMBER)
        info.size = len(FIELD)
        tar.addfile(info, io.BytesIO(FIELD))
    return out.getvalue()


ARCHIVE = _archive()


@pytest.fixture
def load(tmp_path: Path) -> Callable[[dict[str, Any]], Entry]:
    def loaded(fields: dict[str, Any]) -> Entry:
        entry = {"title": "Wind", "dtype": "float32", "units": "1", "licence": "free", "citation": "nobody", **fields}
        path = tmp_path / "datasets.yaml"
        path.write_text(yaml.safe_dump({"schema": 1, "datasets": {"tiny/wind": entry}}), encoding="utf-8")
        return load_registry(path)["tiny/wind"]

    return loaded


@pytest.fixture
def series(server: WebServer, tmp_path: Path) -> dict[str, Any]:
    """Hours 9, 10 and 11, each a file."""
    names = [f"Uf{n:02d}.f32" for n in (9, 10, 11)]
    for name, hour in zip(names, HOURS, strict=True):
        server.answers[f"/{name}"] = Answer(hour.tobytes())
    lines = [f"{sha256(hour.tobytes())}  {name}" for name, hour in zip(names, HOURS, strict=True)]
    (tmp_path / "sums.sha256").write_text("\n".join(lines) + "\n", encoding="utf-8")
    url = {"file": "Uf{part}.f32", "addresses": [server.address("/{file}")], "bytes": 80}
    url |= {"parts": {"first": 9, "last": 11, "checksums": str(tmp_path / "sums.sha256")}}
    return {"url": {**url, "raw": {"byte_order": "little"}}, "shape": [3, 4, 5]}


def _refusal(act: Callable[[], object]) -> str:
    with pytest.raises(CollpressError) as caught:
        act()
    return str(caught.value)


# One file for each part


def test_parts_come_one_after_the_other_and_lie_along_the_slowest_axis(
    load: Callable[[dict[str, Any]], Entry], series: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    made = prepare(load(series), tmp_path)
    assert places("tiny/wind", tmp_path)[0].read_bytes() == HOURS.tobytes()
    assert (made.checksum, made.sha256) == ("recorded", sha256(HOURS.tobytes()))
    assert server.asked == ["/Uf09.f32", "/Uf10.f32", "/Uf11.f32"]


def test_room_is_asked_for_what_has_still_to_come(
    load: Callable[[dict[str, Any]], Entry], series: dict[str, Any], tmp_path: Path
) -> None:
    entry, cache = load(series), tmp_path / "cache"
    assert room_needed(entry, tmp_path) == 240 + 240
    cache.mkdir()
    (cache / "Uf09.f32").write_bytes(HOURS[0].tobytes())
    (cache / ".Uf10.f32.part").write_bytes(bytes(30))
    assert room_needed(entry, tmp_path) == 240 + 50 + 80
    for name in ("Uf10.f32", "Uf11.f32"):
        (cache / name).write_bytes(bytes(80))
    assert room_needed(entry, tmp_path) == 240


def test_a_part_that_is_not_the_listed_one_is_refused_and_the_others_stay(
    load: Callable[[dict[str, Any]], Entry], series: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    server.answers["/Uf10.f32"] = Answer(HOURS[2].tobytes())
    said = _refusal(lambda: prepare(load(series), tmp_path))
    assert f"wrong checksum: expected sha256 {sha256(HOURS[1].tobytes())}" in said
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["Uf09.f32"]
    assert not list(tmp_path.rglob("*.bin"))


def test_a_list_that_lacks_a_part_or_is_not_there_is_named(
    load: Callable[[dict[str, Any]], Entry], series: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    sums = tmp_path / "sums.sha256"
    sums.write_text(sums.read_text(encoding="utf-8").replace("Uf11", "Vf11"), encoding="utf-8")
    assert "sums.sha256: no checksum of Uf11.f32" in _refusal(lambda: prepare(load(series), tmp_path))
    sums.unlink()
    assert "cannot read the list of checksums" in _refusal(lambda: prepare(load(series), tmp_path))
    assert server.asked == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"file": "Uf.f32"}, "has {part} in its name"),
        ({"sha256": "1" * 64}, "the parts' sha256 stand in the list"),
        ({"parts": {"first": 2, "last": 1, "checksums": "x"}}, "last is before first"),
        ({"parts": {"first": 9, "last": 12, "checksums": "x"}}, "a raw file of this shape has 60 bytes"),
        ({"parts": None}, "asks for parts"),
        ({"bytes": None}, "has {part} in its name, bytes and raw"),
    ],
)
def test_parts_that_contradict_themselves_are_refused(
    load: Callable[[dict[str, Any]], Entry], series: dict[str, Any], change: dict[str, Any], told: str
) -> None:
    series["url"] = {key: value for key, value in {**series["url"], **change}.items() if value is not None}
    assert told in _refusal(lambda: load(series))


def test_the_slowest_axis_counts_the_parts(load: Callable[[dict[str, Any]], Entry], series: dict[str, Any]) -> None:
    assert "the slowest axis has 6 entries, there are 3 parts" in _refusal(lambda: load({**series, "shape": [6, 10]}))


# Two files that give the same values


@pytest.fixture
def either(server: WebServer) -> dict[str, Any]:
    raw = {"byte_order": "little"}
    url = {"file": "Uf01.f32", "addresses": [server.address("/{file}")], "bytes": 80, "sha256": sha256(FIELD)}
    other = {"file": "all.tar.gz", "addresses": [server.address("/{file}")], "bytes": len(ARCHIVE)}
    other |= {"sha256": "unpublished", "md5": hashlib.md5(ARCHIVE).hexdigest(), "archive": "tar.gz"}
    other |= {"member": MEMBER, "member_bytes": 80, "member_sha256": sha256(FIELD), "raw": raw}
    return {"url": {**url, "raw": raw}, "otherwise": other, "shape": [4, 5], "sha256": sha256(FIELD)}


def test_the_single_file_is_asked_for_first(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    server.answers |= {"/Uf01.f32": Answer(FIELD), "/all.tar.gz": Answer(ARCHIVE)}
    prepare(load(either), tmp_path)
    assert server.asked == ["/Uf01.f32"]


def test_where_it_cannot_be_had_the_archive_is_fetched_and_told(
    load: Callable[[dict[str, Any]], Entry],
    either: dict[str, Any],
    server: WebServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.answers["/all.tar.gz"] = Answer(ARCHIVE)
    made = prepare(load(either), tmp_path)
    assert places("tiny/wind", tmp_path)[0].read_bytes() == FIELD
    assert made.checksum == "pinned"
    assert "tiny/wind: trying all.tar.gz, which holds the same values" in capsys.readouterr().err


def test_an_archive_that_is_at_hand_is_used_before_any_server_is_asked(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "all.tar.gz").write_bytes(ARCHIVE)
    prepare(load(either), tmp_path)
    assert server.asked == []


def test_an_unpacked_archive_of_the_users_is_used_as_it_is(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "sdrbench" / "100x500x500").mkdir(parents=True)
    (tmp_path / "sdrbench" / MEMBER).write_bytes(FIELD)
    either["url"]["file"] = "another-name.f32"
    either["url"]["addresses"] = [closed_port()]
    prepare(load(either), tmp_path, Access(True, (tmp_path / "sdrbench",)))
    assert places("tiny/wind", tmp_path)[0].read_bytes() == FIELD


def test_offline_and_without_either_both_are_named(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    said = _refusal(lambda: prepare(load(either), tmp_path, Access(offline=True)))
    assert server.asked == []
    for part in ("Uf01.f32 is not here", "all.tar.gz is not here", f"sha256 {sha256(FIELD)}", f"{len(ARCHIVE)} bytes"):
        assert part in said


def test_where_neither_can_be_had_both_servers_answers_are_told(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], server: WebServer, tmp_path: Path
) -> None:
    server.answers["/all.tar.gz"] = Answer(status=403)
    said = _refusal(lambda: prepare(load(either), tmp_path))
    for part in ("cannot fetch Uf01.f32", "HTTP status 404", "cannot fetch all.tar.gz", "HTTP status 403"):
        assert part in said


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"member": "../x"}, "without .."),
        ({"member": "/etc/passwd"}, "relative path inside the archive"),
        ({"member": None}, "a tar or zip needs member"),
        ({"archive": "gz"}, "a gz has none"),
        ({"archive": None}, "a member needs archive"),
        ({"archive": "rar"}, "tar, tar.gz, gz or zip"),
        ({"member_bytes": None}, "needs member_bytes"),
        ({"md5": "123"}, "pattern"),
        ({"sha256": "unknown"}, "unpublished"),
        ({"sha256": None}, 'say "sha256: unpublished"'),
        ({"bytes": None, "archive": None, "member": None, "member_bytes": None, "member_sha256": None}, "give bytes"),
        ({"token": "hf token"}, "pattern"),
        ({"licence_page": "ftp://x/y"}, "may not be asked"),
    ],
)
def test_an_archive_that_is_not_described_rightly_is_refused(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any], change: dict[str, Any], told: str
) -> None:
    changed = {key: value for key, value in {**either["otherwise"], **change}.items() if value is not None}
    said = _refusal(lambda: load({**either, "otherwise": changed}))
    assert told in said
    assert "tiny/wind" in said


def test_a_second_file_asks_for_the_checksum_of_what_both_must_give(
    load: Callable[[dict[str, Any]], Entry], either: dict[str, Any]
) -> None:
    either["url"]["sha256"] = "unpublished"
    del either["sha256"]
    assert "otherwise stands beside url" in _refusal(lambda: load(either))


# The size of ISABEL


def test_a_field_of_isabels_size_goes_from_a_server_to_values(
    load: Callable[[dict[str, Any]], Entry], server: WebServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    field = np.zeros((100, 500, 500), dtype="<f4")
    field[7, 8, 9], field[50, 250, 250] = -79.0, 85.0
    content = field.tobytes()
    digest = sha256(content)
    server.answers["/Uf48.bin.f32"] = [Answer(content, ranges=True, cut=60_000_000), Answer(content, ranges=True)]
    url = {"file": "Uf48.bin.f32", "addresses": [server.address("/{file}")], "bytes": 100_000_000, "sha256": digest}
    fields = {"url": {**url, "raw": {"byte_order": "little"}}, "shape": [100, 500, 500], "sha256": digest}
    entry = load({**fields, "range": [-80.0, 86.0]})
    paths = ["--registry", str(tmp_path / "datasets.yaml"), "--results", str(tmp_path)]
    assert main(["dataset", "get", "tiny/wind", "--dry-run", *paths]) == 0
    told = capsys.readouterr().out
    for part in (server.address("/Uf48.bin.f32"), "100000000 bytes", digest, "100.0 MB to fetch, 200.0 MB of disk"):
        assert part in told
    assert main(["dataset", "get", "tiny/wind", *paths]) == 0
    assert "going on after" in capsys.readouterr().err
    assert places(entry.id, tmp_path)[0].stat().st_size == 100_000_000
