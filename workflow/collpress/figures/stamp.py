"""The provenance of a figure of a cube, or of several, made once; no moment of now is in it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    return {
        "schema": SCHEMA,
        "id": _identity(name, [sha256], drawn_by),
        "figure": name,
        "campaign": campaign,
        "platform": platform,
        "command": "./run " + shlex.join(words),
        "cube": {"sha256": sha256, "id": cube.attrs["id"], "last_record_utc": found.get("last_record_utc")},
        "sources_sha256": drawn_by,
        "git": git_state(root),
        "git_of_cube": found.get("git"),
        "software": _software(found),
        "hardware": found.get("hardware"),
        "world": found.get("world"),
    }


def stamp_of_several(
    name: str, cubes: Sequence[xr.DataTree], asked: Sequence[str], sources: Iterable[Path], root: Path = ROOT
) -> Stamp:
    """The same for a figure over several cubes, told one by one under `cubes`; `asked`: the words that name them."""
    drawn_by = sources_digest(sources)
    told: list[Stamp] = []
    for cube in cubes:
        found = origin(cube)
        told.append(
            {
                **{key: str(cube.attrs[key]) for key in ("campaign", "platform", "id")},
                "sha256": str(cube.encoding["sha256"]),
                "last_record_utc": found.get("last_record_utc"),
                "git": found.get("git"),
                "software": _software(found),
                "hardware": found.get("hardware"),
                "world": found.get("world"),
            }
        )
    return {
        "schema": SCHEMA,
        "id": _identity(name, [cube["sha256"] for cube in told], drawn_by),
        "figure": name,
        "campaign": ", ".join(dict.fromkeys(cube["campaign"] for cube in told)),
        "platform": ", ".join(dict.fromkeys(cube["platform"] for cube in told)),
        "command": "./run " + shlex.join(["collpress", "figure", name, *asked]),
        "cubes": told,
        "sources_sha256": drawn_by,
        "git": git_state(root),
        "software": {"matplotlib": matplotlib.__version__, "font": font()},
    }


def _identity(name: str, cubes: Sequence[str], drawn_by: str) -> str:
    return hashlib.sha256(json.dumps([SCHEMA, name, *cubes, drawn_by]).encode("utf-8")).hexdigest()[:32]


def _software(found: Mapping[str, Any]) -> dict[str, Any]:
    made = found.get("software") or {}
    packages = made.get("packages") or {}
    return {
        "collpress": made.get("collpress"),
        "python": made.get("python"),
        "compiler": made.get("compiler"),
        "mpi": made.get("mpi"),
        "core_sha256": made.get("core_sha256"),
        **{p: packages[p] for p in _PACKAGES if p in packages},
        "matplotlib": matplotlib.__version__,
        "font": font(),
    }
