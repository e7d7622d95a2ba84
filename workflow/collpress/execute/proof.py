"""What the library really ran: a launch of the core of its own before the measuring ones, for its counters cost time.

Its answer goes into the plan lines, from where the core repeats it in each record. An algorithm in whose place the
library ran another one is not measured: a time would stand under the wrong name.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.batch import Batch, BatchPoint
from collpress.execute.launcher import Launcher, Session
from collpress.execute.planfile import write_plan
from collpress.execute.processes import dies_with_parent, end_session

COUNTERS = {"OMPI_MCA_pml_monitoring_enable": "1"}
"""Makes Open MPI count the messages of each pair of ranks; other libraries do not know it."""
_PATIENCE_S = 60.0
_POINT_S = 2.0


@dataclass(frozen=True)
class Proof:
    """One point's: `verdict` and `evidence` as in docs/contracts.md; `reason` where the verdict needs one."""

    verdict: str
    evidence: str
    consistent_with: tuple[str, ...]
    reason: str | None

    @property
    def fell_back(self) -> bool:
        return self.verdict == "fell back"

    def entries(self) -> dict[str, str]:
        """What the plan line tells the core; nothing where nothing could be seen."""
        if self.verdict not in {"verified", "consistent"} or not self.consistent_with:
            return {}
        proof = self.evidence if self.verdict == "verified" else "consistent"
        return {"proof": proof, "consistent_with": "\n".join(self.consistent_with)}


def of_the_library(points: Iterable[BatchPoint]) -> list[BatchPoint]:
    """The points whose algorithm is the library's own, called by the native core."""
    return [
        point
        for point in points
        if str(point.line.get("algorithm", "")).startswith("library:") and point.line.get("backend", "mpi") == "mpi"
    ]


def prove(
    batch: Batch, launcher: Launcher, folders: Session, points: Sequence[BatchPoint], path: Path
) -> dict[str, Proof]:
    """The proofs, by key; a point without one is as unverified as before. What the core writes is kept in `path`."""
    if not points:
        return {}
    plan = path.with_name("proof.tsv")
    write_plan(plan, ({"key": point.key, "id": point.id, **point.line} for point in points))
    references = batch.core.absolute().parent / "plugins" / "reference"
    arguments = ["--prove", str(plan.absolute()), "--journal", str(path.absolute()), "--ranks", str(batch.ranks)]
    try:
        command = launcher.command(batch.core, [*arguments, "--references", str(references)])
    except CollpressError:
        return {}  # measuring will say it
    _run(command, {**launcher.variables(folders), **COUNTERS}, folders, _PATIENCE_S + _POINT_S * len(points))
    return dict(_read(path))


def _run(command: list[str], environment: dict[str, str], folders: Session, limit_s: float) -> None:
    with (folders.temporary / "proof.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=dies_with_parent(),
        )
    try:
        process.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        end_session(process.pid, mark=f"TMPDIR={folders.temporary}")
        process.wait()


def _read(path: Path) -> Iterable[tuple[str, Proof]]:
    """Whole lines only: the core may have died in the middle of one."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            continue
        found = json.loads(line)
        consistent = tuple(map(str, found["consistent_with"]))
        yield str(found["key"]), Proof(found["verdict"], found["evidence"], consistent, found["reason"])
