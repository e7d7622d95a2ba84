"""Plan in, records out: the core's exit codes.

0 every point has a record; 2 bad command line or plan (nothing was started); 4 the world has another size than
`--ranks`, or MPI is not the launcher's; 5 the journal cannot be written. MPI is started as mpi4py does for everybody.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import mpi4py

from collpress.errors import CollpressError
from collpress.runner.command_line import Options, read_command_line
from collpress.runner.launcher import (
    cannot_start,
    die_with_parent,
    foreign_launcher,
    print_stack_on_signal,
    tell_once,
)
from collpress.runner.plan import PlanPoint, read_plan

BAD_INPUT, WRONG_WORLD, CANNOT_WRITE = 2, 4, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code. Every rank finds the same faults; the first tells them."""
    die_with_parent()
    print_stack_on_signal()
    try:
        options = read_command_line(sys.argv[1:] if arguments is None else arguments)
        plan = read_plan(options.plan)
    except CollpressError as error:
        return _told(str(error), BAD_INPUT)
    return _measure(options, plan)


def _measure(options: Options, plan: list[PlanPoint]) -> int:
    mpi4py.rc.initialize = False  # a bad plan is told before, and without, MPI
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        return _told(f"collpress.runner: mpi4py finds no MPI library: {error}", WRONG_WORLD)
    library = MPI.Get_library_version().strip("\0\n ")
    foreign = foreign_launcher(library)
    if foreign is not None and cannot_start(library):
        return _told(f"collpress.runner: {foreign}", WRONG_WORLD)
    MPI.Init_thread()
    world = MPI.COMM_WORLD
    try:
        if world.size != options.ranks:
            told = f"the launcher started {world.size} ranks, the plan is for {options.ranks}"
            if world.size == 1 or world.rank == 0:
                tell_once("\n".join(f"collpress.runner: {one}" for one in (told, foreign) if one))
            world.Barrier()  # the others end after it
            return WRONG_WORLD
        from collpress.runner.launch import run_launch

        run_launch(options, plan, world)
    except Exception as error:
        print(f"collpress.runner: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        world.Abort(CANNOT_WRITE)  # the other ranks wait for this one
    MPI.Finalize()
    return 0


def _told(message: str, code: int) -> int:
    tell_once(message)
    return code
