"""Whether an opened file is a sound cube of this schema: everything that its readers rely on, told in words if not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from pydantic import BaseModel, ConfigDict, ValidationError

from collpress.cube.axes import FACTORS
from collpress.cube.flags import STATUS
from collpress.cube.quantities import CELL, LAUNCH, PHASES
from collpress.cube.tree import SCHEMA_VERSION
from collpress.errors import CollpressError

_NAMES, _COUNTS = ("experiments", "campaign", "platform", "id"), ("launches", "planned_points", "ok_points")
_FLAGS = ("status", "noisy", "effective_algorithm", "known_by")
_TEXTS = {"point_id": "point_index", "point_key": "point_index", "reason_text": "reason_index"}
_INTEGERS = ("point", "reason", "n_ok", "n_iterations", "n_noisy", *_FLAGS)
_SUMMARIES = ("latency_median", "latency_ci_low", "latency_ci_high", "algbw", "busbw", "compression_ratio")
_FLOATS = (*CELL, *_SUMMARIES)
_FIDELITY = ("message_", "result_")
_FEEDBACK = ("feedback_max_abs_error", "feedback_nrmse", "feedback_bias")
_INTEGER_AXES = frozenset({"message_bytes", "ranks", "nodes", "launch", "round"})


class _Loose(BaseModel):
    """Parts that nobody uses may be anything."""

    model_config = ConfigDict(extra="allow", strict=True)


class _World(_Loose):
    hosts: list[str] | None = None
    mpi_libraries: list[str] = []


class _Software(_Loose):
    packages: dict[str, str] | None = None


class _Provenance(_Loose):
    """What captions, stamps and comparisons read of a cube's provenance."""

    world: _World | None = None
    hardware: dict[str, Any] | None = None
    software: _Software | None = None
    git: dict[str, Any] | None = None
    datasets: dict[str, str] | None = None
    measure: dict[str, list[str]] | None = None
    links: list[dict[str, Any]] | None = None
    last_record_utc: str | None = None


class UnsoundError(Exception):
    """What is wrong, in words."""


def check(cube: xr.DataTree, path: Path) -> None:
    """Return where every reader can use the cube.

    Raises
    ------
    CollpressError : what is missing or wrong first, in the file at `path`, and the command that makes the cube again.
    """
    try:
        _check_root(cube)
        for name, child in cube.children.items():
            try:
                _check_group(name, child.to_dataset(), int(cube.attrs["launches"]))
            except UnsoundError as problem:
                raise UnsoundError(f"the cube is damaged: experiment {name}: {problem}") from None
    except UnsoundError as problem:
        names = [cube.attrs.get(noun) for noun in ("campaign", "platform")]
        campaign, platform = (n if isinstance(n, str) and n else w for n, w in zip(names, ("C", "P"), strict=True))
        fix = f"make it again: collpress cube {campaign} --platform {platform}"
        raise CollpressError(str(problem), where=str(path), fix=fix) from None


def _check_root(cube: xr.DataTree) -> None:
    if "schema_version" not in cube.attrs:
        raise UnsoundError("this is no cube of collpress: it has no attribute schema_version")
    version = cube.attrs["schema_version"]
    if not _is_integer(version) or int(version) != SCHEMA_VERSION:
        raise UnsoundError(f"this cube has the schema {version}; this collpress reads {SCHEMA_VERSION}")
    damaged = "the cube is damaged: "
    for name in _NAMES:
        if not isinstance(cube.attrs.get(name), str) or not cube.attrs[name].strip():
            raise UnsoundError(f"{damaged}its attribute {name} is missing or no text")
    for name in _COUNTS:
        value = cube.attrs.get(name)
        if not isinstance(value, int | np.integer) or int(value) < (1 if name == "launches" else 0):
            raise UnsoundError(f"{damaged}its attribute {name} is missing or no count")
    told, there = str(cube.attrs["experiments"]).split(" "), set(cube.children)
    if set(told) != there or len(set(told)) != len(told):
        has = ", ".join(sorted(map(str, there))) or "none"
        raise UnsoundError(f'{damaged}it names the experiments "{" ".join(told)}" and has the groups {has}')
    _check_provenance(cube.attrs.get("provenance"), damaged)


def _check_provenance(text: Any, damaged: str) -> None:
    try:
        said = json.loads(text, parse_constant=_refuse)
        _Provenance.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise UnsoundError(f"{damaged}its provenance: {place}: {first['msg']}") from None
    except (TypeError, ValueError, RecursionError):
        raise UnsoundError(f"{damaged}its attribute provenance is missing or no JSON") from None


