"""NetCDF: one variable of a file, its values as they are stored."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np

from collpress.data.readers.stored import Stored, of_array
from collpress.errors import CollpressError, did_you_mean

_PACKING = ("scale_factor", "add_offset")
_MISSING = ("_FillValue", "missing_value")


def read(path: Path, name: str) -> Stored:
    """One variable, with its dimensions; it may declare what stands for "no data" (CF conventions, 2.5.1: `_FillValue`,
    else `missing_value`).

    Errors
    ------
    CollpressError: not NetCDF or damaged; no such variable, with the nearest; no numbers; packed; two different
    values for no data.
    """
    try:
        with netCDF4.Dataset(path) as content:
            return _values(content, name, path)
    except (OSError, RuntimeError, ValueError) as error:
        text = getattr(error, "strerror", None) or error
        raise CollpressError(f"cannot read it as NetCDF: {text}", where=str(path)) from None


def _values(content: netCDF4.Dataset, name: str, path: Path) -> Stored:
    if name not in content.variables:
        known = sorted(content.variables)
        allowed, hint = ", ".join(known) or "the file has no variables", did_you_mean(name, known)
        raise CollpressError(f'no variable "{name}"', where=str(path), allowed=allowed, fix=hint)
    variable, where = content.variables[name], f"{path}: {name}"
    if getattr(variable.dtype, "kind", "") not in {"f", "i", "u"}:
        raise CollpressError(f"the values are {variable.dtype}", where=where, allowed="float32")
    attributes = set(variable.ncattrs())
    packed = [attribute for attribute in _PACKING if attribute in attributes]
    if packed:
        raise CollpressError(f"the values are packed ({', '.join(packed)})", where=where, allowed="unpacked float32")
    given = [variable.getncattr(attribute) for attribute in _MISSING if attribute in attributes]
    declared = [float(value) for value in np.ravel(given)]
    if len(set(map(str, declared))) > 1:
        said = " and ".join(map(str, declared))
        raise CollpressError(f"two values stand for no data: {said}", where=where, allowed="one")
    variable.set_auto_maskandscale(False)  # plain values, without a mask beside them
    return of_array(np.asarray(variable[...]), missing=declared[0] if declared else None)
