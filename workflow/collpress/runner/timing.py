"""The timed iterations of one point: batches, and the rule that ends them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from collpress.runner.buffers import CallBuffers
from collpress.runner.calls import Call
from collpress.runner.clock import now_ns
from collpress.runner.plan import Rule
from collpress.runner.start import Wait
from collpress.runner.statistics import summarise
from collpress.runner.verdict import Status, Verdict, agree

SMALLEST_BATCH, LARGEST_BATCH = 10, 1000
Integers = npt.NDArray[np.int64]


class Operation:
    """One collective call with its buffers, ready to be made again and again.

    Attributes
    ----------
    run : the call as it is timed: complete when it returns.
    start : of a non-blocking call, what returns its request; else None.
    verdict : the first fault so far.
    """

    def __init__(self, call: Call, buffers: CallBuffers, nonblocking: bool) -> None:
        self.start = call if nonblocking else None
        self.run: Callable[[], Any] = (lambda: call().Wait()) if nonblocking else call
        self.prepare = buffers.prepare
        self.verdict = Verdict()

    def prepare_usual(self) -> None:
        self.prepare(False)

    def note(self, error: Exception) -> None:
        """A rank that left the loop of iterations would leave the others waiting, so it goes on, and tells later."""
        if self.verdict.ok:
            self.verdict = Verdict(Status.FAILED, f"{type(error).__name__}: {error}")


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Python's collector of cyclic garbage runs before, and not during, what is timed."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True)
class Limits:
    """The rule, and moments of rank 0's clock: before `earliest_ns` only the deadline and the number of iterations end
    the timing. estimate_s : of one iteration, the start included, to size the first batch."""

    rule: Rule
    deadline_ns: int
    earliest_ns: int
    estimate_s: float

    def fitting(self, iteration_s: float) -> int:
        """Iterations that still fit before the deadline."""
        left_s = (self.deadline_ns - now_ns()) * 1e-9
        if left_s <= 0:
            return 0
        return LARGEST_BATCH if iteration_s <= 0 else int(min(left_s / iteration_s, 1e9))

    def first_batch(self) -> int:
        least, most = min(3, self.rule.min_iterations), min(self.rule.min_iterations, LARGEST_BATCH)
        return max(least, min(self.fitting(self.estimate_s), most))

    def next_batch(self, n: int, precise: bool, iteration_s: float) -> int | str:
        """Iterations of the next batch after `n`, or why there is none."""
        if n >= self.rule.min_iterations and precise and now_ns() >= self.earliest_ns:
            return "precision"
        if n >= self.rule.max_iterations:
            return "max_iterations"
        fit = self.fitting(iteration_s)
        wanted = max(SMALLEST_BATCH, min(n, LARGEST_BATCH))
        return min(wanted, self.rule.max_iterations - n, fit) or "time"


@dataclass
class Timings:
    """start_ns, end_ns : this rank's clock, one for each iteration. slowest_ns : rank 0: the maximum over ranks of
    end - start. verdict : agreed by all ranks."""

    start_ns: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    end_ns: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    slowest_ns: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    stop_reason: str = ""
    precise: bool = False
    verdict: Verdict = field(default_factory=Verdict)

    def slowest_s(self) -> npt.NDArray[np.float64]:
        return self.slowest_ns.astype(np.float64) * 1e-9


def time_iterations(comm: MPI.Intracomm, wait: Wait, operation: Operation, limits: Limits) -> Timings:
    """Collective. Batches double the number of iterations; after each, outside the timed region, rank 0 decides and
    tells the others, so all stop at the same iteration. Whatever the deadline, min(3, min_iterations) are run.

    Before the last iteration of each batch, and so before the very last one, the result buffer is poisoned, outside the
    timed region: a check of the last result cannot see an earlier one. That iteration is a sample like any other.
    """
    timings = Timings()
    decision: int | str = limits.first_batch()
    while True:
        decision = comm.bcast(decision)
        if isinstance(decision, str):
            timings.stop_reason = decision
            return timings
        began = now_ns()
        with no_garbage_collection():
            _batch(wait, operation, decision, timings)
        iteration_s = (now_ns() - began) * 1e-9 / decision
        _gather(comm, decision, timings)
        timings.verdict = agree(comm, operation.verdict)
        if not timings.verdict.ok:
            return timings
        if comm.rank == 0:
            timings.precise = summarise(timings.slowest_s()).reaches(limits.rule.precision)
            decision = limits.next_batch(timings.slowest_ns.size, timings.precise, iteration_s)


def _batch(wait: Wait, operation: Operation, iterations: int, timings: Timings) -> None:
    prepare, run, now = operation.prepare, operation.run, now_ns
    begins, ends = [0] * iterations, [0] * iterations
    for i in range(iterations):
        prepare(i + 1 == iterations)
        wait()
        begin = now()
        try:
            run()
        except Exception as error:  # told to the other ranks after the batch
            operation.note(error)
        end = now()
        begins[i], ends[i] = begin, end
    timings.start_ns = np.append(timings.start_ns, begins)
    timings.end_ns = np.append(timings.end_ns, ends)


def _gather(comm: MPI.Intracomm, iterations: int, timings: Timings) -> None:
    spent = (timings.end_ns - timings.start_ns)[-iterations:]
    slowest = np.empty_like(spent)
    comm.Reduce(spent, slowest, MPI.MAX)
    if comm.rank == 0:
        timings.slowest_ns = np.append(timings.slowest_ns, slowest)
