"""The planned cells of an experiment's Dataset as plain rows, for figures and CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from collpress.analysis.flags import decoded, meanings

Row = dict[str, Any]


def rows(dataset: xr.Dataset, variables: Sequence[str] = ()) -> list[Row]:
    """One mapping per planned cell: the factors, `status` and `reason` as text, and `variables` as numbers or words.

    A variable with flag meanings becomes its word, a float that is not finite becomes None.
    Order: C order of the dimensions.
    Variables with dimensions that `status` does not have (launch, phase) are refused with ValueError.
    """
    status = dataset["status"]
    planned = np.argwhere(status.values != meanings(status)["not_planned"])
    columns = {name: _column(dataset[name], status.dims) for name in ("status", *variables)}
    labels = {str(dim): dataset[dim].values for dim in status.dims}
    texts = dataset["reason_text"].values
    out: list[Row] = []
    for index in planned:
        row: Row = {dim: _plain(values[i]) for (dim, values), i in zip(labels.items(), index, strict=True)}
        place = tuple(index)
        row |= {name: _plain(column[place]) for name, column in columns.items()}
        reason = int(dataset["reason"].values[place])
        row["reason"] = str(texts[reason]) if reason else ""
        out.append(row)
    return out


def _column(variable: xr.DataArray, dims: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    if set(variable.dims) != set(dims):
        raise ValueError(f"{variable.name} has dimensions {variable.dims}, not one value per point")
    values = variable.transpose(*dims).values
    return decoded(values, meanings(variable)) if "flag_meanings" in variable.attrs else np.asarray(values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.str_ | str):
        return str(value)
    if isinstance(value, np.floating | float):
        return float(value) if np.isfinite(value) else None
    return int(value)
