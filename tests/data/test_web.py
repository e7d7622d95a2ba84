"""A file comes from the first address that has it, whole and right, or not at all; the servers here are local."""

from __future__ import annotations

import errno
import hashlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import requests
from webserver import Answer, WebServer

from collpress.data import web
from collpress.data.formats import RawValues
from collpress.data.sources import UrlSource
from collpress.errors import CollpressError

CONTENT = np.random.Generator(np.random.Philox(5)).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = CONTENT[: len(CONTENT) // 2]


@pytest.fixture
def server() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "a café" / "cache"


def _source(*addresses: str) -> UrlSource:
    return UrlSource(
        file="field.f32", addresses=addresses, bytes=len(CONTENT), sha256=SHA256, raw=RawValues(byte_order="little")
    )


def _refusal(source: UrlSource, cache: Path) -> str:
    before = {p: p.read_bytes() for p in cache.iterdir()} if cache.exists() else {}
    with pytest.raises(CollpressError) as caught:
        web.file(source, cache, "tiny/field")
    after = {p: p.read_bytes() for p in cache.iterdir()} if cache.exists() else {}
    assert after == before, "a refusal leaves nothing behind and takes nothing away"
    return str(caught.value)


def _closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/field"


# What works


def test_the_file_lies_in_the_cache_under_its_own_name_and_nothing_else_does(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    path = web.file(_source(server.address("/field")), cache, "tiny/field")
    assert path == cache / "field.f32"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in cache.iterdir()] == ["field.f32"]


def test_what_is_there_is_not_asked_for_again(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    source = _source(server.address("/field"))
    web.file(source, cache, "tiny/field")
    web.file(source, cache, "tiny/field")
    assert server.asked == ["/field"]


def test_a_file_put_there_by_hand_needs_no_server(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(CONTENT)
    assert web.file(_source(_closed_port()), cache, "tiny/field").read_bytes() == CONTENT


def test_mirrors_are_asked_in_order_until_one_has_the_right_file(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers |= {"/other": Answer(CONTENT[::-1]), "/good": Answer(CONTENT), "/later": Answer(CONTENT)}
    addresses = [_closed_port(), *(server.address(p) for p in ("/missing", "/other", "/good", "/later"))]
    assert web.file(_source(*addresses), cache, "tiny/field").read_bytes() == CONTENT
    assert server.asked == ["/missing", "/other", "/good"]
    said = capsys.readouterr().err
    for part in ("Connection refused", "404 Not Found", "wrong checksum", f"from {server.address('/good')}"):
        assert part in said
    assert "later" not in said


def test_a_redirection_within_what_may_be_asked_is_followed(server: WebServer, cache: Path) -> None:
    server.answers |= {"/field": Answer(status=302, headers={"Location": "/there?X-Signature=abc"})}
    server.answers |= {"/there?X-Signature=abc": Answer(CONTENT)}
    assert web.file(_source(server.address("/field")), cache, "tiny/field").read_bytes() == CONTENT


def test_progress_is_told_in_few_lines(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "_BLOCK", 1000)
    server.answers["/field"] = Answer(CONTENT)
    web.file(_source(server.address("/field")), cache, "tiny/field")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"fetching field.f32 (0.3 MB) from {server.address('/field')}", "  0.3 of 0.3 MB"]


def test_three_at_once_ask_once(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    source, found = _source(server.address("/field")), []
    threads = [threading.Thread(target=lambda: found.append(web.file(source, cache, "x"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [p.read_bytes() == CONTENT for p in found] == [True] * 3
    assert server.asked == ["/field"]


# What does not


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(Answer(status=404), "HTTP status 404 Not Found", id="absent"),
        pytest.param(Answer(status=401), "HTTP status 401 Unauthorized", id="gated"),
        pytest.param(Answer(CONTENT, status=503), "HTTP status 503 Service Unavailable", id="busy"),
        pytest.param(Answer(HALF), "ended after 150000 of 300000 bytes", id="short"),
        pytest.param(Answer(HALF, says=-1), "ended after 150000 of 300000 bytes", id="cut-without-length"),
        pytest.param(
            Answer(HALF, says=300_000), "broken off: IncompleteRead(150000 bytes read, 150000 more expected)", id="cut"
        ),
        pytest.param(Answer(b"", says=0), "ended after 0 of", id="empty"),
        pytest.param(
            Answer(HALF, says=-1, headers={"Transfer-Encoding": "chunked"}), "broken off: ", id="broken-chunks"
        ),
        pytest.param(Answer(HALF, headers={"Content-Encoding": "gzip"}), "decompressing", id="broken-compression"),
        pytest.param(Answer(CONTENT, says=-1, headers={"Content-Length": "many"}), "a bad header: ", id="no-number"),
        pytest.param(Answer(CONTENT + b"x"), "sends more than the 300000 bytes", id="long"),
        pytest.param(Answer(b"<html>please log in</html>"), "ended after 26 of 300000 bytes", id="login-page"),
        pytest.param(
            Answer(CONTENT[:-1] + b"?"),
            f"expected sha256 {SHA256}, found {hashlib.sha256(CONTENT[:-1] + b'?').hexdigest()}",
            id="other",
        ),
    ],
)
def test_a_useless_answer_is_told_with_its_address(server: WebServer, cache: Path, answer: Answer, reason: str) -> None:
    server.answers["/field"] = answer
    said = _refusal(_source(server.address("/field")), cache)
    assert f"{server.address('/field')}: " in said
    assert reason in said
    assert not list(cache.iterdir())


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/field", "http://example.invalid/field", "https://a:b@127.0.0.1/f"]
)
def test_a_redirection_to_elsewhere_is_refused_before_it_is_followed(
    server: WebServer, cache: Path, target: str
) -> None:
    server.answers["/field"] = Answer(status=302, headers={"Location": target})
    said = _refusal(_source(server.address("/field")), cache)
    assert "may not be asked" in said
    assert "a:b" not in said


def test_redirections_without_end_are_given_up(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(status=302, headers={"Location": "/field"})
    assert "Exceeded 30 redirects" in _refusal(_source(server.address("/field")), cache)


def test_what_follows_the_question_mark_is_never_shown(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = _source(server.address("/field?token=secret"), _closed_port() + "?token=secret")
    assert "secret" not in _refusal(source, cache) + capsys.readouterr().err
    server.answers["/field?token=secret"] = Answer(status=302, headers={"Location": "/signed?signature=secret"})
    assert "secret" not in _refusal(source, cache) + capsys.readouterr().err


def test_without_a_network_it_says_which_file_to_put_where(cache: Path) -> None:
    first, second = _closed_port(), _closed_port()
    said = _refusal(_source(first, second), cache)
    for part in ("tiny/field", f"{first}: Connection refused", f"{second}: Connection refused"):
        assert part in said
    assert f"put it at {cache / 'field.f32'} (300000 bytes, sha256 {SHA256})" in said


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (requests.ConnectTimeout("slow"), "no answer in time"),
        (requests.exceptions.SSLError(OSError("certificate verify failed")), "certificate verify failed"),
        (requests.exceptions.InvalidURL("cannot parse https://x/?token=secret"), "cannot parse https://x/?..."),
    ],
)
def test_other_troubles_of_a_connection_are_told_too(
    cache: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(requests, "get", fail)
    assert f"field: {reason}\n" in _refusal(_source("https://example.invalid/field"), cache)


def test_a_wrong_file_in_the_cache_is_named_and_stays_until_the_right_one_comes(server: WebServer, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(HALF)
    source = _source(server.address("/field"))
    assert f"150000 bytes, sha256 {hashlib.sha256(HALF).hexdigest()}" in _refusal(source, cache)
    server.answers["/field"] = Answer(CONTENT)
    assert web.file(source, cache, "tiny/field").read_bytes() == CONTENT


def test_a_disk_without_room_is_noticed_before_anything_is_asked(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    assert "not enough room on the disk" in _refusal(_source(server.address("/field")), cache)
    assert server.asked == []


def test_a_disk_that_fills_up_leaves_nothing_behind(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    server.answers["/field"] = Answer(CONTENT)
    monkeypatch.setattr(web._Watched, "write", full)
    assert "No space left on device" in _refusal(_source(server.address("/field")), cache)
    assert not list(cache.iterdir())
