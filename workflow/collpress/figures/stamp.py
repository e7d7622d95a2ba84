"""The provenance of a figure: made once, and written inside the PNG, SVG and PDF (`stamped` reads it back).

Inside: PNG as the tEXt chunk `collpress`, SVG as the Dublin Core description, PDF as the keywords of its information
dictionary; always the same JSON, in ASCII. The caption keeps its signs: as an iTXt chunk in a PNG, as
UTF-16 in a PDF. No moment of now is in it: a redraw of the same cube gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import xarray as xr

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
