"""A file comes from the first address that has it, whole and right, or not at all; the servers here are local."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from fetched import CONTENT, HALF, SHA256, closed_port, sha256, source
from webserver import Answer, WebServer

from collpress.data import web
from collpress.data.sources import UrlSource
from collpress.errors import CollpressError

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"


def _refusal(source: UrlSource, cache: Path) -> str:
    before = {p: p.read_bytes() for p in cache.iterdir()} if cache.exists() else {}
    with pytest.raises(CollpressError) as caught:
        web.file(source, cache, "tiny/field")
    after = {p: p.read_bytes() for p in cache.iterdir() if ".part" not in p.name} if cache.exists() else {}
    assert after == before, "a refusal leaves nothing under a final name and takes nothing away"
    return str(caught.value)


# What works


def test_the_file_lies_in_the_cache_under_its_own_name_and_nothing_else_does(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    path = web.file(source(server.address("/field")), cache, "tiny/field")
    assert path == cache / "field.f32"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in cache.iterdir()] == ["field.f32"]


def test_what_is_there_is_not_asked_for_again(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    wanted = source(server.address("/field"))
    web.file(wanted, cache, "tiny/field")
    web.file(wanted, cache, "tiny/field")
    assert server.asked == ["/field"]


def test_a_file_put_there_by_hand_needs_no_server(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(CONTENT)
    assert web.file(source(closed_port()), cache, "tiny/field").read_bytes() == CONTENT


def test_mirrors_are_asked_in_order_until_one_has_the_right_file(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers |= {"/other": Answer(CONTENT[::-1]), "/good": Answer(CONTENT), "/later": Answer(CONTENT)}
    addresses = [closed_port(), *(server.address(p) for p in ("/missing", "/other", "/good", "/later"))]
    assert web.file(source(*addresses), cache, "tiny/field").read_bytes() == CONTENT
    assert server.asked == ["/missing", "/other", "/good"]
    said = capsys.readouterr().err
    for part in ("Connection refused", "404 Not Found", "wrong checksum", f"from {server.address('/good')}"):
        assert part in said
    assert "later" not in said


def test_a_redirection_within_what_may_be_asked_is_followed(server: WebServer, cache: Path) -> None:
    server.answers |= {"/field": Answer(status=302, headers={"Location": "/there?X-Signature=abc"})}
    server.answers |= {"/there?X-Signature=abc": Answer(CONTENT)}
    assert web.file(source(server.address("/field")), cache, "tiny/field").read_bytes() == CONTENT


def test_three_at_once_ask_once(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    wanted, found = source(server.address("/field")), []
    threads = [threading.Thread(target=lambda: found.append(web.file(wanted, cache, "x"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [p.read_bytes() == CONTENT for p in found] == [True] * 3
    assert server.asked == ["/field"]


def test_what_another_process_fetches_is_waited_for_and_used(server: WebServer, cache: Path) -> None:
    cache.mkdir(parents=True)
    code = (
        "import sys, time; from pathlib import Path; from collpress.data.turn import turn\n"
        "cache = Path(sys.argv[1])\n"
        "with turn(cache / '.field.f32.lock'):\n"
        "    print('held', flush=True); content = sys.stdin.buffer.read(); time.sleep(0.3)\n"
        "    (cache / 'field.f32').write_bytes(content)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(cache)], cwd=WORKFLOW, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        other.stdin.write(CONTENT)
        other.stdin.close()
        assert web.file(source(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.asked == []


# What does not


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(Answer(status=404), "HTTP status 404 Not Found", id="absent"),
        pytest.param(Answer(status=401), "HTTP status 401 Unauthorized", id="gated"),
        pytest.param(Answer(CONTENT, status=503), "HTTP status 503 Service Unavailable", id="busy"),
        pytest.param(Answer(CONTENT, status=206), "HTTP status 206 Partial Content", id="piece-not-asked-for"),
        pytest.param(Answer(HALF), "its file has 150000 bytes, expected 300000", id="short"),
        pytest.param(Answer(HALF, says=-1), "ended after 150000 of 300000 bytes", id="cut-without-length"),
        pytest.param(
            Answer(HALF, says=300_000), "broken off: IncompleteRead(150000 bytes read, 150000 more expected)", id="cut"
        ),
        pytest.param(Answer(b"", says=0), "its file has 0 bytes", id="empty"),
        pytest.param(Answer(HALF, chunks=True), "ended after 150000 of", id="short-in-chunks"),
        pytest.param(Answer(CONTENT, chunks=True, cut=5000), "broken off: ", id="broken-chunks"),
        pytest.param(
            Answer(HALF, says=-1, headers={"Transfer-Encoding": "chunked"}), "broken off: ", id="no-chunks-at-all"
        ),
        pytest.param(Answer(CONTENT, says=-1, headers={"Content-Length": "many"}), "a bad header: ", id="no-number"),
        pytest.param(Answer(CONTENT + b"x"), "its file has 300001 bytes", id="long"),
        pytest.param(Answer(CONTENT + b"x", says=-1), "sends more than the 300000 bytes", id="long-without-length"),
        pytest.param(Answer(b"<html>please log in</html>"), "it sends a web page instead", id="login-page"),
        pytest.param(
            Answer(b"\n<!DOCTYPE HTML><p>log in" + CONTENT[:299_975]), "it sends a web page instead", id="long-page"
        ),
        pytest.param(
            Answer(CONTENT[:-1] + b"?"),
            f"expected sha256 {SHA256}, found {sha256(CONTENT[:-1] + b'?')}",
            id="other",
        ),
    ],
)
def test_a_useless_answer_is_told_with_its_address(server: WebServer, cache: Path, answer: Answer, reason: str) -> None:
    server.answers["/field"] = answer
    said = _refusal(source(server.address("/field")), cache)
    assert f"{server.address('/field')}: " in said
    assert reason in said


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/field", "http://example.invalid/field", "https://a:b@127.0.0.1/f"]
)
def test_a_redirection_to_elsewhere_is_refused_before_it_is_followed(
    server: WebServer, cache: Path, target: str
) -> None:
    server.answers["/field"] = Answer(status=302, headers={"Location": target})
    said = _refusal(source(server.address("/field")), cache)
    assert "may not be asked" in said
    assert "a:b" not in said


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(status=503, reason="\x1b[2Jgone\x07"), id="status"),
        pytest.param(Answer(status=302, headers={"Location": "http://example.invalid/\x1b[2Jgone"}), id="redirection"),
        pytest.param(Answer(CONTENT, says=-1, headers={"Content-Length": "\x1b[2Jgone"}), id="header"),
    ],
)
def test_control_characters_of_a_server_do_not_reach_the_terminal(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str], answer: Answer
) -> None:
    server.answers["/field"] = answer
    said = _refusal(source(server.address("/field")), cache) + capsys.readouterr().err
    assert all(c.isprintable() or c == "\n" for c in said)


def test_redirections_without_end_are_given_up(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(status=302, headers={"Location": "/field"})
    assert "it redirects more than 10 times" in _refusal(source(server.address("/field")), cache)


def test_what_follows_the_question_mark_is_never_shown(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = source(server.address("/field?token=secret"), closed_port() + "?token=secret")
    assert "secret" not in _refusal(wanted, cache) + capsys.readouterr().err
    server.answers["/field?token=secret"] = Answer(status=302, headers={"Location": "/signed?signature=secret"})
    assert "secret" not in _refusal(wanted, cache) + capsys.readouterr().err


def test_without_a_network_it_says_which_file_to_put_where(cache: Path) -> None:
    first, second = closed_port(), closed_port()
    said = _refusal(source(first, second), cache)
    for part in ("tiny/field", f"{first}: Connection refused", f"{second}: Connection refused"):
        assert part in said
    assert f"put it at {cache / 'field.f32'} (300000 bytes, sha256 {SHA256})" in said


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (requests.ConnectTimeout("slow"), "no answer in time"),
        (requests.exceptions.SSLError(OSError("certificate verify failed")), "certificate verify failed"),
        (requests.exceptions.InvalidURL("\x1b[2Jgone\n  twice"), "[2Jgone twice"),
        (requests.exceptions.InvalidURL("cannot parse https://x/?token=secret"), "cannot parse https://x/?..."),
    ],
)
def test_other_troubles_of_a_connection_are_told_too(
    cache: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(requests, "get", fail)
    assert f"field: {reason}\n" in _refusal(source("https://example.invalid/field"), cache)


def test_a_wrong_file_in_the_cache_is_named_and_stays_until_the_right_one_comes(server: WebServer, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(HALF)
    wanted = source(server.address("/field"))
    assert f"150000 bytes, sha256 {sha256(HALF)}" in _refusal(wanted, cache)
    server.answers["/field"] = Answer(CONTENT)
    assert web.file(wanted, cache, "tiny/field").read_bytes() == CONTENT


def test_a_disk_without_room_is_noticed_before_anything_is_asked(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    assert "not enough room on the disk" in _refusal(source(server.address("/field")), cache)
    assert server.asked == []
