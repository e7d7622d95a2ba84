"""All checks of a platform, in the order in which one rests on another."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

from collpress.doctor import clock, compiler, hosts, mpi, processors, storage, variables
from collpress.doctor.result import Result, skipped
from collpress.execute.toolchain import Toolchain
from collpress.layout import RESULTS
from collpress.plan.machine import Machine, this_machine
from collpress.spec.platform import Platform


def examine(platform: Platform, results: Path = RESULTS) -> Iterator[Result]:
    """Every check's verdict, as soon as it is there; only Python and its packages are looked at elsewhere.

    A check that needs what an earlier one did not find is `skipped`, and says so.
    """
    machine = this_machine()
    room = storage.temporary()
    yield room
    said: mpi.Hello | None = None
    if room.verdict == "problem":  # compilers and launchers would fail for that, and say something else
        why = "a temporary folder"
        yield skipped("C++20 compiler", f"needs {why}")
        yield skipped("MPI wrapper", f"needs {why}")
        yield skipped("launcher", f"needs {why}")
        yield mpi.hello_without(why)
    else:
        said = yield from _programs(platform, machine)
    yield storage.disk(results)
    yield storage.shared_memory(platform.limits.ranks_per_node)
    yield clock.monotonic()
    yield clock.mpi_wtime(said)
    yield processors.oversubscription(platform, machine)
    yield processors.load(machine)
    yield processors.quota(machine)
    yield processors.governor()
    yield variables.user()
    yield variables.variables()


def _programs(platform: Platform, machine: Machine) -> Generator[Result, None, mpi.Hello | None]:
    """Compiler, wrapper, launcher and two ranks; returns what the ranks said."""
    with tempfile.TemporaryDirectory(prefix="collpress-") as name:
        folder = Path(name)
        verdict, found = compiler.compiler(folder)
        yield verdict
        toolchain: Toolchain | None = None
        if found is None:
            yield skipped("MPI wrapper", "needs a compiler")
        else:
            verdict, toolchain = mpi.wrapper(platform, folder)
            yield verdict
        said: mpi.Hello | None = None
        if toolchain is None:
            yield skipped("launcher", "needs the MPI wrapper that it belongs to")
            yield mpi.hello_without("a compiler and an MPI wrapper")
        else:
            verdict = mpi.launcher(toolchain)
            yield verdict
            yield variables.library_variables(platform, toolchain)
            yield from hosts.hosts(platform)
            if verdict.verdict == "problem":
                yield mpi.hello_without("a launcher")
            else:
                verdict, said = mpi.hello(platform, toolchain, machine, folder)
                yield verdict
        return said
