"""One point, measured: every step, and what all ranks agree on after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from collpress.collectives import REDUCING
from collpress.runner import calls, start
from collpress.runner.buffers import CallBuffers
from collpress.runner.check import CheckResult, are_identical, bits_of, check_result
from collpress.runner.clock import now_ns
from collpress.runner.overlap import measure_overlap
from collpress.runner.plan import PlanPoint
from collpress.runner.record import Report, Times
from collpress.runner.reductions import OPERATIONS, make_operation
from collpress.runner.resources import Moment, available_memory, judge_noise, total_usage
from collpress.runner.samples import SamplesFile
from collpress.runner.statistics import quantile, summarise
from collpress.runner.timing import Limits, Operation, Timings, no_garbage_collection, time_iterations
from collpress.runner.values import Values, unique_bytes
from collpress.runner.verdict import PointError, Status, Verdict, agree, agree_and_share, attempt


@dataclass(frozen=True)
class Session:
    """What outlives a point. `world` is for everything outside timed regions, `library` for what is timed.

    ranks_on_host : those of this machine. barrier : the dissemination barrier.
    """

    world: MPI.Intracomm
    library: MPI.Intracomm
    ranks_on_host: int
    barrier: start.Wait
    starts: start.Starts
    samples: SamplesFile

    @property
    def one_host(self) -> bool:
        return self.ranks_on_host == self.world.size


class _EndedError(Exception):
    """Ends the point on all ranks with the verdict that they agreed on."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.reason)


def measure_point(session: Session, point: PlanPoint) -> Report:
    """Collective; the report is whole on rank 0."""
    run = _PointRun(session, point)
    try:
        run.measure()
    except _EndedError as ended:
        run.report.verdict = ended.verdict
    finally:
        run.free()
    return run.report


