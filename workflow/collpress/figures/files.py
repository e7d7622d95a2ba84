"""From a cube to the files of a figure: in the house style, stamped, replaced together, the same bytes each time."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from collpress.cube.file import open_cube
from collpress.errors import CollpressError
from collpress.figures import style
from collpress.figures.captions import origin
from collpress.figures.drawing import Drawing
from collpress.figures.registry import figure_sources, load
from collpress.figures.stamp import Stamp, metadata, stamp
from collpress.layout import ROOT

PICTURES = ("pdf", "svg", "png")
_MOST_PIXELS = 30_000
_FOOT = 5
"""Points."""


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
    return _replace(folder, {f"{name}.{suffix}": data for suffix, data in files.items()})


def rendered(drawing: Drawing, content: Stamp) -> dict[str, bytes]:
    """The bytes of every file by suffix. Call inside `style.house()`."""
    files = {suffix: _picture(drawing.figure, suffix, content, drawing.caption) for suffix in PICTURES}
    files["csv"] = drawing.table.csv().encode("utf-8")
    hashes = {suffix: hashlib.sha256(data).hexdigest() for suffix, data in files.items()}
    beside = {**content, "caption": drawing.caption, "files_sha256": hashes}
    files["json"] = (json.dumps(beside, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    return files


def _picture(figure: Figure, suffix: str, content: Stamp, caption: str) -> bytes:
    out = io.BytesIO()
    dpi = min(200.0, _MOST_PIXELS / max(figure.get_size_inches()))
    figure.savefig(out, format=suffix, dpi=dpi, metadata=metadata(suffix, content, caption))
    return out.getvalue()


def _footer(figure: Figure, cube: xr.DataTree, content: Stamp) -> None:
    """One grey line at the foot: enough to find the data of a picture that lost its file name."""
    moment = str(origin(cube).get("last_record_utc") or "no record")[:10]
    ids = f"cube {content['cube']['sha256'][:12]} · figure {content['id'][:12]}"
    width, height = (float(v) for v in figure.get_size_inches())
    end = f" · data of {moment} · {ids}"
    room = width - 0.16 - style.length_of(end, _FOOT)
    text = style.shortened(f"{content['campaign']} on {content['platform']}", _FOOT, room) + end
    figure.text(1 - 0.08 / width, 0.06 / height, text, ha="right", va="bottom", fontsize=_FOOT, color=style.FAINT)


def _replace(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Write all files aside, then rename them one by one: a full disk leaves the old figure whole."""
    parts: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            handle, part = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
            parts.append((Path(part), folder / name))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        for part_path, path in parts:
            part_path.chmod(0o644)
            Path(part_path).replace(path)
    except OSError as error:
        raise CollpressError(f"the figure cannot be written: {error.strerror}", where=str(folder)) from error
    finally:
        for part_path, _ in parts:
            part_path.unlink(missing_ok=True)
    return [path for _, path in parts]
