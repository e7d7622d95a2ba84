"""The rule that ends a point's iterations, and what surrounds the timed call."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from collpress.runner.clock import now_ns
from collpress.runner.plan import Rule
from collpress.runner.statistics import Summary
from collpress.runner.timing import Limits, Operation, Timings, time_iterations
from collpress.runner.verdict import Verdict


class Alone:
    """A communicator of one rank."""

    rank, size = 0, 1

    def bcast(self, item: Any) -> Any:
        return item

    def allgather(self, item: Any) -> list[Any]:
        return [item]

    def Reduce(self, own: Any, of_all: Any, op: Any) -> None:  # noqa: N802 - mpi4py's name
        of_all[...] = own


class Buffers:
    def __init__(self) -> None:
        self.poisoned: list[bool] = []

    def prepare(self, poison: bool) -> None:
        self.poisoned.append(poison)


def limits(
    least: int = 10, most: int = 1000, precision: float = 1e-12, seconds: float = 60, at_least: float = 0
) -> Limits:
    now = now_ns()
    return Limits(
        Rule(0, least, most, precision, seconds, at_least), now + int(seconds * 1e9), now + int(at_least * 1e9), 1e-6
    )


def timed(rule: Limits, run: Any = lambda: None) -> tuple[Timings, Buffers]:
    buffers = Buffers()
    operation = Operation(run, buffers, nonblocking=False)  # type: ignore[arg-type]
    return time_iterations(Alone(), lambda: None, operation, rule), buffers  # type: ignore[arg-type]


def test_batches_double_the_iterations_and_each_ends_with_poison() -> None:
    never = -1.0  # nothing takes so little time that the clock cannot give it the same nanoseconds again and again
    timings, buffers = timed(limits(least=10, most=1000, precision=never))
    assert (timings.stop_reason, timings.start_ns.size) == ("max_iterations", 1000)
    ends = np.flatnonzero(buffers.poisoned) + 1
    assert list(ends) == [10, 20, 40, 80, 160, 320, 640, 1000]


def test_precision_ends_a_point_only_after_the_least_iterations() -> None:
    timings, _ = timed(limits(least=25, most=1000, precision=1e9))
    assert (timings.stop_reason, timings.start_ns.size, timings.precise) == ("precision", 25, True)


def test_a_point_that_is_precise_goes_on_for_its_least_time() -> None:
    assert limits().next_batch(10, True, 1e-9) == "precision"
    assert limits(at_least=60).next_batch(10, True, 1e-9) == 10
    assert limits(at_least=60).next_batch(1000, True, 1e-9) == "max_iterations"


def test_without_time_three_iterations_are_run() -> None:
    timings, _ = timed(limits(seconds=0))
    assert (timings.stop_reason, timings.start_ns.size) == ("time", 3)


def test_no_garbage_is_collected_while_the_clock_runs() -> None:
    seen = set()
    timed(limits(most=10), lambda: seen.add(gc.isenabled()))
    assert seen == {False}
    assert gc.isenabled()


def test_times_are_those_of_the_call_and_a_fault_is_told_after_the_batch() -> None:
    def run() -> None:
        raise ValueError("no")

    timings, buffers = timed(limits(), run)
    assert timings.verdict.reason == "ValueError: no"
    assert len(buffers.poisoned) == 10
    assert (timings.end_ns >= timings.start_ns).all()


@pytest.mark.parametrize(
    ("n", "precise", "expected"),
    [(10, False, 10), (40, False, 40), (5000, False, 1000), (990, False, 10), (1000, False, "max_iterations")],
)
def test_the_next_batch_is_as_long_as_what_was_run_within_limits(n: int, precise: bool, expected: object) -> None:
    rule = limits(most=1000 if n <= 1000 else 10**6)
    assert rule.next_batch(n, precise, 1e-9) == expected


def test_a_summary_is_precise_by_half_its_interval_over_the_median() -> None:
    facts = dict.fromkeys(("min", "p05", "p25", "p75", "p95", "p99", "max", "mean", "sd", "mad"), 0.0)
    summary = Summary(median=10.0, ci_low=9.0, ci_high=11.0, **facts)
    assert summary.reaches(0.1)
    assert not summary.reaches(0.099)
    assert Verdict().ok
