"""A token goes to the host that the registry names, and nowhere else: to no other host, no message, no file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fetched import CONTENT, closed_port, source
from webserver import Answer, WebServer

from collpress.data import web
from collpress.errors import CollpressError

SECRET = "hf_a-secret"
PAGE = "https://example.org/licence"


@pytest.fixture
def elsewhere() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


def _gated(*addresses: str, **changed: Any) -> Any:
    return source(*addresses, token="HF_TOKEN", licence_page=PAGE, **changed)


def _refusal(wanted: Any, cache: Path) -> str:
    with pytest.raises(CollpressError) as caught:
        web.file(wanted, cache, "gated/field")
    return str(caught.value)


def _nowhere(cache: Path, *texts: str) -> bool:
    files = [p.read_bytes() for p in cache.rglob("*") if p.is_file()]
    return not any(SECRET in text for text in texts) and not any(SECRET.encode() in content for content in files)


def test_the_token_is_shown_to_the_registered_host(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", f" {SECRET}\n")
    server.answers["/field"] = Answer(CONTENT)
    assert web.file(_gated(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert _nowhere(cache, capsys.readouterr().err)


def test_it_does_not_follow_to_another_host_but_comes_back_with_the_first(
    server: WebServer, elsewhere: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    server.answers |= {"/field": Answer(status=302, headers={"Location": "/moved"})}
    server.answers |= {"/moved": Answer(status=307, headers={"Location": elsewhere.address("/blob")})}
    elsewhere.answers["/blob"] = Answer(CONTENT)
    assert web.file(_gated(server.address("/field")), cache, "x").read_bytes() == CONTENT
    assert [h.get("Authorization") for h in server.headers] == [f"Bearer {SECRET}"] * 2
    assert "Authorization" not in elsewhere.headers[0]


def test_a_netrc_does_not_replace_it(
    server: WebServer, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HF_TOKEN", SECRET)
    server.answers["/field"] = Answer(CONTENT)
    web.file(_gated(server.address("/field")), cache, "x")
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_without_a_token_nothing_is_asked_and_the_message_says_how_to_get_one(server: WebServer, cache: Path) -> None:
    said = _refusal(_gated(server.address("/field")), cache)
    assert server.asked == []
    assert "gated/field: field.f32 is given only to those who accepted its licence, and HF_TOKEN is not set" in said
    assert f"accept the licence at {PAGE}, make a token for reading there, and set HF_TOKEN to it; or get" in said
    assert str(cache / "field.f32") in said


def test_a_file_that_is_there_needs_no_token(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(CONTENT)
    assert web.file(_gated(closed_port()), cache, "x").read_bytes() == CONTENT


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_does_not_open_it_is_told_without_its_text(
    server: WebServer,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: int,
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    server.answers["/field"] = Answer(status=status)
    said = _refusal(_gated(server.address("/field")), cache)
    assert f"HTTP status {status}" in said
    assert f"the token in HF_TOKEN does not open it: accept the licence at {PAGE}" in said
    assert _nowhere(cache, said, capsys.readouterr().err)


@pytest.mark.parametrize(
    "value", [f"{SECRET} {SECRET}", f"{SECRET}\r\nX: y", f"{SECRET}é", f"a\x00{SECRET}"[2:] + "\x1b"]
)
def test_what_cannot_be_a_token_is_refused_without_showing_it(
    server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", value)
    said = _refusal(_gated(server.address("/field")), cache)
    assert "what HF_TOKEN holds cannot be a token" in said
    assert _nowhere(cache, said)
    assert server.asked == []


def test_a_failed_connection_does_not_show_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    said = _refusal(_gated(closed_port()), cache)
    assert "Connection refused" in said
    assert _nowhere(cache, said, capsys.readouterr().err)
