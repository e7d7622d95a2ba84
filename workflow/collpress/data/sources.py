"""Where a dataset is from: a file inside a wheel, a file that web servers hold, a generator, or a pass of a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from collpress.data.generators import names
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=1, strict=True)]


Number = Annotated[float, Field(strict=True)]


def _stands_for_no_data(value: Any) -> Any:
    if isinstance(value, str) and value.lower().lstrip("+-.") in {"nan", "inf"}:
        raise CollpressError(
            "NaN and infinite values count as missing anyhow", allowed="another number", fix="leave this key out"
        )
    return value


class PpFields(Strict):
    """Which fields of a PP file: those of one STASH code (section · 1000 + item)."""

    stash: int = Field(ge=1, strict=True)


class RawValues(Strict):
    """Nothing but float32 values in C order."""

    byte_order: Literal["little", "big"]
    missing: Annotated[Number | None, BeforeValidator(as_field_error(_stands_for_no_data))] = None
    """The value that stands for "no data", if the file has one."""


class NetcdfVariable(Strict):
    """One float32 variable of a NetCDF file; its own attributes say which value stands for "no data"."""

    variable: str = Field(min_length=1)


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
        path = PurePosixPath(member)
        if not member or path.is_absolute() or ".." in path.parts or "\\" in member or ":" in member:
            raise ValueError("must be a relative path inside the wheel, without ..")
        return member

    @property
    def member_file(self) -> str:
        """The name that the member gets in the cache."""
        return f"{self.member_sha256[:12]}-{PurePosixPath(self.member).name}"


class PypiSource(WheelMember):
    """Values that lie in a file inside a wheel."""

    pp: PpFields


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


class UrlSource(Strict):
    """One file that web servers hold, with what is in it; `{file}` in an address stands for the file's name."""

    file: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=200)
    """Its name in the cache."""
    addresses: Annotated[tuple[Annotated[str, BeforeValidator(as_field_error(_address))], ...], Field(min_length=1)]
    """Mirrors of the same bytes, in the order in which they are asked."""
    bytes: Size
    sha256: Sha256
    raw: RawValues | None = None
    netcdf: NetcdfVariable | None = None

    @model_validator(mode="before")
    @classmethod
    def _addresses_of_this_file(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("addresses"), list) and isinstance(data.get("file"), str):
            named = [a.replace("{file}", data["file"]) if isinstance(a, str) else a for a in data["addresses"]]
            return {**data, "addresses": named}
        return data

    @model_validator(mode="after")
    def _one_format(self) -> Self:
        if (self.raw is None) == (self.netcdf is None):
            raise ValueError("give one of raw and netcdf")
        return self


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