def _check_group(name: str, group: xr.Dataset, launches: int) -> None:
    if group.attrs.get("experiment") != name:
        raise UnsoundError("the attribute experiment is not its name")
    dims = {str(dim) for dim in _variable(group, "status").dims}
    if absent := [factor for factor in FACTORS if factor not in dims]:
        raise UnsoundError(f"status has no dimension {absent[0]}")
    for dim in (*sorted(dims), "launch", "phase"):
        _check_axis(group, dim)
    if group.sizes["launch"] != launches:
        raise UnsoundError(f"it has {group.sizes['launch']} launches, the cube {launches}")
    if absent := sorted(set(PHASES) - set(group["phase"].values.tolist())):
        raise UnsoundError(f"it has no phase {absent[0]}")
    for variable in _INTEGERS:
        _shaped(group, variable, dims, "iu")
    for variable in _FLOATS:
        _shaped(group, variable, dims, "f")
    _shaped(group, "launch_status", dims | {"launch"}, "iu")
    for variable in LAUNCH:
        _shaped(group, variable, dims | {"launch"}, "f")
    _shaped(group, "phase_time", dims | {"phase"}, "f")
    for variable, dim in _TEXTS.items():
        _shaped(group, variable, {dim}, "UOT")
    for variable in (*_FLAGS, "launch_status"):
        _check_flags(group[variable], "status" in variable)
    _check_index(group, "reason", "reason_text")
    _check_index(group, "point", "point_id", lowest=-1)
    if (group["point"].values[group["status"].values != _code(group["status"], "not_planned")] < 0).any():
        raise UnsoundError("a planned cell names no point")
    _check_fidelity(group, dims)
    if any(variable in group for variable in _FEEDBACK):
        _check_axis(group, "round")
        for variable in _FEEDBACK:
            _shaped(group, variable, dims | {"round"}, "f")
    if "tagged_phase_time" in group:
        _check_axis(group, "tagged_phase")
        _shaped(group, "tagged_phase_time", dims | {"tagged_phase", "phase"}, "f")


def _check_fidelity(group: xr.Dataset, dims: set[str]) -> None:
    """Variables that only a cube with fidelity has."""
    for variable in map(str, group.data_vars):
        if variable.startswith(_FIDELITY):
            own = {str(dim) for dim in group[variable].dims} - dims
            if len(own) > 1:
                raise UnsoundError(f"the variable {variable} has the dimensions {', '.join(sorted(own))}")
            _shaped(group, variable, dims | own, "f")
            for dim in own:
                _check_axis(group, dim)
    if "fidelity_problem" in group:
        _shaped(group, "fidelity_problem", dims, "iu")
        _shaped(group, "fidelity_problem_text", {"fidelity_problem_index"}, "UOT")
        _check_index(group, "fidelity_problem", "fidelity_problem_text")


def _check_axis(group: xr.Dataset, dim: str) -> None:
    labels = _variable(group, dim)
    if labels.dims != (dim,):
        raise UnsoundError(f"the coordinate {dim} has the dimensions {', '.join(map(str, labels.dims)) or 'none'}")
    values = labels.values.tolist()
    if not values or len(set(values)) != len(values):
        raise UnsoundError(f"the coordinate {dim} has no labels, or one of them twice")
    integers, texts = (all(isinstance(value, kind) for value in values) for kind in (int, str))
    if not (
        integers if dim in _INTEGER_AXES else texts if dim in (*FACTORS, "phase", "tagged_phase") else integers or texts
    ):
        raise UnsoundError(f"the coordinate {dim} has labels of a wrong type")


def _check_flags(variable: xr.DataArray, is_status: bool) -> None:
    said, values = variable.attrs.get("flag_meanings"), np.atleast_1d(variable.attrs.get("flag_values", []))
    if not isinstance(said, str) or values.dtype.kind not in "iu":
        raise UnsoundError(f"the variable {variable.name} lacks flag_values or flag_meanings")
    words, codes = said.split(), values.tolist()
    if not words or len(words) != len(codes) or len(set(codes)) != len(codes) or min(codes) < 0:
        raise UnsoundError(f"the variable {variable.name} has flag_values that do not fit its flag_meanings")
    if is_status and any(STATUS.get(word) != code for word, code in zip(words, codes, strict=True)):
        raise UnsoundError(f"the variable {variable.name} has a meaning that no status has, or another code for it")
    if is_status and "not_planned" not in words:
        raise UnsoundError(f"the variable {variable.name} has no code for not_planned")
    if unknown := sorted(set(np.unique(variable.values).tolist()) - set(codes)):
        raise UnsoundError(f"the variable {variable.name} holds {unknown[0]}, a code without a meaning")


def _code(variable: xr.DataArray, word: str) -> int:
    position = str(variable.attrs["flag_meanings"]).split().index(word)
    return int(np.atleast_1d(variable.attrs["flag_values"])[position])


def _check_index(group: xr.Dataset, index: str, text: str, lowest: int = 0) -> None:
    values, size = group[index].values, group[text].size
    if values.size and not lowest <= int(values.min()) <= int(values.max()) < size:
        raise UnsoundError(f"the variable {index} points outside of {text}, which has {size} entries")


def _shaped(group: xr.Dataset, name: str, dims: Iterable[str], kinds: str) -> None:
    variable = _variable(group, name)
    if set(variable.dims) != set(dims):
        raise UnsoundError(f"the variable {name} has the dimensions {', '.join(map(str, variable.dims)) or 'none'}")
    texts = variable.dtype.kind != "O" or all(isinstance(value, str) for value in variable.values.ravel())
    if variable.dtype.kind not in kinds or not texts:
        raise UnsoundError(f"the variable {name} has the type {variable.dtype}")


def _variable(group: xr.Dataset, name: str) -> xr.DataArray:
    if name not in group.variables:
        raise UnsoundError(f"the variable {name} is missing")
    return group[name]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _refuse(constant: str) -> float:
    raise ValueError(constant)
