"""How a dataset reaches the ranks: its slices or parts, its dtype, and what follows behind its end.

The core does it (`native/src/measure/data.hpp`); here is whether it can, what it is told, and what of it is identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collpress.plan.offer import Dataset
from collpress.spec.factors import DTYPES, Value

SENT_AS = {"bfloat16": "float32"}
"""dtypes of files that ranks send as another one, which holds every value of the first."""

_AMPLITUDE = {"float32": 2.0**-12, "bfloat16": 2.0**-6}
"""`wrap: perturb` changes a value by this part of it at most: some thousand float32 numbers, some bfloat16 numbers."""


def refusal(factors: Mapping[str, Value], dataset: Dataset) -> str | None:
    """Why a dataset cannot serve a point, or None."""
    name, dtype, ranks = dataset.id, str(factors["dtype"]), int(factors["ranks"])
    sent = SENT_AS.get(dataset.dtype, dataset.dtype)
    if sent != dtype:
        told = dataset.dtype if sent == dataset.dtype else f"{dataset.dtype}, which is sent as {sent}"
        return f"the dataset {name} holds {told}, not {dtype}"
    if factors["wrap"] != "none":
        return None
    count, advice = int(factors["message_bytes"]) // DTYPES[dtype], "data are never repeated, unless wrap says how"
    if dataset.parts is None:
        need = count * ranks
        if need > dataset.elements:
            return f"{name} has {dataset.elements} elements; {ranks} ranks need {need} ({advice})"
        return None
    if ranks > dataset.parts:
        return f"{name} has {dataset.parts} parts, one for each rank; there are {ranks} ranks ({advice})"
    part = dataset.elements // dataset.parts
    if count > part:
        return f"a part of {name} has {part} elements; a message needs {count} ({advice})"
    return None


def entries(factors: Mapping[str, Value], dataset: Dataset) -> dict[str, str]:
    """The plan line's entries about data; those that say what is usual are absent."""
    line = {"data": "file", "data_path": dataset.path, "data_elements": str(dataset.elements)}
    line["data_unique_bytes"] = str(dataset.unique_bytes)
    if dataset.dtype in SENT_AS:
        line["data_dtype"] = dataset.dtype
    if dataset.parts is not None:
        line["data_parts"] = str(dataset.parts)
    if factors["wrap"] != "none":
        line["wrap"] = str(factors["wrap"])
    if factors["wrap"] == "perturb":
        line |= {"wrap_seed": str(_seed(dataset)), "wrap_amplitude": repr(_AMPLITUDE[dataset.dtype])}
    return line


def identity(factors: Mapping[str, Value], dataset: Dataset) -> dict[str, Any]:
    """What of the serving enters a point's key beside the values' checksum; nothing where it is the usual."""
    extra: dict[str, Any] = {}
    if dataset.dtype in SENT_AS or dataset.parts is not None:
        extra["served"] = [dataset.dtype, dataset.parts]
    if factors["wrap"] == "perturb":
        extra["wrap_amplitude"] = _AMPLITUDE[dataset.dtype]
    return extra


def _seed(dataset: Dataset) -> int:
    """Of the perturbation: a function of the values, so that it is the same wherever they are sent."""
    return int(dataset.sha256[:16], 16)
