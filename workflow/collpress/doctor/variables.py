"""Who runs this, and variables that change MPI behind one's back."""

from __future__ import annotations

import os
from collections.abc import Mapping

from collpress.doctor.result import Result, note, ok, problem, skipped
from collpress.execute.toolchain import Toolchain
from collpress.plan.variables import known_variables, listing, unknown_variables, variables_of
from collpress.spec.platform import Platform

BUILDING = frozenset(
    {"OPAL_PREFIX", "OPAL_LIBDIR", "MPICH_CC", "MPICH_CXX", "CPATH", "CPLUS_INCLUDE_PATH"}
    | {f"OMPI_{name}" for name in ("CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "LIBS", "CC")}
)
"""Variables that make a wrapper build something else; OMPI_CXX is set by collpress itself."""

RUNNING = ("OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "UCX_", "I_MPI_", "LD_PRELOAD")
"""Beginnings of variables that would change a measurement if they reached it; they do not."""


def library_variables(platform: Platform, toolchain: Toolchain) -> Result:
    """The variables that the platform sets, where the library lists what it has."""
    check, wrapper = "library's variables", toolchain.wrapper
    placed = [(place, unknown_variables(content, wrapper)) for place, content in variables_of(platform)]
    unknown = [(".".join((*place, name)), hint) for place, found in placed for name, hint in found.items()]
    if unknown:
        said = f"the library has no {', no '.join(name for name, _ in unknown)}"
        hints = [hint for _, hint in unknown if hint]
        return problem(check, said, " ".join(hints) or f"correct {platform.path}")
    names = [name for _, content in variables_of(platform) for name in content]
    silent = sorted({prefix for prefix in listing(names) if known_variables(wrapper, prefix) is None})
    if silent:
        return skipped(check, f"the library does not list what begins with {', '.join(silent)}")
    return ok(check, "it has all that the platform sets" if listing(names) else "the platform sets none")


def user(effective_id: int | None = None) -> Result:
    """Open MPI starts nothing for root unless it is told to."""
    identity = os.geteuid() if effective_id is None else effective_id
    if identity == 0:
        return note("user", "root: Open MPI and its launcher are told that this is wanted")
    return ok("user", f"id {identity}")


def variables(environment: Mapping[str, str] = os.environ) -> Result:
    """Variables of the caller that change what is built, or that one would expect to be in force and are not."""
    check = "environment"
    building = sorted(BUILDING & {name for name, value in environment.items() if value})
    if building:
        said = f"{', '.join(building)} would change what the MPI wrapper builds"
        return problem(check, said, f"unset {' '.join(building)}")
    ignored = sorted(name for name in environment if name.startswith(RUNNING))
    if ignored:
        listed = ", ".join(ignored[:4]) + (f" and {len(ignored) - 4} more" if len(ignored) > 4 else "")
        return note(check, f"{listed}: not passed on to launches; the platform's environment is the place for them")
    return ok(check, "nothing in it changes builds or launches")
