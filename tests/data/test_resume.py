"""What has come of a file stays, and the next try, here or at the next address, asks only for the rest."""

from __future__ import annotations

import errno
import io
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fetched import CONTENT, HALF, SHA256, closed_port, sha256, source, unpublished
from webserver import Answer, WebServer

from collpress.data import progress, transfer, web
from collpress.data.progress import Progress
from collpress.errors import CollpressError

WHOLE = Answer(CONTENT, ranges=True, headers={"ETag": '"1"'})
CUT = Answer(CONTENT, ranges=True, headers={"ETag": '"1"'}, cut=len(HALF))


def _part(cache: Path) -> Path:
    return cache / ".field.f32.part"


def _leave(cache: Path, content: bytes) -> None:
    """As a process leaves it that was killed."""
    cache.mkdir(parents=True, exist_ok=True)
    _part(cache).write_bytes(content)


def _refusal(wanted: Any, cache: Path) -> str:
    with pytest.raises(CollpressError) as caught:
        web.file(wanted, cache, "tiny/field")
    assert not (cache / "field.f32").exists()
    return str(caught.value)


# Going on


def test_a_cut_connection_is_gone_on_from_at_once(server: WebServer, cache: Path, waits: list[float]) -> None:
    server.answers["/field"] = [CUT, WHOLE]
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert [h.get("Range") for h in server.headers] == [None, "bytes=150000-"]
    assert server.headers[1]["If-Range"] == '"1"'
    assert waits == [1.0]
    assert [p.name for p in cache.iterdir()] == ["field.f32"]


def test_a_later_call_goes_on_where_an_earlier_one_stopped(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT, cut=len(HALF))
    said = _refusal(source(server.address("/field")), cache)
    assert "150000 bytes have come; the next try goes on there" in said
    assert _part(cache).read_bytes() == HALF
    server.answers["/field"] = WHOLE
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.headers[-1]["Range"] == "bytes=150000-"


def test_the_next_mirror_goes_on_where_the_first_stopped(server: WebServer, cache: Path) -> None:
    server.answers |= {"/a": [CUT, Answer(status=404)], "/b": WHOLE}
    assert web.file(source(server.address("/a"), server.address("/b")), cache, "x").read_bytes() == CONTENT
    assert server.asked == ["/a", "/a", "/b"]
    assert server.headers[2]["Range"] == "bytes=150000-"
    assert "If-Range" not in server.headers[2], "another server's tag says nothing"


def test_a_whole_part_is_not_asked_for_again(server: WebServer, cache: Path) -> None:
    _leave(cache, CONTENT)
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.asked == []


# Beginning again


