"""SYNTHETIC fixture: fabricates the fidelity of messages and results in a cube, shaped as docs/contracts.md has it.

Errors come from simple laws (uniform for quantisers, peaked for transforms); no number in it was measured. A cube that
has such variables already gets these instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log10
from typing import Any

import numpy as np
import xarray as xr

from collpress.analysis.table import rows
from collpress.cube.flags import STATUS

HISTOGRAM = ("below", *(f"b{i:02d}" for i in range(40)), "above")
MAX_ERROR = ("absolute", "relative")
OWN_BOUND = {"none": 0.0, "int8": 8e-3, "bf16": 3.9e-3}
OUTSIDE = 3
"""Values of the int8 results that are fabricated to lie outside the bound, on each side."""


def with_fidelity(cube: xr.DataTree) -> xr.DataTree:
    """The cube with `message_*` and `result_*` variables in each group; the points that are not ok have NaN."""
    groups = {path: node.to_dataset() for path, node in cube.children.items()}
    return xr.DataTree.from_dict(
        {"/": cube.to_dataset(), **{f"/{name}": _filled(dataset) for name, dataset in groups.items()}}
    )


def _filled(dataset: xr.Dataset) -> xr.Dataset:
    out = dataset.assign_coords(error_histogram_value=list(HISTOGRAM), max_error_value=list(MAX_ERROR))
    shape, dims = dataset["status"].shape, list(dataset["status"].dims)
    wanted: Mapping[str, tuple[tuple[int, ...], list[Any], Callable[[dict[str, Any]], Any]]] = {
        "message_psnr": ((), [], _psnr),
        "message_max_error": ((2,), ["max_error_value"], lambda p: [_largest(p), _largest(p)]),
        "result_bound": ((), [], lambda p: p["ranks"] * _bound(p) + 1e-6),
        "result_max_error": ((2,), ["max_error_value"], lambda p: [p["ranks"] * _largest(p) + 1e-7, 0.1]),
        "result_error_histogram": ((42,), ["error_histogram_value"], _counts),
    }
    planned = rows(dataset)
    cells = np.argwhere(dataset["status"].values != STATUS["not_planned"])
    for name, (more, more_dims, make) in wanted.items():
        values = np.full(shape + more, np.nan)
        for place, point in zip(cells, planned, strict=True):
            if point["status"] == "ok" and point["dataset"] != "pattern":
                compresses = str(point["algorithm"]).startswith("compressed:")
                if compresses or name.startswith("result"):
                    values[tuple(place)] = make(point)
        out[name] = xr.DataArray(values, dims=dims + more_dims, attrs={"long_name": name, "units": "1"})
    return out


def _bound(point: Mapping[str, Any]) -> float:
    text = str(point["error_bound"])
    return OWN_BOUND.get(str(point["codec"]), 0.0) if text == "none" else float(text.split()[1])


def _largest(point: Mapping[str, Any]) -> float:
    return {"zfp": 0.3, "ours": 0.99, "deltapack": 0.99}.get(str(point["codec"]), 0.9) * _bound(point)


def _psnr(point: Mapping[str, Any]) -> float:
    """20 log10(range / root mean square error) with a range of 1; NaN where the error is zero."""
    largest = _largest(point)
    return round(20 * log10(1.7 / largest), 4) if largest else float("nan")


def _counts(point: Mapping[str, Any]) -> list[float]:
    """How many of the message's values fall into each bin."""
    total = int(point["message_bytes"]) // 4
    codec = str(point["codec"])
    sharp = {"zfp": 9.0, "none": 4.0, "int8": 1.5, "bf16": 2.5}.get(codec, 0.6)
    middles = [(i - 19.5) / 20 for i in range(40)]
    if codec == "zfp":
        weights = [1 / (1 + (sharp * x) ** 4) ** 2 if abs(x) < 0.6 else 0.0 for x in middles]
    else:
        weights = [max(1 - abs(x), 0.0) * 2 / (1 + (sharp * x) ** 2) for x in middles]
    counts = [int(total * w / sum(weights)) for w in weights]
    outside = OUTSIDE if codec == "int8" else 0
    counts[20] += total - sum(counts) - 2 * outside
    return [float(c) for c in (outside, *counts, outside)]
