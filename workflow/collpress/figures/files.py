"""From a cube to the files of a figure: in the house style, stamped, replaced together, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from collpress.cube.file import open_cube
from collpress.figures import style
from collpress.figures.captions import origin
from collpress.figures.drawing import Drawing
from collpress.figures.pictures import Stamp, foot, pictures, replace
from collpress.figures.registry import figure_sources, load
from collpress.figures.stamp import stamp
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
    foot(figure, f"{content['campaign']} on {content['platform']}", f" · data of {moment} · {ids}")
