"""What a tag costs in the instrumented pass: a pair of begin and end, and a reading of the clock that it is made of.

Compiles native/bench/tags.cpp with the platform's toolchain, with the processor's time stamp counter and without, and
runs each a few times in turns on one core. Numbers are medians of 2001 rounds of 1000, of the run with the fastest
pair, which the machine's other work disturbed least. A pair may take two readings and 10 ns, and with the counter
60 ns in all. Timed iterations have no tags at all.

./run bench tags [--json] [--platform NAME]
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from _batches import answer, arguments

from collpress.execute.compilation import compiler_error
from collpress.execute.toolchain import STANDARD, Toolchain, prepare_toolchain, resolve_toolchain
from collpress.layout import ROOT, build_record
from collpress.spec import load_platform

NATIVE = ROOT / "native"
VARIANTS = {"the best clock": [], "CLOCK_MONOTONIC": ["-DCOLLPRESS_NO_TSC"]}
TURNS = 5
BEYOND_READS_NS = 10.0
MOST_WITH_COUNTER_NS = 60.0


def programs(platform: str) -> list[tuple[Path, dict[str, str]]]:
    """The two programs and the environment that they run in."""
    wanted = load_platform(platform).toolchain
    prepare_toolchain(wanted.source, wanted.mpi)
    folder = build_record(platform).parent / "bench"
    toolchain = resolve_toolchain(wanted.source, build_record(platform).parent / "toolchain", wanted.mpi)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **toolchain.environment}
    return [
        (_compiled(toolchain, folder / f"tags-{i}", flags, environment), environment)
        for i, flags in enumerate(VARIANTS.values())
    ]


def _compiled(toolchain: Toolchain, program: Path, flags: list[str], environment: dict[str, str]) -> Path:
    command = [str(toolchain.wrapper_path), STANDARD, "-O3", "-DNDEBUG", *flags]
    command += [
        f"-I{NATIVE / 'include'}",
        f"-I{NATIVE / 'src'}",
        str(NATIVE / "bench" / "tags.cpp"),
        "-o",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=environment)
    if done.returncode != 0:
        raise compiler_error(done.stdout + done.stderr, program.parent)
    return program


def measure(platform: str) -> list[dict[str, Any]]:
    """A row for each clock; where the machine has no even counter, both rows are of the same clock, and one is left."""
    runs: dict[str, list[dict[str, Any]]] = {}
    variants = programs(platform)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for _ in range(TURNS):
        for program, environment in variants:
            done = subprocess.run([str(program)], capture_output=True, encoding="utf-8", env=environment, check=True)
            said = json.loads(done.stdout)
            runs.setdefault(said["clock"], []).append(said)
    return [_row(clock, said) for clock, said in runs.items()]


def _row(clock: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    best = min(said, key=lambda one: float(one["pair_ns"]))
    read, pair = best["clock_read_ns"], best["pair_ns"]
    limit = 2 * read + BEYOND_READS_NS
    limit = min(limit, MOST_WITH_COUNTER_NS) if clock == "TSC" else limit
    return {
        "clock": clock,
        "clock_read_ns": read,
        "pair_ns": pair,
        "limit_ns": limit,
        "within_limit": pair <= limit,
        "runs": len(said),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people."""
    lines = [f"{'clock':<18}{'read':>8}{'pair':>8}{'limit':>8}"]
    lines += [
        f"{row['clock']:<18}{row['clock_read_ns']:>8.1f}{row['pair_ns']:>8.1f}{row['limit_ns']:>8.1f}"
        f"  {'ok' if row['within_limit'] else 'above the limit'}"
        for row in rows
    ]
    return "\n".join(
        [*lines, "", "ns; pair: begin and end of one tag; limit: two readings and 10 ns, 60 ns for the TSC"]
    )


def main() -> int:
    args = arguments(__doc__).parse_args()

    def measured() -> tuple[list[dict[str, Any]], dict[str, Any]]:
        rows = measure(args.platform)
        return rows, {n: rows[0][n] for n in ("clock", "pair_ns", "clock_read_ns", "limit_ns", "within_limit")}

    return answer("tags", args.json, measured, table)


if __name__ == "__main__":
    raise SystemExit(main())
