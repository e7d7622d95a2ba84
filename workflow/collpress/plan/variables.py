"""Variables of the MPI library: whether the installed one has those that a platform sets.

A library ignores a variable that it does not know, and a sweep of it would compare a thing with itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache

from collpress.errors import CollpressError
from collpress.plan.built import mpi_library, mpi_program
from collpress.plan.launch import root_permissions
from collpress.spec.mistakes import combined
from collpress.spec.platform import Platform

_INSIDE = ("OMPI_MCA_", "MPIR_CVAR_")
"""Of the library itself, which enumerates them (MPI 4.1, 15.3.6) as soon as it is loaded."""
_ENUMERATE = """
import ctypes, sys
mpi, number = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
assert mpi.MPI_T_init_thread(0, ctypes.byref(number)) == 0
assert mpi.MPI_T_cvar_get_num(ctypes.byref(number)) == 0
for index in range(number.value):
    name, length = ctypes.create_string_buffer(1024), ctypes.c_int(1024)
    if mpi.MPI_T_cvar_get_info(index, name, ctypes.byref(length), *[None] * 7) == 0:
        print(name.value.decode())
"""
_FOR_PROGRAMS = r"^mca:[^:]*:[^:]*:param:([^:]+):"
_PROGRAMS = {
    "OMPI_MCA_": ("ompi_info --all --parsable", _FOR_PROGRAMS),
    "PMIX_MCA_": ("pmix_info --all --parsable", _FOR_PROGRAMS),
    "PRTE_MCA_": ("prte_info --all", r'^ *MCA [\w ]+: "(\w+)"'),
}
"""Which program beside the library lists the variables that begin so, and how they stand in the list."""
_OWNERS = {"OMPI_MCA_": "openmpi", "MPIR_CVAR_": "mpich"}
"""Whose variables begin so: a library never looks at the other's."""
_PREFIXES = tuple(dict.fromkeys((*_INSIDE, *_PROGRAMS)))
_UNLISTED = (
    *(f"OMPI_MCA_{name}_" for name in ("btl_tcp_bandwidth", "btl_tcp_latency", "event", "opal_event")),
    "PRTE_MCA_hwloc_",
)
"""Beginnings of variables that are registered while something runs, for an interface for example: no list has them."""
_PATIENCE_S = 30


def known_variables(wrapper: str, prefix: str) -> frozenset[str] | None:
    """The library's variables that begin with `prefix`; None where it does not say which it has.

    Parameters
    ----------
    wrapper : as in a build record.
    prefix : one of OMPI_MCA_, PMIX_MCA_, PRTE_MCA_, MPIR_CVAR_.
    """
    listed = _enumerated(wrapper) if prefix in _INSIDE else []
    if prefix in _PROGRAMS:
        command, pattern = _PROGRAMS[prefix]
        program, *arguments = command.split()
        said = _said(str(mpi_program(wrapper, program)), *arguments)
        listed = listed + [prefix + name for name in re.findall(pattern, said, re.MULTILINE)]
    return frozenset(name for name in listed if name.startswith(prefix)) if listed else None


def _enumerated(wrapper: str) -> list[str]:
    """What the library enumerates, as it is set from outside: MPICH says the whole name, Open MPI what follows."""
    library = mpi_library(wrapper)
    names = _said(sys.executable, "-c", _ENUMERATE, str(library)).split() if library else []
    return [name if name.startswith("MPIR_CVAR_") else f"OMPI_MCA_{name}" for name in names]


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
    return sorted({prefix for name in names for prefix in _PREFIXES if name.startswith(prefix)})


def unknown_variables(names: Iterable[str], wrapper: str) -> dict[str, str]:
    """Those of the library's variables that it does not have, each with a hint or an empty text.

    Variables of other makers, and those that nobody lists, are left alone.
    """
    found = {}
    for name in names:
        prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), None)
        known = known_variables(wrapper, prefix) if prefix else None
        if prefix and known is not None and name not in known and not name.startswith(_UNLISTED):
            found[name] = _hint(name, prefix, known, wrapper)
    return found


def _hint(name: str, prefix: str, known: Iterable[str], wrapper: str) -> str:
    """The nearest name that exists. Open MPI's launcher heeds its variables under its own prefix only."""
    own = name.removeprefix(prefix)
    elsewhere = [p + own for p in _PROGRAMS if p + own in (known_variables(wrapper, p) or ())]
    near = get_close_matches(own, [one.removeprefix(prefix) for one in known], n=1)
    meant = elsewhere or [prefix + one for one in near]
    return f'did you mean "{meant[0]}"?' if meant else ""


def variables_of(platform: Platform) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
    """Where a platform file sets variables, and which."""
    yield ("environment",), platform.environment
    for name, content in platform.knobs.items():
        yield ("knobs", name), content


def refuse_unknown_variables(platform: Platform, wrapper: str, sets: Iterable[str]) -> None:
    """CollpressError for each variable of these sets of knobs that the library does not have."""
    mpi = platform.toolchain.mpi
    errors = []
    for knobs in sorted(sets):
        asked = platform.knobs.get(knobs, {})
        others = [name for name in asked if _owner(name) not in {mpi, None}]
        for name in others:
            what, fix = (
                f"{name} is a variable of another MPI library: {mpi} ignores it",
                "take a platform with that library",
            )
            errors.append(CollpressError(what, where=platform.where("knobs", knobs, name), fix=f"remove it, or {fix}"))
        for name, hint in unknown_variables((n for n in asked if n not in others), wrapper).items():
            what, fix = f"the MPI library has no variable {name}", hint or "remove it"
            errors.append(CollpressError(what, where=platform.where("knobs", knobs, name), fix=fix))
    if errors:
        raise combined(errors, str(platform.path))


def _owner(name: str) -> str | None:
    return next((owner for prefix, owner in _OWNERS.items() if name.startswith(prefix)), None)
