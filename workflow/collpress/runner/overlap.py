"""Overlap of a non-blocking collective with computation: three times and the percentages that benchmarks make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from collpress.runner.clock import now_ns
from collpress.runner.start import Wait
from collpress.runner.statistics import quantile

_TRIAL = 500


@dataclass(frozen=True)
class Overlap:
    """Medians over iterations of the largest time of a rank.

    pure_s : started and completed at once. compute_s : the computation alone, made to last as long. overlapped_s :
    started, computed, completed. omb_percent : as OSU Micro-Benchmarks, osu_i*. imb_percent : as Intel's, IMB-NBC.
    """

    iterations: int
    pure_s: float
    compute_s: float
    overlapped_s: float

    @property
    def omb_percent(self) -> float:
        return max(0.0, 100 * (1 - (self.overlapped_s - self.compute_s) / self.pure_s))

    @property
    def imb_percent(self) -> float:
        hidden = self.pure_s + self.compute_s - self.overlapped_s
        return 100 * min(1.0, max(0.0, hidden / max(self.pure_s, self.compute_s)))


def compute(rounds: int) -> float:
    """Arithmetic of the interpreter, in which neither memory nor the library has a part."""
    value = 1.0
    for _ in range(rounds):
        value = value * 0.999999 + 1e-6
    return value


def rounds_for(seconds: float) -> int:
    """Rounds that take so long on this rank: by the fastest of a few trials."""
    spent = []
    for _ in range(20):
        began = now_ns()
        compute(_TRIAL)
        spent.append(now_ns() - began)
    return max(1, int(seconds / (max(min(spent), 1) * 1e-9 / _TRIAL)))


def measure_overlap(
    comm: MPI.Intracomm,
    wait: Wait,
    iterations: int,
    seconds: float,
    pure_estimate_s: float,
    prepare: Callable[[], None],
    start: Callable[[], MPI.Request],
) -> Overlap | None:
    """Collective; None but on rank 0. At most so many iterations, and no ten more after so many seconds on rank 0.
    The three kinds alternate, so that what drifts, drifts for all.

    `prepare` is called before each, outside of its time; `pure_estimate_s` (rank 0's counts) sizes the computation.
    """
    rounds, last = rounds_for(comm.bcast(pure_estimate_s)), now_ns() + int(seconds * 1e9)
    spent = np.empty((3, iterations), np.int64)
    for i in range(iterations):
        if i and i % 10 == 0 and comm.bcast(now_ns() > last):
            spent = spent[:, :i].copy()
            break
        for kind in range(3):
            prepare()
            wait()
            began = now_ns()
            request = None if kind == 1 else start()
            if kind != 0:
                compute(rounds)
            if request is not None:
                request.Wait()
            spent[kind, i] = now_ns() - began
    slowest = np.empty_like(spent)
    comm.Reduce(spent, slowest, MPI.MAX)
    if comm.rank != 0:
        return None
    pure, alone, both = (quantile(times, 0.5) for times in np.sort(slowest, axis=1) * 1e-9)
    return Overlap(spent.shape[1], pure, alone, both)
