"""From a cube to the files of a figure: in the house style, stamped, replaced together, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from collpress.analysis.link import link
from collpress.cube.file import open_cube
from collpress.figures import style
from collpress.figures.captions import origin
from collpress.figures.drawing import Drawing
from collpress.figures.pictures import Stamp, foot, pictures, replace
from collpress.figures.registry import figure_sources, load, load_several
from collpress.figures.stamp import stamp, stamp_of_several
from collpress.layout import ROOT


def write_figure(name: str, cube_path: Path, folder: Path, root: Path = ROOT) -> list[Path]:
    """Draw `name` from the cube at `cube_path` and write NAME.{pdf,svg,png,csv,json} into `folder`; returns the five
    paths.

    Raises CollpressError for an unknown figure, a missing or damaged cube, or a folder that cannot be written.
    """
    draw = load(name)
    cube = open_cube(cube_path)
    with style.house():
        drawing = draw(cube)
        content = stamp(name, cube, figure_sources(name), root)
        _footer(drawing.figure, cube, content)
        files = rendered(drawing, content)
    return replace(folder, {f"{name}.{suffix}": data for suffix, data in files.items()})


def write_figure_of_several(
    name: str, cube_paths: Sequence[Path], asked: Sequence[str], folder: Path, root: Path = ROOT
) -> list[Path]:
    """The same for a figure over several cubes; `asked`: the words that name them, for the command that draws again.

    Raises CollpressError also for a figure that is drawn from one cube only.
    """
    draw = load_several(name, "collpress figure")
    cubes = [open_cube(path) for path in cube_paths]
    with style.house():
        drawing = draw(cubes)
        content = stamp_of_several(name, cubes, asked, figure_sources(name), root)
        ids = f"{len(cubes)} cubes {', '.join(cube['sha256'][:6] for cube in content['cubes'])}"
        start = f"{content['campaign']} on {content['platform']}"
        foot(drawing.figure, start, f" · {ids} · figure {content['id'][:12]}")
        files = rendered(drawing, content)
    return replace(folder, {f"{name}.{suffix}": data for suffix, data in files.items()})


def rendered(drawing: Drawing, content: Stamp) -> dict[str, bytes]:
    """The bytes of every file by suffix. Call inside `style.house()`."""
    title = f"collpress: {content['figure']} of {content['campaign']} on {content['platform']}"
    files = pictures(drawing.figure, content, title, drawing.caption)
    files["csv"] = drawing.table.csv().encode("utf-8")
    hashes = {suffix: hashlib.sha256(data).hexdigest() for suffix, data in files.items()}
    beside = {**content, "caption": drawing.caption, "files_sha256": hashes}
    files["json"] = (json.dumps(beside, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    return files


def _footer(figure: Figure, cube: xr.DataTree, content: Stamp) -> None:
    """One grey line at the foot: enough to find the data of a picture that lost its file name."""
    moment = str(origin(cube).get("last_record_utc") or "no record")[:10]
    ids = f"cube {content['cube']['sha256'][:12]} · figure {content['id'][:12]}"
    over = link(cube)
    shared = f", {over.medium}" if over and over.shared else ""
    foot(figure, f"{content['campaign']} on {content['platform']}{shared}", f" · data of {moment} · {ids}")
