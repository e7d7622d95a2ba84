"""Which MPI installations are on this machine, by what their own compiler wrappers say."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from collpress.doctor.programs import ask
from collpress.errors import CollpressError
from collpress.execute.toolchain import resolve_toolchain
from collpress.plan.built import mpi_library, wheel_program

WRAPPERS = ("mpicxx", "mpic++", "mpiCC")
_PRODUCTS = (
    ("openmpi", "Open MPI", re.compile(r"Open MPI\)?\s*v?:?\s*(\d[\w.]*)")),
    ("mpich", "MPICH", re.compile(r"\bMPICH (?:Version|version):?\s+(\d[\w.]*)")),
    ("mpich", "MPICH", re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)")),
    ("mpich", "Intel MPI", re.compile(r"Intel\(R\) MPI Library(?:\D*)(\d[\w.]*)?")),
    ("mpich", "MVAPICH", re.compile(r"MVAPICH\w*\s+(?:Version|version)\s*:?\s*(\d[\w.]*)")),
)
"""Kind, name, and how wrappers, launchers and libraries say it; the descendants of MPICH are of its kind."""


@dataclass(frozen=True)
class Product:
    """An MPI by what it says of itself; `kind` is what a platform file calls it, or "unknown"."""

    kind: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


@dataclass(frozen=True)
class Installation:
    """One MPI library with its wrapper.

    source : what `toolchain: {from: ...}` calls it: `wheel`, or a prefix.
    lacks : what is missing to measure with it, such as bin/mpiexec; empty when it is complete.
    """

    product: Product
    source: str
    wrapper: Path
    lacks: tuple[str, ...] = ()


def installations(kinds: Iterable[str]) -> list[Installation]:
    """The wheels of the kinds that a platform file may ask for, then what stands on PATH; each prefix once."""
    found: list[Installation] = []
    seen: set[Path] = set()
    for source, wrapper in (*_wheels(kinds), *_on_path()):
        prefix = wrapper.absolute().parent.parent.resolve()
        if prefix not in seen:
            seen.add(prefix)
            found.append(_installation(source, wrapper))
    return found


def product(text: str) -> Product:
    """What a version text of an MPI library, wrapper or launcher tells.

    >>> product("mpicxx: Open MPI 5.0.11 (Language: C++)")
    Product(kind='openmpi', name='Open MPI', version='5.0.11')
    >>> product("something else").kind
    'unknown'
    """
    for kind, name, pattern in _PRODUCTS:
        match = pattern.search(text)
        if match:
            return Product(kind, name, match[1] or "")
    return Product("unknown", "an MPI that does not say what it is", "")


def wrapper_says(wrapper: Path) -> Product:
    """Kind and version in the wrapper's own words."""
    said = ask([wrapper, "--showme:version"], seconds=30)
    if said.code == 0 and "Open MPI" in said.output:
        return product(said.output)
    said = ask([wrapper, "-v"], seconds=30)
    return product(said.output + said.errors)


def _wheels(kinds: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix="collpress-") as folder:
            try:
                wrapper = resolve_toolchain("wheel", Path(folder), kind).wrapper_path
            except CollpressError:
                wrapper = wheel_program("mpicxx")  # there may be a wheel all the same, and no compiler
        if os.access(wrapper, os.X_OK) and wrapper_says(wrapper).kind == kind:
            yield "wheel", wrapper


def _on_path() -> Iterator[tuple[str, Path]]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in WRAPPERS:
            wrapper = Path(folder) / name
            if folder and os.access(wrapper, os.X_OK) and wrapper.is_file():
                yield str(wrapper.parent.parent), wrapper
                break


def _installation(source: str, wrapper: Path) -> Installation:
    lacks = []
    if source != "wheel":
        lacks += [f"bin/{name}" for name in ("mpicxx", "mpiexec") if not os.access(wrapper.parent / name, os.X_OK)]
        lacks += [] if mpi_library(str(wrapper)) else ["lib/libmpi.so"]
    return Installation(wrapper_says(wrapper), source, wrapper, tuple(lacks))
