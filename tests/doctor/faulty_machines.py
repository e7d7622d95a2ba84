"""Machines with faults: folders of real programs that misbehave, and the platform files that name them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from collpress.spec import Platform, platform_text

WHEEL = Path(sys.prefix)
RUN_PROGRAM = 'n=$2; while [ "${1#/}" = "$1" ]; do shift; done'


def program(path: Path, text: str) -> Path:
    """A shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def platform_from(prefix: str, mpi: str = "openmpi", ranks: int = 2, oversubscribe: bool = True) -> Platform:
    """A platform whose MPI lies under `prefix`."""
    return platform_text(
        f"title: made up\ntoolchain: {{mpi: {mpi}, from: {prefix!r}}}\nlauncher: mpiexec\n"
        f"limits: {{ranks_per_node: {ranks}, oversubscribe: {str(oversubscribe).lower()}}}\n"
        f"backends: {{mpi: {{controls: {mpi}}}}}\n"
    )


@dataclass
class Prefix:
    """An installation of MPI: the wheel's wrapper and library under another prefix, with any launcher."""

    folder: Path

    @property
    def platform(self) -> Platform:
        return platform_from(str(self.folder))

    def launcher(self, text: str) -> None:
        program(self.folder / "bin" / "mpiexec", text)
