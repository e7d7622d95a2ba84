"""What this machine offers to measure with: processors, memory, MPI, launchers, compiler. Observed, never guessed."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from collpress.doctor import storage
from collpress.doctor.compiler import shims
from collpress.doctor.installations import Installation, installations, product
from collpress.doctor.programs import ask
from collpress.errors import CollpressError
from collpress.execute.toolchain import find_compiler
from collpress.plan.machine import Machine, this_machine
from collpress.provenance import machine as machine_details
from collpress.spec.platform import Toolchain

LAUNCHERS = ("mpiexec", "srun")


@dataclass(frozen=True)
class Survey:
    """What was seen.

    compiler : its version, or why there is none and what to do.
    launchers : name -> (path, what it says of its version).
    slurm_nodes : nodes of the SLURM job that this is; None outside of one.
    """

    host: str
    machine: Machine
    details: dict[str, Any]
    mpi: list[Installation]
    launchers: dict[str, tuple[str, str]]
    compiler: str
    slurm_nodes: int | None


def survey() -> Survey:
    """Look at the machine; starts only compilers, wrappers and launchers, to ask for their versions."""
    return Survey(
        host=platform.node(),
        machine=this_machine(),
        details=machine_details(),
        mpi=installations(choices(Toolchain, "mpi")),
        launchers={name: (path, _version(path)) for name in LAUNCHERS if (path := shutil.which(name))},
        compiler=_compiler(),
        slurm_nodes=_number(os.environ.get("SLURM_JOB_NUM_NODES")),
    )


def choices(model: type[BaseModel], field: str) -> tuple[str, ...]:
    """The words that a field of a platform file allows."""
    return tuple(str(word) for word in get_args(model.model_fields[field].annotation))


def _compiler() -> str:
    room = storage.temporary()
    if room.verdict == "problem":  # a compiler would fail for that, and say something else
        return f"not looked for: {room.check} {room.found}; {room.fix}"
    with tempfile.TemporaryDirectory(prefix="collpress-") as folder:
        try:
            found = find_compiler(Path(folder), shims(Path(folder)))
        except CollpressError as error:
            return f"{error.what}; install g++ 10 or later"
    return found.version


def _version(path: str) -> str:
    said = ask([path, "--version"], seconds=30)
    seen = product(said.output)
    if seen.kind != "unknown":
        return str(seen)
    lines = said.output.strip().splitlines()
    return lines[0] if said.code == 0 and lines else said.last_words


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None
