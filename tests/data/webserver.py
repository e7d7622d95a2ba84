"""A web server on this machine that answers as a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType


@dataclass(frozen=True)
class Answer:
    """What the server says of one path.

    Parameters
    ----------
    says : the Content-Length, where it is not that of the body; -1 sends none: the connection's end is the body's.
    reason : the words behind the status, where they are not the usual ones.
    """

    body: bytes = b""
    status: int = 200
    says: int | None = None
    reason: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class WebServer(ThreadingHTTPServer):
    """Answers by path; what it does not know is not found."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: WebServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path, Answer(status=404))
        self.send_response(answer.status, answer.reason)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.says != -1:
            self.send_header("Content-Length", str(len(answer.body) if answer.says is None else answer.says))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Tests say what was asked."""
