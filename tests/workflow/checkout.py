"""A copy of the project that tests may edit and run for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CAMPAIGN = """\
title: A small campaign for the workflow's tests
experiments:
  plain:
    matrix:
      collective: allreduce
      algorithm: [library:default, reference:ring]
      message_bytes: [64, 4096]
      ranks: 2
  squeezed:
    matrix:
      collective: allreduce
      algorithm: compressed:ring
      codec: [deltapack, int8]
      error_bound: rel 1e-3
      dataset: synthetic/normal
      message_bytes: 64Ki
      ranks: 2
measure: {launches: 2, precision: 20%, at_most: 100 ms}
figures: [coverage]
"""


@dataclass(frozen=True)
class Checkout:
    """A copy of the project that tests may edit and run."""

    root: Path

    def run(self, campaign: str = "mini", **environment: str) -> subprocess.CompletedProcess[str]:
        """`collpress run`, as `./run` calls it, without the set-up."""
        return subprocess.run(
            self.command(campaign),
            cwd=self.root,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
        )

    def command(self, campaign: str) -> list[str]:
        return [sys.executable, "-m", "collpress", "run", campaign, "--platform", "local"]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COLLPRESS"))}
        own = {
            "PYTHONPATH": str(self.root / "workflow"),
            "PYTHONUTF8": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.root / ".cache"),
            "MPLCONFIGDIR": str(self.root / ".cache" / "matplotlib"),
            "LANG": "C",
        }
        return kept | own | more

    def campaign(self, text: str, name: str = "mini") -> None:
        (self.root / "config" / "campaigns" / f"{name}.yaml").write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def results(self, campaign: str = "mini") -> Path:
        return self.root / "results" / "campaigns" / campaign / "local"

    def records(self, campaign: str = "mini") -> list[dict[str, Any]]:
        """Every record of every journal, oldest first."""
        journals = sorted(self.results(campaign).glob("batches/*/journal-*.jsonl"), key=lambda p: p.stat().st_mtime_ns)
        lines = (line for journal in journals for line in journal.read_text(encoding="utf-8").splitlines())
        return [row for line in lines if line.startswith("{") and (row := json.loads(line))["kind"] == "record"]

    def measured(self, campaign: str = "mini") -> Counter[tuple[str, int]]:
        """How often each (key, launch) has an ok record."""
        return Counter((row["key"], row["launch"]) for row in self.records(campaign) if row["status"] == "ok")

    def points(self, campaign: str = "mini") -> list[dict[str, Any]]:
        plan: dict[str, list[dict[str, Any]]] = json.loads(
            (self.results(campaign) / "plan" / "points.json").read_text(encoding="utf-8")
        )
        return plan["points"]

    def build_hashes(self) -> dict[str, str]:
        """The hash of the core and of each plugin, by kind and name."""
        build = json.loads((self.root / "results/native/local/build.json").read_text(encoding="utf-8"))
        plugins = {
            f"{row['kind']} {row['name']} {row.get('compresses', '')}".strip(): row["sha256"]
            for row in build["plugins"]
        }
        return plugins | {"core": build["core"]["sha256"]}

    def times(self) -> dict[str, int]:
        """When each result that a rule made was last written."""
        made = [p for p in (self.root / "results").rglob("*") if p.is_file() and "logs" not in p.parts]
        return {str(p.relative_to(self.root)): p.stat().st_mtime_ns for p in made if p.name != "lock.json"}
