"""The provenance inside a figure file, read back: who drew it, from which cube, by which command."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError


def read_stamp(path: Path) -> dict[str, Any]:
    """What `pictures` put into a PNG, SVG or PDF.

    Raises
    ------
    CollpressError : the file cannot be read, is of another kind, or holds no provenance of ours.
    """
    readers = {".png": _from_png, ".svg": _from_svg, ".pdf": _from_pdf}
    if path.suffix not in readers:
        raise CollpressError("not a figure file", where=str(path), allowed=", ".join(readers))
    try:
        text = readers[path.suffix](path.read_bytes())
    except OSError as error:
        raise CollpressError(f"cannot read: {error.strerror}", where=str(path)) from None
    try:
        content = json.loads(text or "")
    except ValueError:
        content = None
    if not isinstance(content, dict) or "command" not in content:
        raise CollpressError("no provenance inside", where=str(path), fix="only figures drawn by collpress carry it")
    return content


def _from_png(data: bytes) -> str | None:
    at = 8
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        if kind == b"tEXt" and body.startswith(b"collpress\0"):
            return body.partition(b"\0")[2].decode("latin-1")
        at += 12 + size
    return None


def _from_svg(data: bytes) -> str | None:
    found = re.search(r"<dc:description>(.*?)</dc:description>", data.decode("utf-8", "replace"), re.DOTALL)
    return html.unescape(found.group(1)) if found else None


def _from_pdf(data: bytes) -> str | None:
    """A literal string of the information dictionary: `\\(`, `\\)` and `\\\\` are escaped in it."""
    found = re.search(rb"/Keywords \(((?:\\.|[^\\)])*)\)", data, re.DOTALL)
    return re.sub(rb"\\(.)", rb"\1", found.group(1)).decode("latin-1") if found else None
