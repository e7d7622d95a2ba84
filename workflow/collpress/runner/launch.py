"""One launch: the points of a plan in their shuffled order, and a journal of them."""

from __future__ import annotations

import gc
import os
import platform
from typing import Any

import mpi4py
import numpy as np
from mpi4py import MPI

from collpress.runner import clock, start
from collpress.runner.clock import now_ns
from collpress.runner.command_line import Options
from collpress.runner.journal import Journal, utc_now
from collpress.runner.plan import PlanPoint
from collpress.runner.point import Session, measure_point
from collpress.runner.record import BACKEND, record_entries
from collpress.runner.resources import runnable_tasks
from collpress.runner.samples import SamplesFile
from collpress.runner.splitmix import shuffled

_THREAD_LEVELS = {
    MPI.THREAD_SINGLE: "single",
    MPI.THREAD_FUNNELED: "funneled",
    MPI.THREAD_SERIALIZED: "serialized",
    MPI.THREAD_MULTIPLE: "multiple",
}


def run_launch(options: Options, plan: list[PlanPoint], world: MPI.Intracomm) -> None:
    """Collective; rank 0 writes. Raises OSError where the journal or the samples cannot be written."""
    journal = Journal(options.journal) if world.rank == 0 else None
    session = _session(options, world)
    order = shuffled(len(plan), options.seed, options.launch)
    identity = {"launch": options.launch, "attempt": options.attempt}
    gc.freeze()  # what lives until the end is not looked at again between points
    world_line = _launch_line(options, world)
    if journal is not None:
        world_line["order"] = [plan[i].key for i in order]
        journal.append("launch", {**identity, "utc": utc_now(), **world_line})
    for number, point in enumerate(plan[i] for i in order):
        if journal is not None:
            journal.append("begin", {"key": point.key, **identity, "utc": utc_now()})
        began = now_ns()
        report = measure_point(session, point)
        elapsed_s = (now_ns() - began) * 1e-9
        if journal is not None:
            which = {"key": point.key, "id": point.id, **identity, "order": number}
            made = {"utc": utc_now(), "elapsed_s": elapsed_s}
            journal.append("record", {**which, **made, **record_entries(point, report)})
    if journal is not None:
        journal.append("end", {**identity, "utc": utc_now()})


def _session(options: Options, world: MPI.Intracomm) -> Session:
    host = world.Split_type(MPI.COMM_TYPE_SHARED, world.rank)
    barrier = start.dissemination(world)
    samples = SamplesFile(options.samples, options.samples_mode, world)
    return Session(world, world.Dup(), host.size, barrier, start.Starts(world, barrier), samples)


def _launch_line(options: Options, world: MPI.Intracomm) -> dict[str, Any]:
    """The world that the records share; collective, whole on rank 0."""
    hosts = world.gather(MPI.Get_processor_name())
    cpus = world.gather(sorted(os.sched_getaffinity(0)))
    return {
        "seed": options.seed,
        "ranks": options.ranks,
        "mpi_library": MPI.Get_library_version().strip("\0\n "),
        "runner": {
            "backend": BACKEND,
            "mpi4py": mpi4py.__version__,
            "numpy": np.__version__,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "thread_level": _THREAD_LEVELS[MPI.Query_thread()],
        },
        "hosts": hosts,
        "cpus": cpus,
        "clock": clock.description(),
        "load_average": os.getloadavg()[0],
        "runnable": runnable_tasks(),
    }