def test_a_server_that_ignores_range_sends_the_whole_again(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _leave(cache, HALF)
    server.answers["/field"] = Answer(CONTENT)
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.headers[0]["Range"] == "bytes=150000-"
    assert "the server sends the whole file again" in capsys.readouterr().err


def test_a_file_that_changed_at_the_server_is_sent_whole(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = [
        Answer(CONTENT[::-1], ranges=True, headers={"ETag": '"0"'}, cut=1000),
        Answer(CONTENT, ranges=True, headers={"ETag": '"1"'}),
    ]
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_part_of_another_version_is_noticed_and_fetched_again_once(server: WebServer, cache: Path) -> None:
    _leave(cache, CONTENT[::-1][:1000])
    server.answers["/field"] = WHOLE
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert [h.get("Range") for h in server.headers] == ["bytes=1000-", None]


@pytest.mark.parametrize(
    "piece",
    [
        {"Content-Range": "bytes 0-299999/300000"},
        {"Content-Range": "bytes 150000-299999/300001"},
        {"Content-Range": "items 1-2/3"},
        {},
    ],
    ids=["begin", "length", "unit", "none"],
)
def test_a_piece_that_was_not_asked_for_is_not_taken(server: WebServer, cache: Path, piece: dict[str, str]) -> None:
    _leave(cache, HALF)
    server.answers["/field"] = [Answer(CONTENT[len(HALF) :], status=206, headers=piece), Answer(CONTENT)]
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert "Range" not in server.headers[1]


def test_a_part_that_is_longer_than_the_file_is_thrown_away(server: WebServer, cache: Path) -> None:
    _leave(cache, CONTENT + b"x")
    server.answers["/field"] = WHOLE
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert "Range" not in server.headers[0]


def test_a_login_page_does_not_cost_what_has_come(server: WebServer, cache: Path) -> None:
    _leave(cache, HALF)
    server.answers["/field"] = Answer(b"<html>log in</html>", chunks=True)
    assert "it sends a web page instead" in _refusal(source(server.address("/field")), cache)
    assert _part(cache).read_bytes() == HALF


def test_a_wrong_file_is_not_kept_as_a_part(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT[::-1])
    assert "wrong checksum" in _refusal(source(server.address("/field")), cache)
    assert list(cache.iterdir()) == []


def test_without_a_checksum_only_the_same_version_of_the_same_server_goes_on(server: WebServer, cache: Path) -> None:
    server.answers |= {"/a": [CUT, Answer(status=404)], "/b": [CUT, WHOLE]}
    web.file(unpublished(server.address("/a"), server.address("/b")), cache, "x")
    assert [h.get("Range") for h in server.headers] == [None, "bytes=150000-", None, "bytes=150000-"]
    assert (cache / "field.f32").read_bytes() == CONTENT


# Trying again


def test_a_busy_server_is_asked_again_with_growing_patience(
    server: WebServer, cache: Path, waits: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    busy = Answer(status=503)
    server.answers["/field"] = [busy, busy, Answer(status=429, headers={"Retry-After": "7"}), WHOLE]
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert waits == [1.0, 2.0, 7.0]
    assert "HTTP status 503 Service Unavailable; trying again in 1 s" in capsys.readouterr().err


def test_a_server_that_stays_busy_is_given_up_and_the_next_is_asked(
    server: WebServer, cache: Path, waits: list[float]
) -> None:
    server.answers |= {"/a": Answer(status=500), "/b": WHOLE}
    assert web.file(source(server.address("/a"), server.address("/b")), cache, "x").read_bytes() == CONTENT
    assert server.asked == ["/a"] * 4 + ["/b"]
    assert waits == [1.0, 2.0, 4.0]


def test_a_server_may_not_ask_for_endless_patience(server: WebServer, cache: Path, waits: list[float]) -> None:
    server.answers["/field"] = [Answer(status=503, headers={"Retry-After": "86400"}), WHOLE]
    web.file(source(server.address("/field")), cache, "x")
    assert waits == [60.0]


def test_a_line_that_breaks_again_and_again_is_gone_on_from_as_long_as_something_comes(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "_PROGRESS", 10_000)
    server.answers["/field"] = Answer(CONTENT, ranges=True, headers={"ETag": '"1"'}, cut=20_000)
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert len(server.asked) == 15


def test_a_server_that_stops_sending_is_asked_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collpress.data.asking._SILENCE_S", 0.05)
    with SilentServer() as silent:
        assert f"{silent.address}: no answer in time" in _refusal(source(silent.address), cache)
        assert silent.asked == 4


class SilentServer:
    """Takes connections and says nothing."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}/field"
        self.asked, self._held = 0, []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def _accept(self) -> None:
        while True:
            try:
                self._held.append(self._socket.accept()[0])
            except OSError:
                return
            self.asked += 1

    def __enter__(self) -> SilentServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self._held:
            connection.close()


# The disk


def test_a_disk_that_fills_up_keeps_what_has_come_for_the_next_try(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.FileIO):
        def write(self, block: Any) -> int:
            if self.tell() >= 2 * 50_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(block)

    real = Path.open
    monkeypatch.setattr(transfer, "_BLOCK", 50_000)
    server.answers["/field"] = WHOLE
    with monkeypatch.context() as full:
        full.setattr(Path, "open", lambda p, *a, **k: Full(p, *a) if p.suffix == ".part" else real(p, *a, **k))
        said = _refusal(source(server.address("/field")), cache)
    assert "cannot write: No space left on device" in said
    assert 0 < _part(cache).stat().st_size < len(CONTENT)
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.headers[-1]["Range"].startswith("bytes=")


def test_a_file_of_unknown_length_that_would_not_fit_is_refused_before_it_is_read(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=(1 << 20) + 250_000))
    server.answers["/field"] = Answer(CONTENT)
    assert "not enough room" in _refusal(unpublished(server.address("/field")), cache)
    assert not _part(cache).exists()


@pytest.mark.parametrize("chunks", [True, False])
def test_of_a_file_of_unknown_length_no_more_is_taken_than_it_may_have(
    server: WebServer, cache: Path, chunks: bool
) -> None:
    server.answers["/field"] = Answer(bytes(5_000_000), chunks=chunks, says=-1)
    said = _refusal(unpublished(server.address("/field")), cache)
    assert f"it sends more than the {300_000 * 9 // 8 + (1 << 20)} bytes that the file may have" in said
    assert list(cache.iterdir()) == []


def test_who_cannot_have_the_lock_fetches_under_a_name_of_its_own_and_keeps_nothing(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    _leave(cache, HALF)
    server.answers["/field"] = [Answer(CONTENT, cut=1000), Answer(status=404), WHOLE]
    _refusal(source(server.address("/field")), cache)
    assert [p.name for p in cache.iterdir() if p.suffix != ".lock"] == [_part(cache).name]
    assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert [h.get("Range") for h in server.headers] == [None, "bytes=1000-", None]
    assert _part(cache).read_bytes() == HALF


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_every_few_seconds_with_rate_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    told = Progress(100_000_000, 20_000_000, clock=lambda: now[0])
    for _ in range(16):
        now[0] += 1.0
        told.add(5_000_000)
    told.end()
    assert capsys.readouterr().err.splitlines() == [
        "  45.0 of 100.0 MB, 5.00 MB/s, 11 s left",
        "  70.0 of 100.0 MB, 5.00 MB/s, 6 s left",
        "  95.0 of 100.0 MB, 5.00 MB/s, 1 s left",
        "  100.0 of 100.0 MB, 5.00 MB/s",
    ]


def test_a_terminal_gets_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, now = Terminal(), [0.0]
    monkeypatch.setattr("sys.stderr", screen)
    told = Progress(None, clock=lambda: now[0])
    for _ in range(3):
        now[0] += 1.0
        told.add(1_000_000)
    told.end()
    assert screen.getvalue().count("\r") == 4
    assert screen.getvalue().count("\n") == 1
    assert screen.getvalue().split("\r")[-1].strip() == "3.0 MB, 1.00 MB/s"


@pytest.mark.parametrize(("seconds", "text"), [(0.1, "1 s"), (59.0, "59 s"), (125, "2 min 5 s"), (7300, "2 h 1 min")])
def test_time_left_is_told_in_words(seconds: float, text: str) -> None:
    assert progress._duration(seconds) == text


def test_a_download_tells_what_it_does(server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/field"] = WHOLE
    web.file(source(server.address("/field")), cache, "x")
    first, last = capsys.readouterr().err.splitlines()
    assert first == f"fetching field.f32 (0.3 MB) from {server.address('/field')}"
    assert last.startswith("  0.3 of 0.3 MB, ")


# Repositories


def test_a_doi_leads_to_the_repositorys_file_and_nowhere_else(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, there = [], [server.address("/record/field.f32?download=1")]

    class Repository:
        def download_url(self, name: str) -> str:
            asked.append(name)
            return there[0]

    monkeypatch.setattr("pooch.downloaders.doi_to_repository", lambda doi: asked.append(doi) or Repository())
    server.answers["/record/field.f32?download=1"] = WHOLE
    wanted = source("doi:10.5281/zenodo.123/{file}")
    assert web.file(wanted, cache, "x").read_bytes() == CONTENT
    assert asked == ["10.5281/zenodo.123", "field.f32"]
    (cache / "field.f32").unlink()
    there[0] = "http://example.invalid/field.f32?key=secret"
    said = _refusal(wanted, cache)
    assert "doi:10.5281/zenodo.123/field.f32: it leads to http://example.invalid/field.f32, which may not" in said


def test_what_a_repository_says_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: str) -> None:
        raise ValueError("Archive with doi:10.5281/zenodo.123 not found")

    monkeypatch.setattr("pooch.downloaders.doi_to_repository", unknown)
    assert "zenodo.123 not found" in _refusal(source("doi:10.5281/zenodo.123/{file}", closed_port()), cache)


def test_the_contents_are_what_the_other_tests_take_them_for() -> None:
    assert sha256(CONTENT) == SHA256
    assert len(HALF) == 150_000
