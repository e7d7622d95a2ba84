"""Clocks: how short a time they can tell."""

from __future__ import annotations

import time
from collections.abc import Callable

from collpress.doctor.mpi import Hello
from collpress.doctor.result import Result, ok, problem, skipped

COARSEST_S = 1e-6
"""A small allreduce on one machine takes about a microsecond: a coarser clock could not time it."""
_LOOKS = 200


def monotonic(clock: Callable[[], int] = time.monotonic_ns) -> Result:
    """The system's monotonic clock: the smallest step that is seen."""
    return _judged("monotonic clock", _smallest_step_s(clock), time.get_clock_info("monotonic").implementation)


def mpi_wtime(hello: Hello | None) -> Result:
    """MPI's own clock, as the program on two ranks saw it."""
    check = "MPI_Wtime"
    if hello is None:
        return skipped(check, "needs an MPI program that runs")
    return _judged(check, hello.step_s, f"MPI_Wtick says {hello.tick_s:.2g} s")


def _judged(check: str, step_s: float, what: str) -> Result:
    said = f"smallest step seen {step_s:.2g} s ({what})"
    if step_s > COARSEST_S:
        fix = "choose a finer clock source, such as tsc: /sys/devices/system/clocksource/clocksource0"
        return problem(check, said, fix)
    return ok(check, said)


def _smallest_step_s(clock: Callable[[], int]) -> float:
    smallest = 10**9
    for _ in range(_LOOKS):
        start = now = clock()
        while now == start:
            now = clock()
        smallest = min(smallest, now - start)
    return smallest / 1e9
