"""The provenance of a figure: made once, written inside the PNG, SVG and PDF, and read back from them.

Inside: PNG as the tEXt chunk `collpress`, SVG as the Dublin Core description, PDF as the keywords of its information
dictionary; always the same JSON, in ASCII. The caption keeps its signs: as an iTXt chunk in a PNG, as
UTF-16 in a PDF. No moment of now is in it: a redraw of the same cube gives the same bytes.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import shlex
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import xarray as xr

from collpress.errors import CollpressError
from collpress.figures.captions import origin
from collpress.figures.style import font
from collpress.layout import ROOT
from collpress.provenance import git_state

SCHEMA = 1
_PACKAGES = ("matplotlib", "netCDF4", "numpy", "xarray")
Stamp = dict[str, Any]


def stamp(name: str, cube: xr.DataTree, sources: Iterable[Path], root: Path = ROOT) -> Stamp:
    """What to write into and beside figure `name` of `cube` (opened by `open_cube`) drawn by the modules `sources`."""
    found = origin(cube)
    campaign, platform = str(cube.attrs["campaign"]), str(cube.attrs["platform"])
    sha256 = str(cube.encoding["sha256"])
    drawn_by = sources_digest(sources)
    words = ["collpress", "figure", name, "--campaign", campaign, "--platform", platform]
    made = found.get("software") or {}
    packages = made.get("packages") or {}
    return {
        "schema": SCHEMA,
        "id": hashlib.sha256(json.dumps([SCHEMA, name, sha256, drawn_by]).encode("utf-8")).hexdigest()[:32],
        "figure": name,
        "campaign": campaign,
        "platform": platform,
        "command": "./run " + shlex.join(words),
        "cube": {"sha256": sha256, "id": cube.attrs["id"], "last_record_utc": found.get("last_record_utc")},
        "sources_sha256": drawn_by,
        "git": git_state(root),
        "git_of_cube": found.get("git"),
        "software": {
            "collpress": made.get("collpress"),
            "python": made.get("python"),
            "compiler": made.get("compiler"),
            "mpi": made.get("mpi"),
            "core_sha256": made.get("core_sha256"),
            **{p: packages[p] for p in _PACKAGES if p in packages},
            "matplotlib": matplotlib.__version__,
            "font": font(),
        },
        "hardware": found.get("hardware"),
        "world": found.get("world"),
    }


def sources_digest(sources: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of the modules that draw."""
    total = hashlib.sha256()
    for path in sorted(sources):
        total.update(f"{path.parent.name}/{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def metadata(suffix: str, content: Stamp, caption: str) -> dict[str, Any]:
    """The `metadata` argument of savefig for a suffix; dates are switched off, they would change the bytes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    title = f"collpress: {content['figure']} of {content['campaign']} on {content['platform']}"
    if suffix == "png":
        return {"Title": title, "Description": caption, "Software": "collpress", "collpress": text}
    if suffix == "svg":
        return {"Title": title, "Description": text, "Creator": "collpress", "Date": None, "Format": "image/svg+xml"}
    if suffix == "pdf":
        return {
            "Title": title,
            "Subject": caption,
            "Keywords": text,
            "Creator": "collpress",
            "CreationDate": None,
        }
    raise ValueError(f"no place for metadata in .{suffix}")


def read_stamp(path: Path) -> Stamp:
    """The provenance inside a figure file; CollpressError where the file holds none."""
    data = path.read_bytes()
    readers = {".png": _from_png, ".svg": _from_svg, ".pdf": _from_pdf}
    if path.suffix not in readers:
        raise CollpressError("not a figure file", where=str(path), allowed=", ".join(readers))
    text = readers[path.suffix](data)
    if text is None:
        raise CollpressError("no provenance inside", where=str(path), fix="only figures drawn by collpress carry it")
    content = json.loads(text)
    assert isinstance(content, dict)
    return content


def _from_png(data: bytes) -> str | None:
    at = 8
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"tEXt" and body.startswith(b"collpress\0"):
            return body.partition(b"\0")[2].decode("latin-1")
        at += 12 + size
    return None


def _from_svg(data: bytes) -> str | None:
    found = re.search(r"<dc:description>(.*?)</dc:description>", data.decode("utf-8"), re.DOTALL)
    return html.unescape(found.group(1)) if found else None


def _from_pdf(data: bytes) -> str | None:
    """A literal string of the information dictionary: `\\(`, `\\)` and `\\\\` are escaped in it."""
    found = re.search(rb"/Keywords \(((?:\\.|[^\\)])*)\)", data, re.DOTALL)
    return re.sub(rb"\\(.)", rb"\1", found.group(1)).decode("ascii") if found else None
