"""One start of the core: launched, watched, ended; and in words how it ended."""

from __future__ import annotations

import re
import select
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.attempt import Attempt
from collpress.execute.batch import Batch, BatchPoint
from collpress.execute.description import how_it_ended
from collpress.execute.launcher import Launcher, Session
from collpress.execute.planfile import write_plan
from collpress.execute.processes import ask_for_stacks, dies_with_parent, end_session, oom_kills
from collpress.execute.signals import Interruption
from collpress.records.schema import Begin, End, Record
from collpress.records.status import Status

BAD_PLAN, WRONG_SIZE = 2, 4
"""Exit codes of the core that no second try can better."""
_LOOK_EVERY_S = 0.25
_TOLD_LINES = 3
_KEPT_BYTES = 65536
_NOISE = re.compile(
    r"^[-*=\s]*$|^\{|prterun|You can avoid this message|^\s*line\.$"
    r"|^=   |EXIT STRING:|^This typically refers|^Please see the FAQ|^\[(?:mpiexec|proxy)[:@]"
    r"|^\[[^\]]*\] \[ ?\d+\]|\*\*\* (?:Process received|End of error)|^(?:prterun|mpiexec|mpirun) noticed"
)
_SIGNALLED = re.compile(r"EXIT STRING: .*\(signal (\d+)\)")
"""MPICH's launcher ends with the signal's bare number."""
_FRAME = re.compile(r"^-{20,}$", re.MULTILINE)
_LAUNCHERS = re.compile(r"(?:prterun|mpiexec|mpirun) (?:has exited|noticed)|MPI_ABORT was invoked")
"""Open MPI's launcher says in frames of dashes that a job ended badly; the job itself has said why, in most cases."""
_WHOSE = re.compile(r"^\[[^\]]*:\d+\] | with PID \d+ on node \S+")
_STACK = "is here:"
"""Ranks that gave no sign of life say where they are."""


def telling(said: str) -> list[str]:
    """The lines of what the core and its launcher printed that tell why it ended, without process ids; each once."""
    frames = _FRAME.split(said)
    own = [line for frame in frames if not _LAUNCHERS.search(frame) for line in frame.splitlines()]
    lines = [line for line in own if not _NOISE.search(line)]
    if not lines:
        lines = [" ".join(frame.split()).partition(". ")[0] for frame in frames if _LAUNCHERS.search(frame)]
    return list(dict.fromkeys(_WHOSE.sub("", line).strip() for line in lines))


@dataclass
class Outcome:
    """What one start of the core came to.

    recorded : keys of the points that have a record now.
    opened : key of the point that was open at the end, since `opened_at` (monotonic seconds).
    code : how the launcher ended; None when it could not even be started.
    status, reason : what to charge the open point with, or why nothing began.
    rejected : position among the points of the one that the core refuses to read.
    """

    recorded: list[str] = field(default_factory=list)
    opened: str | None = None
    opened_at: float = 0.0
    code: int | None = None
    status: Status = Status.CRASHED
    reason: str = ""
    rejected: int | None = None
    interrupted: bool = False

    @property
    def came_to_something(self) -> bool:
        return bool(self.recorded) or self.opened is not None

    @property
    def hopeless(self) -> bool:
        """Whether the next start would end the same way."""
        return self.rejected is None and self.code in {None, BAD_PLAN, WRONG_SIZE}


