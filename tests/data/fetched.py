"""What the tests of downloads share: a random file, its source, and a port where nobody answers."""

from __future__ import annotations

import hashlib
import socket
from typing import Any

import numpy as np

from collpress.data.formats import RawValues
from collpress.data.sources import UrlSource

CONTENT = np.random.Generator(np.random.Philox(5)).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = CONTENT[: len(CONTENT) // 2]


def source(*addresses: str, **changed: Any) -> UrlSource:
    """The file `field.f32` at some addresses."""
    told = {"file": "field.f32", "bytes": len(CONTENT), "sha256": SHA256, "raw": RawValues(byte_order="little")}
    return UrlSource(**{**told, "addresses": list(addresses), **changed})


def unpublished(*addresses: str) -> UrlSource:
    """The same file, as an archive of which nobody publishes length and checksum."""
    return source(*addresses, bytes=None, sha256="unpublished", archive="gz", member_bytes=len(CONTENT))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/field"