class _PointRun:
    def __init__(self, session: Session, point: PlanPoint) -> None:
        self.session, self.point, self.world = session, point, session.world
        self.began_ns = now_ns()
        self.report = Report(Verdict())
        self._own_op: MPI.Op | None = None

    def measure(self) -> None:
        self._go_on(agree(self.world, attempt(self._prepare)))
        first_check = self._check_before()
        self._warm_up()
        self._time()
        self._judge(first_check, self._check())
        self._account_overlap()

    def free(self) -> None:
        if self._own_op is not None:
            self._own_op.Free()

    def _go_on(self, verdict: Verdict) -> None:
        """`verdict` of all ranks."""
        if not verdict.ok:
            raise _EndedError(verdict)

    def _prepare(self) -> None:
        self._load()
        self._allocate()

    def _load(self) -> None:
        point, ranks = self.point, self.world.size
        if point.message_bytes % point.dtype.bytes:
            self._decline(f"{point.message_bytes} bytes are no whole number of {point.dtype.name} values")
        if point.root >= ranks:
            self._decline(f"rank {point.root} cannot be root of {ranks} ranks")
        if point.collective == "pingpong" and ranks < 2:
            self._decline("pingpong needs at least 2 ranks")
        if point.cold:
            self._decline("the backend mpi4py cannot flush the processor's caches, so it has no cold buffers")
        exchange = point.exchange(ranks)
        for refusal in (calls.refusal(point, exchange), start.refusal(point.sync)):
            if refusal is not None:
                self._decline(refusal)
        self.values = Values(point, exchange)
        self.report.total_bytes = sum(exchange.contributions()) * point.dtype.bytes
        self.report.unique_bytes = unique_bytes(point, exchange)

    def _decline(self, reason: str) -> None:
        raise PointError(Status.UNSUPPORTED, reason)

    def _allocate(self) -> None:
        point, session = self.point, self.session
        available, on_host = available_memory(), session.ranks_on_host
        needed = CallBuffers.bytes_of_all(point, self.values) * on_host // self.world.size
        if available is not None and needed > available:
            told = f"need {needed} bytes; this machine has {available} available"
            raise PointError(Status.OUT_OF_MEMORY, f"the buffers of {on_host} ranks {told}")
        self.buffers = CallBuffers(point, self.values, self.world.rank)
        op = None
        if point.collective in REDUCING:
            if calls.user_operation(point):
                self._own_op = make_operation(point.dtype, point.op)
            op = self._own_op or OPERATIONS[point.op]
            self.report.operation = "user-defined" if self._own_op else "built-in"
        call = calls.bind(session.library, point, self.values.exchange, self.buffers, op)
        self.operation = Operation(call, self.buffers, point.nonblocking)

    def _check(self) -> CheckResult:
        """Of all ranks together."""
        own = CheckResult()
        bits: list[bytes | None] = []

        def look() -> None:
            own.merge(check_result(self.values, self.point.op, self.world.rank, self.buffers.recv))
            bits.append(bits_of(self.values, self.world.rank, self.buffers.recv))

        verdict = attempt(look) if self.operation.verdict.ok else self.operation.verdict
        verdict, results = agree_and_share(self.world, verdict, (own, bits))
        self._go_on(verdict)
        result = CheckResult(identical=are_identical(one for _, found in results for one in found))
        for one, _ in results:
            result.merge(one)
        return result

    def _check_before(self) -> CheckResult:
        self.operation.prepare(True)
        self.session.barrier()
        began = now_ns()
        self._run_once()
        self.session.barrier()
        self.first_call_s = (now_ns() - began) * 1e-9
        checking = now_ns()
        result = self._check()
        self.check_s = (now_ns() - checking) * 1e-9
        return result

    def _run_once(self) -> None:
        try:
            self.operation.run()
        except Exception as error:  # told to the other ranks by whoever called
            self.operation.note(error)

    def _left_s(self) -> float:
        return self.point.rule.at_most_s - (now_ns() - self.began_ns) * 1e-9

    def _warm_up(self) -> None:
        """So many iterations, and for half of the time that measuring shall take at least; at most a quarter of the
        time that is left. In growing blocks: the first calls on a communicator may be much slower than all others.
        Like everything that depends on time, rank 0 decides."""
        began, most_s, least_s = now_ns(), max(self._left_s(), 0.0) / 4, self.point.rule.at_least_s / 2
        self.iteration_s = self.first_call_s
        done = 0
        with no_garbage_collection():
            while block := self.world.bcast(self._warm_up_block(done, (now_ns() - began) * 1e-9, least_s, most_s)):
                block_began = now_ns()
                for _ in range(block):
                    self.operation.prepare(False)
                    self.session.barrier()
                    self._run_once()
                self.iteration_s = (now_ns() - block_began) * 1e-9 / block
                done += block
        self.report.warmup = done
        self.report.measuring_s += (now_ns() - began) * 1e-9

    def _warm_up_block(self, done: int, spent_s: float, least_s: float, most_s: float) -> int:
        """Iterations of the next block; 0 ends the warm-up."""

        def fit(seconds: float) -> int:
            return int(min(max((seconds - spent_s) / max(self.iteration_s, 1e-9), 0.0), 1e9))

        missing = max(self.point.rule.warmup - done, 0)
        return min(max(missing, fit(least_s)), fit(most_s), max(2 * done, 1))

    def _time(self) -> None:
        point, world = self.point, self.world
        deadline = self.began_ns + int((min(point.rule.at_most_s, 1e6) - self.check_s) * 1e9)
        began = now_ns()
        wait = self.session.starts.of(point.sync)
        earliest = now_ns() + int(point.rule.at_least_s / 2 * 1e9)
        limits = Limits(point.rule, deadline, earliest, self.iteration_s)
        before = Moment.now()
        timings = time_iterations(world, wait, self.operation, limits)
        self.report.measuring_s += (now_ns() - began) * 1e-9
        spent = before.spent()
        self._go_on(timings.verdict)
        n, own_ns = timings.start_ns.size, int((timings.end_ns - timings.start_ns).sum())
        told = world.gather((own_ns, spent))
        skew_s = self._start_skew(timings)
        self.report.samples = self.session.samples.append(timings)
        if told is not None:
            mean_s = sum(own_ns for own_ns, _ in told) * 1e-9 / (n * world.size)
            of_all = [one for _, one in told]
            noise, used = judge_noise(of_all, n, timings.precise), total_usage(of_all)
            summary = summarise(timings.slowest_s())
            self.report.times = Times(summary, n, timings.stop_reason, mean_s, skew_s, noise, used)

    def _start_skew(self, timings: Timings) -> float | None:
        """Median over iterations of (last start - first start); clocks of different machines cannot be compared."""
        if not self.session.one_host:
            return None
        both = np.stack([timings.start_ns, -timings.start_ns])
        latest = np.empty_like(both)
        self.world.Reduce(both, latest, MPI.MAX)
        return quantile(np.sort(latest.sum(axis=0) * 1e-9), 0.5) if self.world.rank == 0 else None

    def _judge(self, first: CheckResult, last: CheckResult) -> None:
        """The worse of the two checks is recorded; a wrong result is `invalid`, and keeps its times."""
        last_was_worse = last.worse_than(first)
        result = last if last_was_worse else first
        result.identical = first.identical and last.identical
        self.report.check = result
        if not result.wrong or result.worst is None:
            return
        which = "the last timed iteration" if last_was_worse else "the check before timing"
        worst = result.worst
        self.report.verdict = Verdict(
            Status.INVALID,
            f"the result of {which} is wrong in {result.wrong} elements over all ranks; the worst: rank {worst.rank}, "
            f"element {worst.index}: got {worst.got:.9g}, expected {worst.expected:.9g} within {worst.allowed:.9g}",
        )

    def _account_overlap(self) -> None:
        """As many iterations as fit once more into half of the point's time, three kinds of them."""
        if self.operation.start is None:
            return
        seconds = self.point.rule.at_most_s / 2
        fit = min(max(seconds / max(4 * self.iteration_s, 1e-9), 3.0), 1000.0)
        median = self.report.times.summary.median if self.report.times else 0.0  # rank 0's counts
        iterations = self.world.bcast(int(fit))
        with no_garbage_collection():
            self.report.overlap = measure_overlap(
                self.world,
                self.session.barrier,
                iterations,
                seconds,
                median,
                self.operation.prepare_usual,
                self.operation.start,
            )
