"""The registry of datasets, `config/datasets.yaml`: what each is, where it is from, the sha256 of what must come
out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from collpress.data.sources import GeneratorSource, ManualSource, Number, PypiSource, Sha256, Size, UrlSource
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.document import Document, read_document
from collpress.spec.mistakes import explain
from collpress.spec.model import Strict

_ID = re.compile("[a-z0-9_-]+/[a-z0-9_-]+")


class Entry(Strict):
    """One dataset: from a package (`pypi`), a web server (`url`) or a person (`manual`), or made here (`generator`).

    `missing` says what happens to values that stand for "no data" and to NaN and infinite ones: `refuse` (an error),
    `keep` (left as they are and counted in the sidecar; minimum and maximum leave them out) or `zero` (set to 0 and
    counted).
    """

    _id: str = PrivateAttr("")
    title: str = Field(min_length=1)
    note: str | None = None
    """What one must know of the values before using them."""
    pypi: PypiSource | None = None
    url: UrlSource | None = None
    otherwise: UrlSource | None = None
    """Another file with the same values: used where it is there already, or where `url` cannot be had."""
    manual: ManualSource | None = None
    generator: GeneratorSource | None = None
    dtype: Literal["float32"]
    native_dtype: str = "float32"
    shape: Annotated[tuple[Size, ...], Field(min_length=1)]
    ranks: Literal["slices", "parts"] = "slices"
    """What a rank sends: its slice of the whole field, or its own part of it (a time step, a capture): the slowest axis
    counts them."""
    units: str
    missing: Literal["refuse", "keep", "zero"] = "refuse"
    range: tuple[Number, Number] | None = None
    """Where all values must lie that are not missing; tells a wrong byte order."""
    sha256: Sha256 | None = None
    """Of the prepared values; where nobody can know it yet it is recorded when they are first prepared."""
    licence: str = Field(min_length=1)
    citation: str = Field(min_length=1)
    acknowledgement: str | None = None
    """What its owners ask to be said where results are published."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(source is not None for source in (self.pypi, self.url, self.manual, self.generator)) != 1:
            raise ValueError("give one of pypi, url, manual and generator")
        if (reason := self._contradiction()) is not None:
            raise ValueError(reason)
        return self

    def _contradiction(self) -> str | None:
        for source in (self.url, self.otherwise, self.manual):
            if source is not None and source.raw is not None and (said := _raw_bytes(source)) is not None:
                parts = source.parts.count if isinstance(source, UrlSource) and source.parts else 1
                if parts * said != self.bytes:
                    return f"a raw file of this shape has {self.bytes // parts} bytes, the source says {said}"
                if parts > 1 and self.shape[0] != parts:
                    return f"the slowest axis has {self.shape[0]} entries, there are {parts} parts"
        if self.otherwise is not None and (self.url is None or self.sha256 is None):
            return (
                "otherwise stands beside url, and asks for the sha256 of the prepared values: both must give the same"
            )
        if self.range is not None and not self.range[0] < self.range[1]:
            return "range must be [smallest, largest]"
        return 'the key "sha256" is missing' if self.sha256 is None and not self._may_be_recorded else None

    @property
    def _may_be_recorded(self) -> bool:
        """Whether nobody can be expected to know the checksum of the prepared values."""
        url = self.url
        many = url is not None and (url.archive is not None or url.parts is not None or url.known_sha256 is None)
        return many or self.manual is not None

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
    def fetched(self) -> PypiSource | UrlSource | ManualSource | None:
        """The file that comes from outside; None when the dataset is made here."""
        return self.pypi or self.url or self.manual

    @property
    def source(self) -> dict[str, Any]:
        """The source and its `kind`, as plain data."""
        kinds = {"pypi": self.pypi, "url": self.url, "manual": self.manual, "generator": self.generator}
        ((kind, source),) = ((kind, source) for kind, source in kinds.items() if source is not None)
        other = (
            {} if self.otherwise is None else {"otherwise": self.otherwise.model_dump(mode="json", exclude_none=True)}
        )
        return {"kind": kind, **source.model_dump(mode="json", exclude_none=True), **other}


def _raw_bytes(source: UrlSource | ManualSource) -> int | None:
    """Bytes of the values as they lie in a raw file; None where the source does not say."""
    if isinstance(source, UrlSource) and source.archive is not None:
        return source.member_bytes
    return source.bytes


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
    holders: dict[str, tuple[str, object]] = {}
    for dataset, entry in datasets.items():
        kinds = {"pypi": entry.pypi, "url": entry.url, "otherwise": entry.otherwise, "manual": entry.manual}
        for kind, source in kinds.items():
            if source is None:
                continue
            parts = source.parts.checksums if isinstance(source, UrlSource) and source.parts else None
            content = source.sha256, getattr(source, "md5", None), parts
            first, other = holders.setdefault(source.file, (dataset, content))
            if other != content:
                where = document.where("datasets", dataset, kind, "file")
                raise CollpressError(
                    f'"{source.file}" is the name of another file in {first}', where=where, fix="give it another"
                )


def find(registry: Mapping[str, Entry], dataset: str, path: Path) -> Entry:
    """The entry of an id. Errors: an unknown id, with the nearest known one; `path` names the registry in it."""
    if dataset not in registry:
        hint = did_you_mean(dataset, registry)
        raise CollpressError(f'unknown dataset "{dataset}"', where=str(path), allowed=", ".join(registry), fix=hint)
    return registry[dataset]


def find_all(registry: Mapping[str, Entry], wanted: Iterable[str], path: Path) -> list[Entry]:
    """The entries of ids and of patterns (`isabel/*`), each once, in the order of what was asked.

    Errors: an unknown id, or a pattern that nothing matches; `path` names the registry in it.
    """
    entries: dict[str, Entry] = {}
    for word in wanted:
        matching = [d for d in registry if fnmatchcase(d, word)] if set(word) & set("*?[") else []
        for dataset in matching or [word]:
            entries[dataset] = find(registry, dataset, path)
    return list(entries.values())
