"""The provenance of a figure of a cube, made once; no moment of now is in it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import xarray as xr

from collpress.figures.captions import origin
from collpress.figures.pictures import Stamp, sources_digest
from collpress.figures.style import font
from collpress.layout import ROOT
from collpress.provenance import git_state

SCHEMA = 1
_PACKAGES = ("matplotlib", "netCDF4", "numpy", "xarray")


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
