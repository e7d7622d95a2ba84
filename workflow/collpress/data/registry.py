"""The registry of datasets, `config/datasets.yaml`: what each is, where it is from, the sha256 of what must come
out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from collpress.data.sidecar import ITEM_BYTES
from collpress.data.sources import CaptureSource, GeneratorSource, PypiSource, Sha256, Size, UrlSource, WheelMember
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.document import Document, read_document
from collpress.spec.mistakes import explain
from collpress.spec.model import Strict

_ID = re.compile("[a-z0-9_-]+/[a-z0-9_-]+")


class Entry(Strict):
    """One dataset: from a package (`pypi`), from a web server (`url`), or made here (`generator`, `capture`).

    `missing` says what happens to values that stand for "no data" and to NaN and infinite ones: `refuse` (an error) or
    `keep` (left as they are and counted in the sidecar; minimum and maximum leave them out).
    """

    _id: str = PrivateAttr("")
    title: str = Field(min_length=1)
    note: str | None = None
    """What one must know of the values before using them."""
    pypi: PypiSource | None = None
    url: UrlSource | None = None
    generator: GeneratorSource | None = None
    capture: CaptureSource | None = None
    dtype: Literal["float32", "bfloat16"]
    """Of the prepared values. bfloat16 values take 2 bytes; ranks send them as float32, which holds them exactly."""
    native_dtype: str = "float32"
    """What the values were before anybody converted them."""
    shape: Annotated[tuple[Size, ...], Field(min_length=1)]
    ranks: Literal["slices", "parts"] = "slices"
    """What a rank sends: its slice of the whole field, or its own part of it (a time step, a capture): the slowest axis
    counts them."""
    units: str
    missing: Literal["refuse", "keep"] = "refuse"
    sha256: Sha256 | None = None
    """Of the prepared values; a capture has none, as its last digits depend on the processor: it has a fingerprint."""
    licence: str = Field(min_length=1)
    citation: str = Field(min_length=1)
    acknowledgement: str | None = None
    """What its owners ask to be said where results are published."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(source is not None for source in (self.pypi, self.url, self.generator, self.capture)) != 1:
            raise ValueError("give one of pypi, url, generator and capture")
        if (self.sha256 is None) != (self.capture is not None):
            raise ValueError('"sha256" is missing' if self.sha256 is None else "a capture has no sha256")
        if self.url is not None and self.url.raw is not None and self.url.bytes != self.bytes:
            raise ValueError(f"a raw file of this shape has {self.bytes} bytes, the source says {self.url.bytes}")
        return self

    @property
    def id(self) -> str:
        """`group/name`: the entry's key in the registry."""
        return self._id

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one prepared value."""
        return ITEM_BYTES[self.dtype]

    @property
    def bytes(self) -> int:
        """Of the prepared values."""
        return self.itemsize * self.elements

    @property
    def parts(self) -> int | None:
        """How many ranks have a part of their own; None where ranks send slices."""
        return self.shape[0] if self.ranks == "parts" else None

    @property
    def synthetic(self) -> bool:
        return self.generator is not None

    @property
    def fetched(self) -> WheelMember | UrlSource | None:
        """The file that comes from outside; None when the dataset is made here."""
        return self.pypi or self.url or (self.capture.model if self.capture is not None else None)

    @property
    def source(self) -> dict[str, Any]:
        """The source and its `kind`, as plain data."""
        kinds = {"pypi": self.pypi, "url": self.url, "generator": self.generator, "capture": self.capture}
        ((kind, source),) = ((kind, source) for kind, source in kinds.items() if source is not None)
        return {"kind": kind, **source.model_dump(mode="json", exclude_none=True)}


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
    _refuse_two_files_of_one_name(datasets, document)
    return datasets


def _refuse_two_files_of_one_name(datasets: Mapping[str, Entry], document: Document) -> None:
    """The cache holds files by name: two that differ would push each other out."""
    holders: dict[str, tuple[str, str]] = {}
    for dataset, entry in datasets.items():
        if entry.fetched is None:
            continue
        name, sha256 = entry.fetched.file, entry.fetched.sha256
        first, other = holders.setdefault(name, (dataset, sha256))
        if other != sha256:
            place = ("capture", "model") if entry.capture else ("pypi",) if entry.pypi else ("url",)
            where = document.where("datasets", dataset, *place, "file")
            raise CollpressError(f'"{name}" is the name of another file in {first}', where=where, fix="give it another")


def find(registry: Mapping[str, Entry], dataset: str, path: Path) -> Entry:
    """The entry of an id. Errors: an unknown id, with the nearest known one; `path` names the registry in it."""
    if dataset not in registry:
        hint = did_you_mean(dataset, registry)
        raise CollpressError(f'unknown dataset "{dataset}"', where=str(path), allowed=", ".join(registry), fix=hint)
    return registry[dataset]
