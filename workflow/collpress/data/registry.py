"""The registry of datasets, `config/datasets.yaml`: what each is, where it is from, the sha256 of what must come
out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from collpress.data.formats import FILE_BYTES, Number
from collpress.data.sidecar import ITEM_BYTES
from collpress.data.sources import (
    CaptureSource,
    GeneratorSource,
    LocalSource,
    ManualSource,
    PypiSource,
    Sha256,
    Size,
    UrlSource,
    WheelMember,
)
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.document import Document, parse_document, read_document
from collpress.spec.mistakes import explain
from collpress.spec.model import Strict

_ID = re.compile("[a-z0-9_-]+/[a-z0-9_-]+")
_PRIVATE_ID = re.compile("private-([0-9a-f]{8})")
_FEW = 6
"""Names that a message lists."""


class Entry(Strict):
    """One dataset: from a package (`pypi`), a web server (`url`) or a person (`manual`), made here (`generator`,
    `capture`), or a user's (`local`).

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
    capture: CaptureSource | None = None
    local: LocalSource | None = None
    dtype: Literal["float32", "bfloat16"]
    """Of the prepared values. bfloat16 values take 2 bytes; ranks send them as float32, which holds them exactly."""
    native_dtype: str = "float32"
    """What the values were before anybody converted them."""
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
    private: bool = False
    """Name, paths and words stay on this machine: see `public_id`."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = (self.pypi, self.url, self.manual, self.generator, self.capture, self.local)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("give one of pypi, url, manual, generator, capture and local")
        if (reason := self._contradiction()) is not None:
            raise ValueError(reason)
        return self

    def _contradiction(self) -> str | None:
        for source in (self.url, self.otherwise, self.manual):
            if source is not None and source.raw is not None and (said := _raw_bytes(source)) is not None:
                parts = source.parts.count if isinstance(source, UrlSource) and source.parts else 1
                needed = FILE_BYTES[source.raw.dtype] * self.elements
                if parts * said != needed:
                    return f"a raw file of this shape has {needed // parts} bytes, the source says {said}"
                if parts > 1 and self.shape[0] != parts:
                    return f"the slowest axis has {self.shape[0]} entries, there are {parts} parts"
        if self.otherwise is not None and (self.url is None or self.sha256 is None):
            return (
                "otherwise stands beside url, and asks for the sha256 of the prepared values: both must give the same"
            )
        if self.local is not None and len(self.local.files) not in (1, self.parts):
            return f"{len(self.local.files)} files need ranks: parts and as many entries on the slowest axis"
        if self.capture is not None and self.sha256 is not None:
            return "a capture has no sha256, as its last digits depend on the processor: it has a fingerprint"
        if self.private and self.sha256 is None:
            return "a private dataset is told by its sha256: give it"
        if self.range is not None and not self.range[0] < self.range[1]:
            return "range must be [smallest, largest]"
        return 'the key "sha256" is missing' if self.sha256 is None and not self._may_be_recorded else None

    @property
    def _may_be_recorded(self) -> bool:
        """Whether nobody can be expected to know the checksum of the prepared values."""
        url = self.url
        many = url is not None and (url.archive is not None or url.parts is not None or url.known_sha256 is None)
        return many or self.manual is not None or self.capture is not None

    @property
    def id(self) -> str:
        """`group/name`: the entry's key in the registry."""
        return self._id

    @property
    def public_id(self) -> str:
        """What everything that is made from the dataset calls it: the id, and for a private one a part of the values'
        checksum. Behind this door, in plans, journals, cubes, figures, findings and dossiers, nobody knows its name.
        """
        return f"private-{self.sha256[:8]}" if self.private and self.sha256 else self._id

    @property
    def public(self) -> Entry:
        """The entry without what a private one keeps to itself; the same entry where nothing is private."""
        if not self.private:
            return self
        words = dict.fromkeys(("title", "licence", "citation"), "private")
        told = self.model_copy(update={**words, "note": None, "acknowledgement": None})
        told._id = self.public_id
        return told

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
    def fetched(self) -> WheelMember | UrlSource | ManualSource | None:
        """The file that comes from outside; None when the dataset is made here."""
        model = self.capture.model if self.capture is not None else None
        return self.pypi or self.url or self.manual or model

    @property
    def source(self) -> dict[str, Any]:
        """The source and its `kind`, as plain data."""
        kinds = {name: getattr(self, name) for name in ("pypi", "url", "manual", "generator", "capture", "local")}
        if self.private:
            return {"kind": "private"}
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


def is_id(name: str) -> bool:
    """Whether a dataset can be called so."""
    return _ID.fullmatch(name) is not None


def own_entries(path: Path) -> Path:
    """The directory beside a registry whose files, `<group>.yaml`, hold what users registered."""
    return path.parent / "datasets.d"


