"""Writing and opening `cube.nc`: atomic, the same bytes every time, no surprises when it is read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from collpress.errors import CollpressError

_WORTH_DEFLATING = 16_384
"""Elements; below it the chunk index costs more than deflation saves."""


def write_cube(cube: xr.DataTree, path: Path) -> None:
    """Write to a temporary file beside `path`, then rename: a reader never sees half a cube."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise CollpressError(f"the cube cannot be written: {error.strerror}", where=str(path)) from error
    os.close(handle)
    part = Path(name)
    try:
        cube.to_netcdf(part, engine="netcdf4", encoding=_encoding(cube), write_inherited_coords=True)
        part.chmod(0o644)
        Path(part).replace(path)
    except OSError as error:
        raise CollpressError(f"the cube cannot be written: {error}", where=str(path)) from error
    finally:
        part.unlink(missing_ok=True)


def open_cube(path: Path) -> xr.DataTree:
    """The cube in memory, the file closed again; attribute `sha256` of the root's encoding says which file it was."""
    try:
        content = path.read_bytes()
        # Any plain xarray.open_datatree opens it too; here it is loaded so that a redraw never holds the file.
        with xr.open_datatree(path, engine="netcdf4") as lazy:
            cube = lazy.load()
    except FileNotFoundError as error:
        raise CollpressError(
            "there is no cube", where=str(path), fix="collpress cube CAMPAIGN --platform PLATFORM"
        ) from error
    except (OSError, ValueError) as error:
        raise CollpressError(
            f"the cube cannot be read: {error}", where=str(path), fix="make it again: collpress cube"
        ) from error
    cube.encoding["sha256"] = hashlib.sha256(content).hexdigest()
    return cube


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
