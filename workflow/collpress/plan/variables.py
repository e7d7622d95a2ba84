"""Variables of the MPI library: whether the installed one has those that a platform sets.

A library ignores a variable that it does not know, and a sweep of it would compare a thing with itself.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from collpress.errors import CollpressError, did_you_mean
from collpress.plan.built import mpi_program
from collpress.plan.launch import root_permissions
from collpress.spec.mistakes import combined
from collpress.spec.platform import Platform

_FOR_PROGRAMS = r"^mca:[^:]*:[^:]*:param:([^:]+):"
_SAY = {
    "OMPI_MCA_": ("ompi_info --all --parsable", _FOR_PROGRAMS),
    "PMIX_MCA_": ("pmix_info --all --parsable", _FOR_PROGRAMS),
    "PRTE_MCA_": ("prte_info --all", r'^ *MCA [\w ]+: "(\w+)"'),
    "MPIR_CVAR_": ("mpivars", r"\bMPIR_CVAR_(\w+)"),
}
"""Which program beside the library lists the variables that begin so, and how they stand in the list."""
_OWNERS = {"OMPI_MCA_": "openmpi", "MPIR_CVAR_": "mpich"}
"""Whose variables begin so: a library never looks at the other's."""
_PATIENCE_S = 30


def known_variables(wrapper: str, prefix: str) -> frozenset[str]:
    """The library's variables that begin with `prefix`; empty where it does not say.

    Parameters
    ----------
    wrapper : as in a build record.
    prefix : one of OMPI_MCA_, PMIX_MCA_, PRTE_MCA_, MPIR_CVAR_.
    """
    command, pattern = _SAY[prefix]
    program, *arguments = command.split()
    said = _said(str(mpi_program(wrapper, program)), *arguments)
    return frozenset(prefix + name for name in re.findall(pattern, said, re.MULTILINE))


@cache
def _said(*command: str) -> str:
    try:
        return subprocess.run(
            command,
            env={**os.environ, **root_permissions()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE_S,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def listing(names: Iterable[str]) -> list[str]:
    """How those of the names begin that a library can list."""
    return sorted({prefix for name in names for prefix in _SAY if name.startswith(prefix)})


def unknown_variables(names: Iterable[str], wrapper: str) -> dict[str, str]:
    """Those of the library's variables that it does not have, each with a hint or an empty text.

    Variables of other makers, and those that nobody lists, are left alone.
    """
    found = {}
    for name in names:
        prefix = next((prefix for prefix in _SAY if name.startswith(prefix)), None)
        known = known_variables(wrapper, prefix) if prefix else frozenset()
        if known and name not in known and not _is_passed_on(name, wrapper):
            found[name] = did_you_mean(name, known)
    return found


def _is_passed_on(name: str, wrapper: str) -> bool:
    """Open MPI hands those of its launcher, which it had itself in older versions, to that."""
    own = name.removeprefix("OMPI_MCA_")
    others = ("PMIX_MCA_", "PRTE_MCA_") if own != name else ()
    return any(prefix + own in known_variables(wrapper, prefix) for prefix in others)


def variables_of(platform: Platform) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
    """Where a platform file sets variables, and which."""
    yield ("environment",), platform.environment
    for name, content in platform.knobs.items():
        yield ("knobs", name), content


def refuse_unknown_variables(platform: Platform, wrapper: str, sets: Iterable[str]) -> None:
    """CollpressError for each variable of these sets of knobs that the library does not have."""
    mpi = platform.toolchain.mpi
    errors = [
        CollpressError(
            f"{name} is a variable of another MPI library: {mpi} ignores it",
            where=platform.where("knobs", knobs, name),
            fix="remove it, or take a platform with that library",
        )
        for knobs in sorted(sets)
        for name in platform.knobs.get(knobs, {})
        if any(name.startswith(prefix) and owner != mpi for prefix, owner in _OWNERS.items())
    ]
    errors += [
        CollpressError(
            f"the MPI library has no variable {name}",
            where=platform.where("knobs", knobs, name),
            fix=hint or "remove it",
        )
        for knobs in sorted(sets)
        for name, hint in unknown_variables(platform.knobs.get(knobs, {}), wrapper).items()
    ]
    if errors:
        raise combined(errors, str(platform.path))
