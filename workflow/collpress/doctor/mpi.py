"""MPI: the wrapper is of the kind that the platform says, and a program on two ranks is one world of two.

The program is compiled with the platform's wrapper and started as a batch's core is: same launcher, same binding, same
environment. A launcher of another MPI starts it too, as two worlds of one rank each, and every number of such a run
would be wrong.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.doctor.installations import product, wrapper_says
from collpress.doctor.programs import Answer, ask
from collpress.doctor.result import Result, note, ok, problem, skipped
from collpress.errors import CollpressError
from collpress.execute.hosts import made_hosts
from collpress.execute.launcher import Launcher, session
from collpress.execute.toolchain import STANDARD, Toolchain, resolve_toolchain
from collpress.plan.built import find_mpiexec, mpi_library
from collpress.plan.launch import launch_of
from collpress.plan.machine import Machine
from collpress.provenance.namespaces import hosts_lack
from collpress.spec.platform import Platform

RANKS = 2
_HELLO = r"""#include <mpi.h>
#include <cstdio>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, sum = 0, length = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double step = 1.0;
    for (int i = 0; i < 1000; ++i) {
        const double start = MPI_Wtime();
        double now = start;
        while (now == start) now = MPI_Wtime();
        if (now - start < step) step = now - start;
    }
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &length);
    for (char *c = library; *c; ++c)
        if (*c < ' ' || *c == '"' || *c == '\\') *c = ' ';
    if (rank == 0)
        std::printf("{\"size\": %d, \"sum\": %d, \"tick_s\": %.9g, \"step_s\": %.9g, \"library\": \"%s\"}\n",
                    size, sum, MPI_Wtick(), step, library);
    MPI_Finalize();
}
"""


@dataclass(frozen=True)
class Hello:
    """What rank 0 of a world of two said: resolution of MPI_Wtime in seconds, as stated and as seen."""

    tick_s: float
    step_s: float


def wrapper(platform: Platform, folder: Path) -> tuple[Result, Toolchain | None]:
    """The platform's MPI wrapper: there, and of the kind that the platform file names."""
    check, wanted = "MPI wrapper", platform.toolchain
    try:
        toolchain = resolve_toolchain(wanted.source, folder, wanted.mpi)
    except CollpressError as error:
        return problem(check, error.what, error.fix), None
    path = toolchain.wrapper_path
    seen = wrapper_says(path)
    if seen.kind == "unknown":
        said = f"{path} does not say which MPI it belongs to"
        return problem(check, said, "check that toolchain.from is the prefix of a complete MPI installation"), None
    if seen.kind != wanted.mpi:
        said = f"{path} belongs to {seen}, but toolchain.mpi says {wanted.mpi}"
        return problem(check, said, "correct toolchain.mpi or toolchain.from in the platform file"), None
    if mpi_library(toolchain.wrapper) is None:
        said = f"{path} has no libmpi.so under its own prefix"
        return problem(check, said, "name the prefix that holds bin/mpicxx and lib/libmpi.so in toolchain.from"), None
    return ok(check, f"{seen}, {path}"), toolchain


def launcher(toolchain: Toolchain) -> Result:
    """The launcher that belongs to the wrapper is there and says what it is."""
    check, path = "launcher", find_mpiexec(toolchain.wrapper)
    if not os.access(path, os.X_OK):
        fix = "name the prefix of a complete MPI in toolchain.from; for the wheel: remove .venv and call ./run"
        return problem(check, f"there is no mpiexec beside the wrapper: {path}", fix)
    said = ask([path, "--version"], seconds=30)
    lines = (said.output or said.errors).strip().splitlines()
    if said.code != 0 or not lines:
        return note(check, f"{path} does not say its version: {said.last_words}")
    seen = product(said.output)
    return ok(check, f"{path}: {lines[0] if seen.kind == 'unknown' else seen}")


def hello(
    platform: Platform, toolchain: Toolchain, machine: Machine, folder: Path, seconds: float = 60
) -> tuple[Result, Hello | None]:
    """Compiles and runs a program on two ranks; the clock's resolution where it ran as one world."""
    check = f"MPI on {RANKS} ranks"
    source, program = folder / "hello.cpp", folder / "hello"
    source.write_text(_HELLO, encoding="utf-8")
    environment = {**os.environ, **toolchain.environment}
    command: list[str | Path] = [toolchain.wrapper_path, STANDARD, "-O1", source, "-o", program]
    built = ask(command, seconds=300, environment=environment)
    if built.code != 0:
        fix = "mend the installation that toolchain.from names; unset variables that change its wrapper"
        return problem(check, f"the wrapper does not make a program: {built.last_words}", fix), None
    spread = platform.limits.nodes > 1 and platform.hosts and hosts_lack(platform.hosts.kind) is None
    nodes = RANKS if spread else 1
    launch = launch_of(platform, machine, RANKS // nodes, nodes=nodes)
    mpiexec = find_mpiexec(toolchain.wrapper)
    try:
        with session() as folders, ExitStack() as made:
            pair = made.enter_context(made_hosts(launch.hosts.kind, launch.hosts.rate)) if launch.hosts else None
            start = Launcher(mpiexec, RANKS, launch.binding, launch.environment, toolchain.mpi, pair)
            command_line, variables = start.command(program, []), start.variables(folders)
            said = ask(command_line, seconds=seconds, environment=variables, mark=folders.temporary)
    except CollpressError as error:
        return problem(check, error.what, error.fix), None
    return _judged(check, said, toolchain)


def _judged(check: str, said: Answer, toolchain: Toolchain) -> tuple[Result, Hello | None]:
    """One world of the right size, right sum and right library; anything else is a problem with a name."""
    worlds = _worlds(said.output)
    if worlds and len(worlds) > 1 and all(world["size"] == 1 for world in worlds):
        found = (
            f"{len(worlds)} worlds of 1 rank each, not one of {RANKS}: mpiexec belongs to another MPI than the wrapper"
        )
        fix = "let toolchain.from name one complete MPI, with its own mpicxx and mpiexec; unload modules that mix two"
        return problem(check, found, fix), None
    if said.code != 0 or not worlds:
        fix = "mend what is said here; for the wheel: remove .venv and call ./run; see docs/platforms.md"
        return problem(check, f"the program did not end well: {said.last_words}", fix), None
    world = worlds[0]
    if len(worlds) != 1 or world["size"] != RANKS:
        found = f"a world of {world['size']} ranks, not of {RANKS}"
        return problem(check, found, "check the launcher: it must start as many ranks as it is told"), None
    if world["sum"] != RANKS * (RANKS + 1) // 2:
        found = f"MPI_Allreduce gave {world['sum']}, not {RANKS * (RANKS + 1) // 2}"
        return problem(check, found, "do not measure with this MPI library"), None
    seen = product(world["library"])
    if seen.kind != toolchain.mpi:
        found = f"the program ran with {seen}, but toolchain.mpi says {toolchain.mpi}"
        return problem(check, found, "unset LD_LIBRARY_PATH in the platform's environment"), None
    verdict = ok(check, f"one world of {RANKS}, {seen}")
    return verdict, Hello(world["tick_s"], world["step_s"])


def hello_without(what: str) -> Result:
    """The verdict where something before it failed."""
    return skipped(f"MPI on {RANKS} ranks", f"needs {what}")


def _worlds(output: str) -> list[dict[str, Any]]:
    found = []
    for line in output.splitlines():
        if line.startswith('{"size"'):
            try:
                found.append(dict(json.loads(line)))
            except ValueError:
                return []
    return found
