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
    """The cube in memory; `sha256` in its encoding says which bytes it was. CollpressError where there is none."""
    try:
        content = path.read_bytes()
        with tempfile.TemporaryDirectory(prefix="collpress-") as local:
            file = Path(local) / "cube.nc"  # the same bytes as were hashed, where HDF5 may take its locks
            file.write_bytes(content)
            with xr.open_datatree(file, engine="netcdf4") as lazy:
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