class CoreRun:
    """Starts the core with a plan and follows the journal until every process of it is gone."""

    def __init__(
        self,
        batch: Batch,
        launcher: Launcher,
        attempt: Attempt,
        session: Session,
        interruption: Interruption,
        on_record: Callable[[Record], None],
    ) -> None:
        self.batch, self.launcher, self.attempt = batch, launcher, attempt
        self.session, self.interruption, self.on_record = session, interruption, on_record
        self.plan = attempt.directory / "plan.tsv"
        self.log = session.temporary / "core.log"
        self._mark = f"TMPDIR={session.temporary}"

    def measure(self, launch: int, points: list[BatchPoint]) -> Outcome:
        """Measure these points in one launch, as far as the core gets."""
        outcome = Outcome()
        write_plan(self.plan, ({"key": point.key, "id": point.id, **point.line} for point in points))
        killed_before = oom_kills()
        try:
            command = self.launcher.command(self.batch.program, self._arguments(launch))
        except CollpressError as error:
            outcome.status, outcome.reason = Status.FAILED, f"{error.where}: {error.what} (to mend it: {error.fix})"
            return outcome
        by_key = {point.key: point for point in points}
        stalled = self._watch(command, by_key, outcome)
        self._take(outcome)
        self.attempt.drop_torn_line()
        self._explain(outcome, stalled, oom_kills() > killed_before)
        return outcome

    def _arguments(self, launch: int) -> list[str]:
        attempt, batch = self.attempt, self.batch
        arguments = [
            *batch.first_arguments,
            "--plan",
            str(self.plan),
            "--journal",
            str(attempt.journal),
            "--launch",
            str(launch),
        ]
        arguments += ["--attempt", str(attempt.number), "--seed", str(batch.seed), "--ranks", str(batch.ranks)]
        if batch.samples != "none":
            samples = attempt.directory / f"samples-{attempt.number}-{launch}.bin"
            arguments += ["--samples", str(samples), "--samples-mode", batch.samples]
        if any(point.line.get("instrumented", "0") != "0" and "plugin" in point.line for point in batch.points):
            arguments += ["--traces", str(attempt.directory / f"traces-{attempt.number}-{launch}.jsonl")]
        return [str(Path(word).absolute()) if word.startswith(str(attempt.directory)) else word for word in arguments]

    def _watch(self, command: list[str], by_key: dict[str, BatchPoint], outcome: Outcome) -> bool:
        """Wait for the end; True when the core had to be killed because it gave no sign of life."""
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.launcher.variables(self.session),
                start_new_session=True,
                preexec_fn=dies_with_parent(),
            )
        heard = time.monotonic()
        try:
            while process.poll() is None and not self.interruption.requested:
                select.select([self.interruption.wakeup], [], [], _LOOK_EVERY_S)
                self.interruption.clear()
                if self._take(outcome):
                    heard = time.monotonic()
                point = by_key.get(outcome.opened) if outcome.opened else None
                if time.monotonic() - heard > self.batch.limit_s(point):
                    ask_for_stacks(process.pid, self.batch.program.name, self._mark)
                    return True
            outcome.interrupted = self.interruption.requested is not None
            return False
        finally:
            end_session(process.pid, mark=self._mark)
            outcome.code = process.wait()

    def _take(self, outcome: Outcome) -> bool:
        """Read what is new in the journal; whether there was anything."""
        anything = False
        for line in self.attempt.news():
            anything = True
            if isinstance(line, Begin):
                outcome.opened, outcome.opened_at = line.key, time.monotonic()
            elif isinstance(line, Record):
                outcome.opened = None
                outcome.recorded.append(line.key)
                self.on_record(line)
            elif isinstance(line, End):
                outcome.opened = None
        return anything

    def _explain(self, outcome: Outcome, stalled: bool, memory_ran_out: bool) -> None:
        said = self._said()
        if said.strip() and outcome.code:
            with self._kept.open("a", encoding="utf-8") as kept:
                kept.write(said)
        signalled = _SIGNALLED.search(said)
        how = how_it_ended(-int(signalled[1]) if signalled else outcome.code or 0)
        refused = re.search(re.escape(str(self.plan.absolute())) + r":(\d+):.*", said)
        if refused and outcome.code == BAD_PLAN:
            outcome.rejected, outcome.status, outcome.reason = int(refused[1]) - 2, Status.FAILED, refused[0]
            return
        if stalled:
            outcome.status, how = Status.TIMED_OUT, "no sign of life, killed"
        elif "std::bad_alloc" in said or (memory_ran_out and "SIGKILL" in how):
            outcome.status, how = Status.OUT_OF_MEMORY, f"out of memory ({how})"
        elif not outcome.opened:
            outcome.status = Status.FAILED
        if stalled and _STACK in said:
            outcome.reason = f"{how}; where each rank was stands in {self._kept.name}"
            return
        last = " | ".join(telling(said)[-_TOLD_LINES:])
        outcome.reason = f"{how}: {last}" if last else how

    @property
    def _kept(self) -> Path:
        """Where what was printed is kept."""
        return self.attempt.directory / f"core-{self.attempt.number}.log"

    def _said(self) -> str:
        """The end of what the core and its launcher printed."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - _KEPT_BYTES))
            return file.read().decode("utf-8", "replace")
