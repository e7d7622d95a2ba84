"""A campaign of one batch in a folder with a space and an accent, with stand-ins for mpiexec and the core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.execute.batch import Batch, read_batch
from collpress.execute.supervisor import Swept, sweep
from collpress.layout import ROOT
from collpress.records import Journals, Status, read_campaign

BATCH = "0123456789abcdef"


@dataclass
class StandIn:
    """Paths of the campaign, and ways to sweep its batch."""

    root: Path

    @property
    def directory(self) -> Path:
        return self.root / "results" / "campaigns" / "made-up" / "here"

    @property
    def own(self) -> Path:
        return self.directory / "batches" / BATCH

    @property
    def index(self) -> Path:
        return self.directory / "plan" / "batches" / f"{BATCH}.json"

    @property
    def mpiexec(self) -> Path:
        return self.root / "mpi" / "bin" / "mpiexec"

    def plan(self, *algorithms: str, launches: int = 1, **other: Any) -> None:
        """Freeze a plan of one batch, a point for each algorithm."""
        lines = [{"algorithm": f"reference:{name}", "at_most": 0.1} for name in algorithms]
        points = [{"key": key(n), "id": key(n), "experiment": "e", "line": line} for n, line in enumerate(lines)]
        index = {
            "schema": 1,
            "batch": BATCH,
            "campaign": "made-up",
            "platform": "here",
            "digest": "d",
            "nodes": 1,
            "ranks": 2,
            "ranks_per_node": 2,
            "launches": launches,
            "seed": 7,
            "launcher": "mpiexec",
            "oversubscribed": True,
            "binding": "none",
            "environment": {},
            "samples": "none",
            "core": str(self.root / "core dir" / "collpress-core"),
            "build": str(self.root / "build.json"),
            "points": points,
            **other,
        }
        self.index.parent.mkdir(parents=True, exist_ok=True)
        self.index.write_text(json.dumps(index), encoding="utf-8")
        factors = {"collective": "allreduce", "codec": "none", "message_bytes": 8, "ranks": 2}
        own = {"experiment": "e", "batch": BATCH, "unsupported": None, "failed": None}
        planned = [
            {**own, "key": key(n), "id": key(n), "factors": {**factors, "algorithm": line["algorithm"]}}
            for n, line in enumerate(lines)
        ]
        plan = {
            "schema": 1,
            "campaign": "made-up",
            "platform": "here",
            "digest": "d",
            "launches": launches,
            "points": planned,
        }
        (self.directory / "plan" / "points.json").write_text(json.dumps({**plan, "excluded": []}), encoding="utf-8")

    def batch(self) -> Batch:
        return read_batch(self.index)

    def sweep(self) -> Swept:
        return sweep(self.batch(), self.directory)

    def start(self) -> subprocess.Popen[str]:
        """The verb, in a process group of its own."""
        command = [sys.executable, "-m", "collpress", "sweep", "made-up", "--platform", "here", "--batch", BATCH]
        return subprocess.Popen(
            command, cwd=self.root, env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")}, process_group=0,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        )  # fmt: skip

    def statuses(self) -> list[str]:
        """The visible status of each point, in the plan's order."""
        journals, batch = self.journals(), self.batch()
        return [str(journals.status(point.key, batch.launches).status) for point in batch.points]

    def journals(self) -> Journals:
        return read_campaign(self.directory)

    def written(self, status: Status | None = None) -> Counter[tuple[str, int]]:
        """How often each (key, launch) has a record of this status (or any) in all journals together."""
        lines = (json.loads(line) for path in self.own.glob("journal-*.jsonl") for line in _whole_lines(path))
        return Counter(
            (r["key"], r["launch"]) for r in lines if r["kind"] == "record" and status in (None, r["status"])
        )


def _whole_lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]


def key(number: int) -> str:
    """The key of the nth point."""
    return f"{number:032x}"
