"""What a throttled link gives: a pingpong of the core across it, before anything else is measured.

One message is on its way at a time, so that it is the rate of one direction, also of a loopback that both share.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.launcher import Launcher, Session
from collpress.execute.namespaces import burst
from collpress.execute.planfile import write_plan
from collpress.execute.processes import dies_with_parent, end_session

TOLERANCE = 0.03
"""A link that is further off the rate that was asked for is not that link: nothing is measured on it."""
TRIES = 3
_BURSTS = 64
"""A message so much longer than the bucket shows the rate within 2 %."""
_PATIENCE_S = 60


@dataclass(frozen=True)
class Link:
    """What was asked for and what was found, in bit/s; `message_bytes` each way, `median_s` for both ways.

    verdict : `met` (within `TOLERANCE`) or `missed`.
    """

    rate: int
    measured: float
    message_bytes: int
    median_s: float
    verdict: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure_link(launcher: Launcher, core: Path, session: Session, rate: int) -> Link:
    """The best of up to `TRIES` pingpongs between the first and the last rank.

    Raises
    ------
    CollpressError : the pingpong itself does not run.
    """
    found = [_pingpong(launcher, core, session, rate)]
    while found[-1].verdict != "met" and len(found) < TRIES:
        found.append(_pingpong(launcher, core, session, rate))
    return min(found, key=lambda link: abs(link.measured / link.rate - 1))


def judge(rate: int, message_bytes: int, median_s: float) -> Link:
    """A link by the time of a message there and back."""
    measured = 2 * 8 * message_bytes / median_s
    off = abs(measured / rate - 1)
    return Link(rate, measured, message_bytes, median_s, "met" if off <= TOLERANCE else "missed")


def _pingpong(launcher: Launcher, core: Path, session: Session, rate: int) -> Link:
    size = _BURSTS * burst(rate)
    plan, journal = session.temporary / "link.tsv", session.temporary / "link.jsonl"
    line = {"key": "0" * 32, "id": "0" * 32, "collective": "pingpong", "algorithm": "library:default", "bound": "none"}
    line |= {"dtype": "float32", "op": "sum", "message_bytes": str(size), "data": "pattern", "warmup": "2"}
    line |= {"min_iterations": "5", "max_iterations": "10", "precision": "0.01", "at_most": "10.0", "instrumented": "0"}
    write_plan(plan, [line])
    journal.write_bytes(b"")
    arguments = ["--plan", str(plan), "--journal", str(journal), "--launch", "0", "--attempt", "1", "--seed", "0"]
    said = _run(launcher, core, [*arguments, "--ranks", str(launcher.ranks)], session)
    records = [json.loads(text) for text in journal.read_text(encoding="utf-8").splitlines()]
    record = next((r for r in records if r["kind"] == "record"), None)
    if record is None or record["status"] != "ok":
        reason = record["reason"] if record else (said.strip().splitlines() or ["it said nothing"])[-1]
        raise CollpressError(f"the pingpong over the throttled link fails: {reason}", fix="see docs/platforms.md")
    return judge(rate, size, float(record["time_s"]["median"]))


def _run(launcher: Launcher, core: Path, arguments: list[str], session: Session) -> str:
    process = subprocess.Popen(
        launcher.command(core, arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=launcher.variables(session),
        start_new_session=True,
        preexec_fn=dies_with_parent(),
    )
    try:
        return process.communicate(timeout=_PATIENCE_S)[0]
    except subprocess.TimeoutExpired:
        return f"no answer within {_PATIENCE_S} s"
    finally:
        end_session(process.pid, mark=f"TMPDIR={session.temporary}")
        process.wait()
