"""CPU time and memory of the captures: each dataset of a pass prepared one after the other, as a workflow would.

The model must be in results/cache already, or is fetched first; that is not counted. Results go to a folder that is
removed afterwards. The first dataset of a pass runs it; the others find their tensors. `peak_bytes` is the largest
resident set of any process, `cpu_s` user and system time of all of them.

./run bench capture [--json] [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from collpress.data import download
from collpress.data.registry import Entry, load_registry
from collpress.errors import CollpressError
from collpress.provenance.machine import machine

OPT_IN = "smollm2-grad/full"
CACHE = Path("results/cache")


def passes(quick_only: bool) -> dict[str, list[Entry]]:
    """The captures of the registry by their pass, that of 2 x 128 tokens first; without the one that is opt-in."""
    found: dict[str, list[Entry]] = {}
    for entry in load_registry(Path("config/datasets.yaml")).values():
        if entry.capture is not None and entry.id != OPT_IN:
            found.setdefault(f"{entry.capture.ranks}x{entry.capture.tokens}", []).append(entry)
    return {name: entries for name, entries in found.items() if name == "2x128" or not quick_only}


def prepare(entry: Entry, results: Path) -> dict[str, Any]:
    """One row: what preparing a dataset took."""
    command = [sys.executable, "-m", "collpress", "dataset", "get", entry.id, "--results", str(results)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise CollpressError(f"{entry.id}: {said.strip()}")
    return {
        "dataset": entry.id,
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.monotonic() - began,
        "peak_bytes": used.ru_maxrss << 10,
        "bytes": entry.bytes,
    }


def measure(quick_only: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows, one a dataset, and the summary: totals of each pass."""
    rows: list[dict[str, Any]] = []
    summary: dict[str, Any] = {}
    for name, entries in passes(quick_only).items():
        with tempfile.TemporaryDirectory(prefix=".bench-", dir=CACHE.parent) as folder:
            results = Path(folder)
            (results / "cache").mkdir()
            for entry in entries:
                assert entry.capture is not None
                model = download.member(entry.capture.model, CACHE)
                if not (results / "cache" / model.name).exists():
                    _place(model, results / "cache" / model.name)
            own = [{"pass": name, **prepare(entry, results)} for entry in entries]
        rows += own
        summary[name] = {
            "cpu_s": sum(row["cpu_s"] for row in own),
            "peak_bytes": max(row["peak_bytes"] for row in own),
            "bytes": sum(row["bytes"] for row in own),
        }
    return rows, summary


def _place(source: Path, target: Path) -> None:
    """The same file at another place: a link where the file system has them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def table(rows: list[dict[str, Any]], summary: dict[str, Any]) -> str:
    """The rows for people."""
    lines = [f"{'dataset':<26}{'pass':>8}{'CPU s':>8}{'peak GiB':>10}{'MiB':>8}"]
    totals = [{"dataset": "all", "pass": name, **total} for name, total in summary.items()]
    for row in [*rows, *totals]:
        peak, size = row["peak_bytes"] / 2**30, row["bytes"] / 2**20
        lines.append(f"{row['dataset']:<26}{row['pass']:>8}{row['cpu_s']:>8.1f}{peak:>10.2f}{size:>8.1f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--quick", action="store_true", help="only the captures of 2 x 128 tokens")
    args = parser.parse_args()
    try:
        rows, summary = measure(args.quick)
    except CollpressError as error:
        print(f"bench capture: {error}", file=sys.stderr)
        return error.exit_code
    if args.json:
        print(json.dumps({"machine": machine(), "rows": rows, "summary": summary}, indent=1))
    else:
        print(table(rows, summary))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