def load_registry(path: Path) -> dict[str, Entry]:
    """The entries by id, in the file's order; behind them those of users (`own_entries`), file by file.

    Errors
    ------
    CollpressError that names file, line and field: not readable, not YAML, a key twice, an unknown or missing key, a
    bad value, an id in two files.
    """
    datasets: dict[str, Entry] = {}
    homes: dict[str, Document] = {}
    for one in (path, *sorted(own_entries(path).glob("*.yaml"))):
        document = read_document(one)
        for dataset, entry in _entries(document).items():
            if dataset in homes:
                first = homes[dataset].where("datasets", dataset)
                where = document.where("datasets", dataset)
                raise CollpressError(f'"{dataset}" stands in {first} too', where=where, fix="give one another name")
            datasets[dataset], homes[dataset] = entry, document
    _refuse_two_files_of_one_name(datasets, homes)
    _refuse_two_of_one_public_id(datasets, homes)
    return datasets


def _entries(document: Document) -> dict[str, Entry]:
    """The entries of one file."""
    try:
        datasets = _Registry.model_validate(document.data).datasets
    except ValidationError as error:
        raise explain(error, _Registry, document) from None
    for dataset, entry in datasets.items():
        if not is_id(dataset):
            where, allowed = document.where("datasets", dataset), "group/name, of lower-case letters, digits, - and _"
            raise CollpressError(f'"{dataset}" cannot be an id', where=where, allowed=allowed)
        entry._id = dataset
    return datasets


def check_own(text: str, home: Path) -> None:
    """Whether a file of users' entries with this text could be read. Errors: those of `load_registry`."""
    _entries(parse_document(text, str(home)))


def _refuse_two_of_one_public_id(datasets: Mapping[str, Entry], homes: Mapping[str, Document]) -> None:
    """What is made from a dataset is kept under its public id."""
    first: dict[str, str] = {}
    for dataset, entry in datasets.items():
        if first.setdefault(entry.public_id, dataset) != dataset:
            what = f"its values begin like those of {first[entry.public_id]}, which is private too"
            raise CollpressError(what, where=homes[dataset].where("datasets", dataset), fix="keep one of them")


def _refuse_two_files_of_one_name(datasets: Mapping[str, Entry], homes: Mapping[str, Document]) -> None:
    """The cache holds files by name: two that differ would push each other out."""
    holders: dict[str, tuple[str, object]] = {}
    for dataset, entry in datasets.items():
        kinds: dict[tuple[str, ...], WheelMember | UrlSource | ManualSource | None] = {
            ("pypi",): entry.pypi,
            ("url",): entry.url,
            ("otherwise",): entry.otherwise,
            ("manual",): entry.manual,
            ("capture", "model"): entry.capture.model if entry.capture is not None else None,
        }
        for place, source in kinds.items():
            if source is None:
                continue
            parts = source.parts.checksums if isinstance(source, UrlSource) and source.parts else None
            content = source.sha256, getattr(source, "md5", None), parts
            first, other = holders.setdefault(source.file, (dataset, content))
            if other != content:
                where = homes[dataset].where("datasets", dataset, *place, "file")
                raise CollpressError(
                    f'"{source.file}" is the name of another file in {first}', where=where, fix="give it another"
                )


def find(registry: Mapping[str, Entry], dataset: str, path: Path) -> Entry:
    """The entry of an id, private ones also of their public id.

    Errors: an unknown id, with the nearest known one; `path` names the registry in it.
    """
    for entry in registry.values():
        if entry.private and entry.public_id == dataset:
            return entry
    if dataset not in registry:
        raise unknown_dataset(dataset, registry, str(path))
    return registry[dataset]


def unknown_dataset(name: str, known: Iterable[str], where: str) -> CollpressError:
    """What to say of a name or pattern behind which there is no dataset: the nearest names, not all of them."""
    if found := _PRIVATE_ID.fullmatch(name):
        return CollpressError(
            f'"{name}" is a private dataset of another machine: nothing registered here has these values',
            where=where,
            fix="run it where the dataset is registered, or register the same files here: collpress dataset register "
            f"NAME FILES --private; the sha256 of the values begins with {found[1]}",
        )
    names = list(known)
    near = names if len(names) <= _FEW else get_close_matches(name, names, n=_FEW, cutoff=0.4)
    more = f"{'; ' if near else ''}collpress dataset list shows all {len(names)}" if len(near) < len(names) else ""
    what = f'no dataset matches "{name}"' if set(name) & set("*?[") else f'unknown dataset "{name}"'
    return CollpressError(what, where=where, allowed=", ".join(near) + more, fix=did_you_mean(name, names))


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
