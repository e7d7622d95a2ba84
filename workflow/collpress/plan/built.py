"""What a build left behind: its record, and the programs of the MPI that it was made with."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.layout import ROOT


def read_build(path: Path, fix: str = "./run collpress build") -> dict[str, Any]:
    """A build.json (docs/contracts.md): a platform's, or that of a campaign's own plugins.

    Raises
    ------
    CollpressError : there is none, it cannot be read, or it is another kind of file; `fix` makes it.
    """
    try:
        build = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CollpressError("nothing is built yet", where=str(path), fix=fix) from None
    except (OSError, ValueError, RecursionError) as error:
        raise CollpressError(f"cannot be read: {error}", where=str(path), fix=fix) from None
    if not isinstance(build, dict) or build.get("schema") != 1 or not isinstance(build.get("plugins"), list):
        raise CollpressError("not a build record, version 1", where=str(path), fix=fix)
    return build


def mpi_program(wrapper: str, program: str) -> Path:
    """The program (`mpiexec`, `mpicxx`) that belongs to a wrapper; a bare name stands for Open MPI's wheel's."""
    return ROOT / Path(wrapper).parent / program if os.sep in wrapper else wheel_program(program)


def wheel_program(name: str) -> Path:
    """Where a wheel puts its programs: beside this Python."""
    return Path(sys.prefix) / "bin" / name


def find_mpiexec(wrapper: str) -> Path:
    """The mpiexec that belongs to a build's MPI wrapper."""
    return mpi_program(wrapper, "mpiexec")


def mpi_library(wrapper: str) -> Path | None:
    """The libmpi.so that belongs to a wrapper; None when there is none.

    It lies beside the wrapper, else where the wrapper's own command line (`mpicxx -show`) looks for libraries:
    Debian's packages keep a folder for each architecture.
    """
    program = mpi_program(wrapper, "mpicxx").absolute()
    beside = [program.parent.parent / folder for folder in ("lib", "lib64")]
    return _first_library(beside) or _first_library(_folders_of(program))


def _first_library(folders: Iterable[Path]) -> Path | None:
    names = ("libmpi.so.*", "libmpi.so")
    found = (path for folder in folders for name in names for path in sorted(folder.glob(name)))
    first = next(found, None)
    return first.resolve() if first else None


def _folders_of(program: Path) -> list[Path]:
    try:
        done = subprocess.run([program, "-show"], capture_output=True, timeout=30)
        words = shlex.split(done.stdout.decode("utf-8", "replace"))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    return [Path(word[2:]) for word in words if word.startswith("-L") and len(word) > 2]
