"""The batch supervisor: brings every point of a batch to one visible status.

Reads the frozen batch index only. What the journals of the campaign hold already is not measured again. A core that
dies is charged to the point that was open; the rest is relaunched. A point that took the core down is not tried again
within the attempt, and a launch that does not even begin, several times in a row, ends the attempt: there is no
endless loop.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.execute.attempt import Attempt
from collpress.execute.batch import Batch, BatchPoint
from collpress.execute.core import CoreRun, Outcome
from collpress.execute.hosts import Made, made_hosts
from collpress.execute.launcher import Launcher, session
from collpress.execute.link import TOLERANCE, Link, measure_link
from collpress.execute.lock import holder
from collpress.execute.progress import Progress
from collpress.execute.proof import Proof, of_the_library, prove
from collpress.execute.receipt import Spent, write_receipt
from collpress.execute.signals import Interruption
from collpress.files import write_json
from collpress.plan.built import find_mpiexec, read_build
from collpress.provenance import observe
from collpress.provenance.namespaces import MEDIA
from collpress.records.journal import Journals, read_campaign
from collpress.records.schema import Record
from collpress.records.status import Status

FALSE_STARTS = 3
"""So often in a row may the core die before it begins a point."""


@dataclass(frozen=True)
class Swept:
    """How a sweep ended: `stopped_by` is the signal that cut it short, or None."""

    journals: Journals
    receipt: Path | None
    stopped_by: int | None


def sweep(batch: Batch, directory: Path) -> Swept:
    """Measure what is missing of a batch.

    Parameters
    ----------
    directory : `results/campaigns/<campaign>/<platform>`.

    Raises
    ------
    CollpressError : nothing can be written there, a journal is damaged, or the build is missing.
    """
    began = time.monotonic()
    journals = read_campaign(directory)
    missing = {
        launch: [point for point in batch.points if not journals.done(point.key, launch)]
        for launch in range(batch.launches)
    }
    own = directory / "batches" / batch.batch
    stopped_by, spent = None, None
    if any(missing.values()):
        mpi = read_build(batch.build)["mpi"]
        attempt = Attempt(own)
        with Interruption(holder(directory)) as interruption, session() as folders, ExitStack() as made:
            hosts = made.enter_context(made_hosts(batch.hosts.kind, batch.hosts.rate)) if batch.hosts else None
            launcher = _launcher(batch, mpi, hosts)
            link = measure_link(launcher, batch.core, folders, hosts.rate) if hosts and hosts.rate else None
            write_json(own / f"provenance-{attempt.number}.json", _observed(batch, hosts, link))
            refusal = _refusal(link, batch)
            library = of_the_library({p.key: p for points in missing.values() for p in points}.values())
            proofs = prove(batch, launcher, folders, [] if refusal else library, own / f"proof-{attempt.number}.jsonl")
            supervisor = Supervisor(batch, attempt, missing, proofs, refusal)
            supervisor.run(CoreRun(batch, launcher, attempt, folders, interruption, supervisor.note))
            stopped_by = interruption.requested
        for record in supervisor.records:
            journals.add(record)
        spent = Spent(time.monotonic() - began, sum(record.measuring_s or 0.0 for record in supervisor.records))
    receipt = None if stopped_by else write_receipt(own, batch, journals, spent)
    return Swept(journals, receipt, stopped_by)


def _launcher(batch: Batch, mpi: dict[str, Any], hosts: Made | None) -> Launcher:
    kind = mpi.get("kind", "openmpi")
    return Launcher(find_mpiexec(mpi["wrapper"]), batch.ranks, batch.binding, batch.environment, kind, hosts)


def _observed(batch: Batch, hosts: Made | None, link: Link | None) -> dict[str, Any]:
    """Provenance, with how the ranks were started."""
    launch: dict[str, Any] = {"environment": batch.environment, "binding": batch.binding}
    if hosts is not None and batch.hosts is not None:
        launch["hosts"] = {
            "kind": batch.hosts.kind,
            "medium": MEDIA[batch.hosts.kind],
            "names": list(hosts.names),
            "nodes": batch.nodes,
            "rate": hosts.rate,
            "link": link.as_json() if link else None,
        }
    return {**observe(batch.build), "launch": launch}


def _refusal(link: Link | None, batch: Batch) -> str | None:
    """Why nothing can be measured this time: the link is not the one that the platform promises."""
    if link is None or batch.hosts is None or link.verdict == "met":
        return None
    return (
        f"the throttled link ({MEDIA[batch.hosts.kind]}) gives {link.measured / 1e6:.0f} Mbit/s, which is not within "
        f"{TOLERANCE:.0%} of {link.rate / 1e6:.0f}, in a pingpong of {link.message_bytes} bytes: the machine is busy, "
        "or too slow for that rate"
    )


class Supervisor:
    """The launches of one attempt, one after the other."""

    def __init__(
        self,
        batch: Batch,
        attempt: Attempt,
        missing: dict[int, list[BatchPoint]],
        proofs: Mapping[str, Proof],
        wrong_link: str | None = None,
    ) -> None:
        """`wrong_link`: why what would be measured would be no number of this platform."""
        self.batch, self.attempt, self.missing, self.proofs = batch, attempt, missing, proofs
        self.records: list[Record] = []
        self._given_up: dict[str, str] = {}
        self._wrong_link, self._hopeless = wrong_link, ""
        self._launch = self._points = self._points_done = 0
        planned = sum(map(len, missing.values()))
        self._progress = Progress(f"measuring on {batch.ranks} ranks", planned, batch.launches)

    def note(self, record: Record) -> None:
        """Count a record, whoever wrote it."""
        self.records.append(record)
        self._progress.done += 1
        self._points_done += 1
        self._progress.show(self._launch, self._points_done, self._points)

    def run(self, core: CoreRun) -> None:
        """Go through all launches; afterwards every missing measurement has a record."""
        for launch, points in self.missing.items():
            self._launch, self._points, self._points_done = launch, len(points), 0
            wanted = {point.key: self._told(point) for point in points}
            for key, proof in self.proofs.items():
                if key in wanted and proof.fell_back:
                    self._charge(wanted.pop(key), Status.UNSUPPORTED, str(proof.reason))
            for key in wanted.keys() & self._given_up.keys():
                self._charge(wanted.pop(key), Status.NOT_RUN, self._given_up[key])
            while wanted:
                self._once(core, wanted)
        self._progress.close()

    def _told(self, point: BatchPoint) -> BatchPoint:
        """The point with what is known of the algorithm that the library runs for it."""
        proof = self.proofs.get(point.key)
        return point if proof is None else point.model_copy(update={"line": {**point.line, **proof.entries()}})

    def _once(self, core: CoreRun, wanted: dict[str, BatchPoint]) -> None:
        """Start the core once with what is left of this launch, and strike out what became of it."""
        if core.interruption.requested:
            self._charge_all(wanted, Status.CANCELLED, "the sweep was stopped")
            return
        if self._wrong_link:
            self._charge_all(wanted, Status.INVALID, self._wrong_link)
            return
        if self._hopeless:
            self._charge_all(wanted, Status.FAILED, self._hopeless)
            return
        outcome = self._start(core, wanted)
        if outcome is None or outcome.interrupted:
            return
        if outcome.opened in wanted:
            self._give_up(wanted.pop(outcome.opened), outcome)
        elif outcome.rejected is not None:
            self._give_up(wanted.pop(list(wanted)[outcome.rejected]), outcome)
        elif wanted and outcome.code == 0:
            self._charge_all(wanted, Status.FAILED, "the core ended without a record of this point")

    def _start(self, core: CoreRun, wanted: dict[str, BatchPoint]) -> Outcome | None:
        """Start the core until a point begins; None, with the launch given up, when none does."""
        for _ in range(FALSE_STARTS):
            outcome = core.measure(self._launch, list(wanted.values()))
            for key in outcome.recorded:
                wanted.pop(key, None)
            settled = outcome.code == 0 or outcome.rejected is not None or outcome.interrupted
            if outcome.came_to_something or settled:
                return outcome
            if outcome.hopeless:
                break
        self._hopeless = f"the launch fails: {outcome.reason}"
        self._progress.say(self._hopeless)
        return None

    def _give_up(self, point: BatchPoint, outcome: Outcome) -> None:
        elapsed_s = time.monotonic() - outcome.opened_at if outcome.opened else None
        self._charge(point, outcome.status, outcome.reason, elapsed_s)
        self._given_up[point.key] = f"{outcome.status} in launch {self._launch} of this attempt"
        self._progress.say(f"{outcome.status}: {point.line.get('algorithm')}: {outcome.reason}")

    def _charge_all(self, wanted: dict[str, BatchPoint], status: Status, reason: str) -> None:
        for key in list(wanted):
            self._charge(wanted.pop(key), status, reason)

    def _charge(self, point: BatchPoint, status: Status, reason: str, elapsed_s: float | None = None) -> None:
        self.note(self.attempt.charge(point, self._launch, status, reason, elapsed_s))
