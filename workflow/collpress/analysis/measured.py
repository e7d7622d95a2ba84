"""What of a cube a comparison looks at: every planned point with its launches, and what the cube says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from collpress.analysis.counting import counted
from collpress.analysis.flags import decoded, meanings

METRICS: Mapping[str, str] = {"latency_median": "latency_launch_median", "latency_p99": "latency_launch_p99"}
"""What can be compared, and the variable that holds its value of each launch. All are times: less is better."""
NOT_PLANNED = "not_planned"

Factors = dict[str, int | str]


@dataclass(frozen=True)
class Entry:
    """A planned point.

    id, key : hex digits; None where the cube does not tell. Equal ids: the same was asked for.
    launches : by name of METRICS, the value of each launch that counts (s); empty where the status is not ok.
    """

    experiment: str
    id: str | None
    key: str | None
    factors: Factors
    status: str
    reason: str
    launches: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Measured:
    """All points of a campaign on a platform.

    attrs : the root attributes of its cube: campaign, platform, id, launches, schema_version, provenance (JSON).
    sha256 : of the cube's file; empty where it never was one.
    """

    attrs: Mapping[str, Any]
    sha256: str
    entries: tuple[Entry, ...]


def measured(cube: xr.DataTree) -> Measured:
    """The points of every experiment, in the order of their factors' labels."""
    entries = (
        entry for name, group in cube.children.items() for entry in _entries(name, group.to_dataset(inherit=False))
    )
    attrs = {str(name): value for name, value in cube.attrs.items()}
    return Measured(attrs, str(cube.encoding.get("sha256", "")), tuple(entries))


def _entries(experiment: str, group: xr.Dataset) -> Iterator[Entry]:
    status, codes = group["status"], meanings(group["status"])
    dims = [str(dim) for dim in status.dims]
    words = decoded(status.values, codes)
    launches = {name: group[variable].transpose(*dims, "launch").values for name, variable in METRICS.items()}
    reasons, texts = group["reason"].transpose(*dims).values, group["reason_text"].values
    names = _names(group, dims)
    for index in np.argwhere(status.values != codes[NOT_PLANNED]):
        place = tuple(index)
        factors = {dim: _plain(group[dim].values[i]) for dim, i in zip(dims, index, strict=True)}
        word, reason = str(words[place]), int(reasons[place])
        times = {name: counted(values[place]) if word == "ok" else () for name, values in launches.items()}
        point, key = names[place] if names is not None else (None, None)
        yield Entry(experiment, point, key, factors, word, str(texts[reason]) if reason else "", times)


def _names(group: xr.Dataset, dims: list[str]) -> Any:
    """The id and the key of each cell; None for a cube of before points had names."""
    if "point" not in group:
        return None
    ids, keys = (group[name].values.astype(str) for name in ("point_id", "point_key"))
    named = np.empty(group["point"].shape, dtype=object)
    for place, index in np.ndenumerate(group["point"].transpose(*dims).values):
        named[place] = (str(ids[index]), None if keys[index] == "-" else str(keys[index]))
    return named


def _plain(value: Any) -> int | str:
    return str(value) if isinstance(value, np.str_ | str) else int(value)
