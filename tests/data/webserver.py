"""A web server on this machine that answers as a test tells it to."""

from __future__ import annotations

import re
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
    ranges : whether it sends only the piece that is asked for (status 206), unless If-Range names another ETag.
    cut : bytes of what it says it sends after which it closes the connection.
    chunks : whether the body is sent in chunks, without a Content-Length.
    """

    body: bytes = b""
    status: int = 200
    says: int | None = None
    reason: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ranges: bool = False
    cut: int | None = None
    chunks: bool = False


class WebServer(ThreadingHTTPServer):
    """Answers by path; what it does not know is not found. Of a list each answer is given once, the last for ever."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer | list[Answer]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def next_answer(self, path: str) -> Answer:
        answer = self.answers.get(path, Answer(status=404))
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.asked.append(self.path)
        self.server.headers.append(dict(self.headers.items()))
        answer = self.server.next_answer(self.path)
        body, status, headers = answer.body, answer.status, dict(answer.headers)
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", headers.get("ETag")) == headers.get("ETag")
        if answer.ranges and wanted and same:
            begin, whole = int(wanted[1]), len(body)
            if begin >= whole:
                status, body, headers = 416, b"", {"Content-Range": f"bytes */{whole}"}
            else:
                status, body = 206, body[begin:]
                headers = {"Content-Range": f"bytes {begin}-{whole - 1}/{whole}", **headers}
        self.send_response(status, answer.reason)
        for name, value in headers.items():
            self.send_header(name, value)
        if answer.chunks:
            self.send_header("Transfer-Encoding", "chunked")
        elif answer.says != -1:
            self.send_header("Content-Length", str(len(body) if answer.says is None else answer.says))
        self.send_header("Connection", "close")
        self.end_headers()
        sent = body[: answer.cut]
        if answer.chunks:
            sent = b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in (sent[:1000], sent[1000:]) if c)
            sent += b"0\r\n\r\n" if answer.cut is None else b""
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Tests say what was asked."""
