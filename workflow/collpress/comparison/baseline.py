"""Baselines: what a comparison needs of a cube, kept as a small JSON file (docs/contracts.md, "Baseline")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from collpress.analysis.circumstances import provenance
from collpress.analysis.measured import METRICS, Entry, Measured
from collpress.errors import CollpressError
from collpress.files import write_json
from collpress.layout import baseline_file

SCHEMA = 1

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Readable(_Strict):
    """Of what a cube says of its origin, the parts that a comparison reads; whatever else there is, is kept."""

    model_config = ConfigDict(extra="allow")


class _World(_Readable):
    hosts: list[str] | None = None
    mpi_libraries: list[str] | None = None


class _Load(_Readable):
    load_average: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None
    cpus: int | None = None


class _Provenance(_Readable):
    datasets: dict[str, str] | None = None
    measure: dict[str, list[Any]] | None = None
    hardware: dict[str, Any] | None = None
    world: _World | None = None
    load: _Load | None = None
    last_record_utc: str | None = None


class _Point(_Strict):
    experiment: str
    id: str | None
    key: str | None
    factors: dict[str, int | str]
    status: str
    reason: str
    launches: dict[str, list[Seconds]]


class _Baseline(_Strict):
    schema_: Literal[1] = Field(alias="schema")
    name: str
    campaign: str
    platform: str
    id: str
    cube_sha256: str
    cube_schema: int
    launches: int
    provenance: _Provenance
    points: list[_Point]


def save(name: str, source: Measured, where: str, *, force: bool = False) -> Path:
    """Keep `source`, which `where` names, as the baseline `name`; returns its file.

    Raises
    ------
    CollpressError : the name is none, is taken (unless `force`), no point of `source` is ok, or it cannot be written.
    """
    path = baseline_file(name)
    if path.exists() and not force:
        raise CollpressError(
            "there is a baseline of this name already", where=str(path), fix="choose another name, or add --force"
        )
    if not any(entry.status == "ok" for entry in source.entries):
        raise CollpressError("no point is ok: nothing could be compared with this baseline", where=where)
    write_json(path, _document(name, source))
    return path


def load(path: Path) -> Measured:
    """The baseline in a file; CollpressError where there is none, or it is damaged or of another schema."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CollpressError("there is no baseline", where=str(path), fix="collpress baseline list") from None
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CollpressError(f"the baseline cannot be read: {said}", where=str(path)) from None
    try:
        content = _Baseline.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CollpressError(
            f"this is no baseline: {first['msg']}",
            where=f"{path}: {place}" if place else str(path),
            fix="save it again: collpress baseline save NAME A --force",
        ) from None
    return _measured(content)


def _document(name: str, source: Measured) -> dict[str, Any]:
    attrs = source.attrs
    return {
        "schema": SCHEMA,
        "name": name,
        **{key: str(attrs.get(key, "")) for key in ("campaign", "platform", "id")},
        "cube_sha256": source.sha256,
        "cube_schema": int(attrs.get("schema_version", 0)),
        "launches": int(attrs.get("launches", 0)),
        "provenance": dict(provenance(source)),
        "points": [_point(entry) for entry in source.entries],
    }


def _point(entry: Entry) -> dict[str, Any]:
    return {
        "experiment": entry.experiment,
        "id": entry.id,
        "key": entry.key,
        "factors": entry.factors,
        "status": entry.status,
        "reason": entry.reason,
        "launches": {name: list(entry.launches[name]) for name in METRICS},
    }


def _measured(content: _Baseline) -> Measured:
    attrs: Mapping[str, Any] = {
        "campaign": content.campaign,
        "platform": content.platform,
        "id": content.id,
        "schema_version": content.cube_schema,
        "launches": content.launches,
        "provenance": json.dumps(content.provenance.model_dump(exclude_unset=True)),
    }
    entries = (
        Entry(
            point.experiment,
            point.id,
            point.key,
            point.factors,
            point.status,
            point.reason,
            {name: tuple(point.launches.get(name, ())) if point.status == "ok" else () for name in METRICS},
        )
        for point in content.points
    )
    return Measured(attrs, content.cube_sha256, tuple(entries))
