"""Writing and opening `cube.nc`: atomic, the same bytes every time, no surprises when it is read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from collpress.cube.soundness import check
from collpress.errors import CollpressError

_WORTH_DEFLATING = 16_384
"""Elements; below it the chunk index costs more than deflation saves."""
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError, OverflowError)
"""What the layers below raise for a file that is damaged, or one of somebody else."""


def write_cube(cube: xr.DataTree, path: Path) -> None:
    """Write aside, then rename: a reader never sees half a cube. CollpressError where that cannot be done.

    HDF5 works on a file of the local temporary directory, because network file systems refuse the locks that it takes.
    """
    part: Path | None = None
    try:
        with tempfile.TemporaryDirectory(prefix="collpress-") as local:
            file = Path(local) / "cube.nc"
            cube.to_netcdf(file, engine="netcdf4", encoding=_encoding(cube), write_inherited_coords=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
            os.close(handle)
            part = Path(name)
            part.write_bytes(file.read_bytes())
        part.chmod(0o644)
        Path(part).replace(path)
    except OSError as error:
        raise CollpressError(f"the cube cannot be written: {error}", where=str(path)) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def open_cube(path: Path) -> xr.DataTree:
    """The sound cube in memory; `sha256` in its encoding says which bytes it was.

    Raises
    ------
    CollpressError : there is none, it cannot be read, it is damaged or of another schema; or no room for its copy.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise CollpressError(
            "there is no cube", where=str(path), fix="collpress cube CAMPAIGN --platform PLATFORM"
        ) from error
    except OSError as error:
        raise CollpressError(f"the cube cannot be read: {error.strerror}", where=str(path)) from error
    cube = _loaded(content, path)
    check(cube, path)
    cube.encoding["sha256"] = hashlib.sha256(content).hexdigest()
    return cube


def _loaded(content: bytes, path: Path) -> xr.DataTree:
    """The content of `path`, read from a copy: the same bytes as were hashed, where HDF5 may take its locks."""
    with ExitStack() as kept:
        try:
            file = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="collpress-"))) / "cube.nc"
            file.write_bytes(content)
        except OSError as error:
            raise CollpressError(
                f"no copy of the cube can be made in the temporary directory: {error.strerror or error}",
                where=str(path),
                fix=f"free {len(content)} bytes there, or name another directory in TMPDIR",
            ) from error
        try:
            with xr.open_datatree(file, engine="netcdf4") as lazy:
                return lazy.load()
        except _UNREADABLE as error:
            said = " ".join(str(error).replace(str(file), str(path)).split())
            raise CollpressError(
                f"the cube cannot be read: {said}",
                where=str(path),
                fix="make it again: collpress cube CAMPAIGN --platform PLATFORM",
            ) from error


def _encoding(cube: xr.DataTree) -> dict[str, dict[str, Any]]:
    """Floats: NaN as fill; integers and texts: none, so that no reader makes floats of them."""
    out: dict[str, dict[str, Any]] = {}
    for node in cube.subtree:
        variables = node.to_dataset().variables
        out[node.path] = {str(name): _encoding_of(variable) for name, variable in variables.items()}
    return out


def _encoding_of(variable: xr.Variable) -> dict[str, Any]:
    if variable.dtype.kind not in "fiu":
        return {}
    encoding: dict[str, Any] = {"_FillValue": np.nan if variable.dtype.kind == "f" else None}
    return encoding | ({"zlib": True, "complevel": 1, "shuffle": True} if variable.size > _WORTH_DEFLATING else {})
