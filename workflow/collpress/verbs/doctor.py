"""Check that a platform can be measured on: compiler, MPI, launcher, disk, clocks, processors; and say how to mend it.

Compiles a program and runs it on two ranks exactly as a batch is started, so that a launcher of another MPI, which
starts two worlds of one rank, is told before it spoils numbers. A check that cannot be done is `skipped`, never ok.
Exit code 0: no problem; 2: at least one. --json prints {"machine": ..., "rows": [...], "summary": {...}}.

example: collpress doctor local
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collpress.doctor.result import Result


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "platform", nargs="?", default="local", help="name of a file in config/platforms, or its path (default: local)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, when all checks are done")


def run(args: argparse.Namespace) -> int:
    results = []
    for result in _results(args.platform):
        results.append(result)
        if not args.json:
            _tell(result)
    counts = Counter(result.verdict for result in results)
    summary = {verdict: counts[verdict] for verdict in ("ok", "problem", "skipped", "note")}
    if args.json:
        from collpress.provenance import machine

        rows = [asdict(result) for result in results]
        print(json.dumps({"machine": machine(), "rows": rows, "summary": summary}, ensure_ascii=False))
    else:
        print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in summary.items() if count))
    return 2 if counts["problem"] else 0


def _results(name: str) -> Iterator[Result]:
    # These two need no other package, and say which are there where one is missing that the others need.
    from collpress.doctor.result import problem
    from collpress.doctor.software import packages, python

    try:
        from collpress.doctor.examination import examine
        from collpress.spec import load_platform
    except ImportError as error:
        yield python()
        yield packages()
        yield problem("all other checks", f"cannot be done: {error}", "remove .venv and call ./run")
        return
    platform = load_platform(name)
    yield python()
    yield packages()
    yield from examine(platform)


def _tell(result: Result) -> None:
    said = f"skipped: {result.found}" if result.verdict == "skipped" else f"{result.verdict}: {result.found}"
    print(f"{result.check:<20} {said}", flush=True)
    if result.fix:
        print(f"{'':<20} fix: {result.fix}", flush=True)
