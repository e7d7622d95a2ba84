"""Reading coded variables: CF's flag_values and flag_meanings, as the file itself states them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr


def meanings(variable: xr.DataArray) -> dict[str, int]:
    """The codes of a flag variable by meaning; KeyError for a variable without flags."""
    values = np.atleast_1d(variable.attrs["flag_values"])
    return dict(zip(str(variable.attrs["flag_meanings"]).split(), (int(v) for v in values), strict=True))


def words(variable: xr.DataArray) -> xr.DataArray:
    """A flag variable as text: each code becomes its meaning."""
    return variable.copy(data=decoded(variable.values, meanings(variable))).drop_attrs()


def decoded(codes: npt.NDArray[Any], known: dict[str, int]) -> npt.NDArray[np.str_]:
    """Codes as words; ValueError for a code without a meaning."""
    unknown = set(np.unique(codes).tolist()) - set(known.values())
    if unknown:
        raise ValueError(f"codes without a meaning: {sorted(unknown)}")
    table = np.full(max(known.values()) + 1, "", dtype=f"<U{max(map(len, known))}")
    table[list(known.values())] = list(known)
    return np.asarray(table[codes])
