"""How a dataset reaches the ranks: its slices or parts, its dtype, and what follows behind its end.

The core does it (`native/src/measure/data.hpp`); here is whether it can, what it is told, and what of it is identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collpress.plan.exchange import contributors, largest_contribution, total_contribution
from collpress.plan.offer import Dataset
from collpress.spec.factors import Value

SENT_AS = {"bfloat16": "float32"}
"""dtypes of files that ranks may send as another one, which holds every value of the first."""

_AMPLITUDE = {"float32": 2.0**-12, "bfloat16": 2.0**-6}
"""`wrap: perturb` changes a value by this part of it at most: some thousand float32 numbers, some bfloat16 numbers."""


def refusal(factors: Mapping[str, Value], dataset: Dataset) -> str | None:
    """Why a dataset cannot serve a point, or None."""
    name, dtype = dataset.id, str(factors["dtype"])
    widened = SENT_AS.get(dataset.dtype)
    if dtype not in (dataset.dtype, widened):
        told = dataset.dtype if widened is None else f"{dataset.dtype}, which is sent as it is or as {widened}"
        return f"the dataset {name} holds {told}, not {dtype}"
    sources = contributors(factors)
    if factors["wrap"] != "none" or not sources:
        return None
    advice = "data are never repeated, unless wrap says how"
    who = f"{factors['ranks']} ranks need" if len(sources) == factors["ranks"] else _those(sources)
    if dataset.parts is None:
        need = total_contribution(factors)
        if need > dataset.elements:
            return f"{name} has {dataset.elements} elements; {who} {need} ({advice})"
        return None
    if sources[-1] >= dataset.parts:
        there = f"there are {factors['ranks']} ranks" if len(sources) > 1 else f"rank {sources[-1]} sends"
        return f"{name} has {dataset.parts} parts, one for each rank; {there} ({advice})"
    part, count = dataset.elements // dataset.parts, largest_contribution(factors)
    if count > part:
        return f"a part of {name} has {part} elements; a rank sends {count} ({advice})"
    return None


def _those(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]} needs" if len(ranks) == 1 else f"ranks {' and '.join(map(str, ranks))} need"


def entries(factors: Mapping[str, Value], dataset: Dataset) -> dict[str, str]:
    """The plan line's entries about data; those that say what is usual are absent."""
    line = {"data": "file", "data_path": dataset.path, "data_elements": str(dataset.elements)}
    line["data_unique_bytes"] = str(dataset.unique_bytes)
    if dataset.dtype != factors["dtype"]:
        line["data_dtype"] = dataset.dtype
    if dataset.parts is not None:
        line["data_parts"] = str(dataset.parts)
    line |= {name: str(length) for name, length in (("row", dataset.row), ("plane", dataset.plane)) if length}
    if factors["wrap"] != "none":
        line["wrap"] = str(factors["wrap"])
    if factors["wrap"] == "perturb":
        line |= {"wrap_seed": str(_seed(dataset)), "wrap_amplitude": repr(_AMPLITUDE[dataset.dtype])}
    return line


def identity(factors: Mapping[str, Value], dataset: Dataset) -> dict[str, Any]:
    """What of the serving enters a point's key beside the values' checksum; nothing where it is the usual."""
    extra: dict[str, Any] = {}
    if dataset.dtype != factors["dtype"] or dataset.parts is not None:
        extra["served"] = [dataset.dtype, dataset.parts]
    if dataset.row:
        extra["row_and_plane"] = [dataset.row, dataset.plane]
    if factors["wrap"] == "perturb":
        extra["wrap_amplitude"] = _AMPLITUDE[dataset.dtype]
    return extra


def _seed(dataset: Dataset) -> int:
    """Of the perturbation: a function of the values, so that it is the same wherever they are sent."""
    return int(dataset.sha256[:16], 16)
