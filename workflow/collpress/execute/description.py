"""What a built core says about plugins, and what an MPI library says about itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.toolchain import Toolchain
from collpress.files import sha256_of
from collpress.plan.built import mpi_library

KINDS = {"openmpi": ("Open MPI",), "mpich": ("MPICH", "MVAPICH", "Intel(R) MPI")}
"""How libraries of a kind call themselves; the descendants of MPICH have its launcher and its control variables."""
_ASK_VERSION = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
sys.stdout.write(text.value.decode("utf-8", "replace"))
"""


def describe_plugins(core: Path, plugins: list[Path]) -> list[dict[str, Any]]:
    """The core's words about each plugin, in the order given.

    Raises
    ------
    CollpressError : a plugin that cannot be loaded, is of another ABI, or takes the core down with it; it is named.
    """
    if not plugins:
        return []
    said, complaint = _ask(core, plugins)
    if said is not None:
        return said
    for plugin in plugins:
        alone, reason = _ask(core, [plugin])
        if alone is None:
            raise CollpressError(
                f"not a usable plugin: {reason}", where=str(plugin), fix="see native/include/collpress/plugin.h"
            )
    raise CollpressError(f"the core does not describe its plugins: {complaint}", where=str(core))


def _ask(core: Path, plugins: list[Path]) -> tuple[list[dict[str, Any]] | None, str]:
    command = [str(core.absolute()), "--describe", *(str(plugin.absolute()) for plugin in plugins)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=60)
    except OSError as error:
        return None, error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return None, "no answer within 60 s"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1] if lines else how_it_ended(done.returncode)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return None, "the answer is not JSON"
    if not isinstance(said, list) or len(said) != len(plugins):
        return None, f"{len(plugins)} plugins, but another number of answers"
    return said, ""


def describe_mpi(toolchain: Toolchain) -> dict[str, Any]:
    """Kind, version (the library's own words) and sha256 of the MPI library behind a wrapper.

    Raises
    ------
    CollpressError : no library there, one that cannot be loaded, or one of another kind than the toolchain says.
    """
    library = mpi_library(toolchain.wrapper)
    if library is None:
        raise CollpressError(
            "no libmpi.so beside the MPI wrapper",
            where=str(toolchain.wrapper_path),
            fix="use a complete installation of MPI",
        )
    done = subprocess.run(
        [sys.executable, "-c", _ASK_VERSION, str(library)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [how_it_ended(done.returncode)])[-1]
        raise CollpressError(f"the MPI library cannot be loaded: {last}", where=str(library))
    version = done.stdout.strip("\0 \n")
    kind = next((kind for kind, words in KINDS.items() if any(word in version for word in words)), None)
    if kind != toolchain.mpi:
        raise CollpressError(
            f"the platform says mpi: {toolchain.mpi}, but this library is {version.splitlines()[0]}",
            where=str(library),
            fix=f"write mpi: {kind}" if kind else "name another MPI in toolchain.from",
        )
    return {
        "kind": toolchain.mpi,
        "version": version,
        "wrapper": toolchain.wrapper,
        "library_sha256": sha256_of(library),
    }


def how_it_ended(code: int) -> str:
    """An exit code in words; launchers report a signal as 128 + its number.

    >>> how_it_ended(139), how_it_ended(-9), how_it_ended(3)
    ('killed by SIGSEGV', 'killed by SIGKILL', 'exit code 3')
    """
    number = -code if code < 0 else code - 128
    if 0 < number < signal.NSIG and number in set(signal.Signals):
        return f"killed by {signal.Signals(number).name}"
    return f"exit code {code}"
