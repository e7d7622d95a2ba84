"""MADE UP: plans and journals of campaigns that never ran, where a checkout has them; no number was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BATCH = "00000000000000b1"
Point = dict[str, Any]


def point(number: str, key: str | None = None, **own: Any) -> Point:
    """A point whose id and key begin as told."""
    factors = {"collective": "allreduce", "algorithm": "library:ring", "codec": "none", "error_bound": "none"}
    factors |= {"dataset": "pattern", "dtype": "float32", "op": "sum", "message_bytes": 8, "ranks": 2, "nodes": 1}
    runs = key is not None
    return {
        "key": key.ljust(32, "0") if key else None,
        "id": number.ljust(32, "0"),
        "experiment": "e",
        "factors": factors,
        "batch": BATCH if runs else None,
        "unsupported": None,
        "failed": None,
        **own,
    }


def write_plan(
    root: Path, points: Iterable[Point], campaign: str = "quick", platform: str = "local", launches: int = 2
) -> Path:
    """plan/points.json and the batch's index; returns the campaign's folder."""
    folder = root / "results" / "campaigns" / campaign / platform
    planned = list(points)
    plan = {"schema": 1, "campaign": campaign, "platform": platform, "launches": launches, "points": planned}
    lines = [
        {"id": p["id"], "key": p["key"], "line": {"key": p["key"], "id": p["id"], "warmup": "5", "plugin": "ring.so"}}
        for p in planned
        if p["key"]
    ]
    write_json(folder / "plan" / "points.json", plan)
    write_json(folder / "plan" / "batches" / f"{BATCH}.json", {"points": lines})
    return folder


def record(of: Point, launch: int, attempt: int = 1, status: str = "ok", **changes: Any) -> dict[str, Any]:
    """A record as the core writes one."""
    median = 1e-6 * (launch + 1)
    times = dict.fromkeys(("min", "p05", "p25", "p75", "p95", "p99", "max", "mean"), median)
    return {
        "kind": "record",
        "schema": 1,
        "key": of["key"],
        "id": of["id"],
        "launch": launch,
        "attempt": attempt,
        "utc": f"2026-01-31T12:0{attempt}:0{launch}.000000Z",
        "by": "core",
        "status": status,
        "n": 40,
        "reason": None if status == "ok" else f"it {status}",
        "effective": {"algorithm": "ring", "known_by": "read back", "segment_bytes": None, "abs_bound": None},
        "time_s": {"median": median, "ci_low": None, "ci_high": None, "sd": None, "mad": None, **times},
        "samples": {"file": f"samples-{attempt}-{launch}.bin", "offset": 0, "bytes": 320, "sha256": "0" * 64},
        **changes,
    }


def begin(of: Point, launch: int, attempt: int = 1) -> dict[str, Any]:
    row = record(of, launch, attempt)
    return {"kind": "begin", **{name: row[name] for name in ("schema", "key", "launch", "attempt", "utc")}}


def start(launch: int, attempt: int, keys: list[str]) -> dict[str, Any]:
    clock = {"name": "CLOCK_MONOTONIC", "resolution_s": 1e-9, "overhead_s": 3e-8}
    return {
        "kind": "launch",
        "schema": 1,
        "launch": launch,
        "attempt": attempt,
        "utc": "2026-01-31T12:00:00.000000Z",
        "seed": 7,
        "ranks": 2,
        "mpi_library": "made up",
        "hosts": ["a", "a"],
        "cpus": [[0], [1]],
        "clock": clock,
        "load_average": 0.4,
        "runnable": 1,
        "order": keys,
    }


def write_journal(folder: Path, rows: Iterable[dict[str, Any] | str], attempt: int = 1) -> Path:
    """A journal; a text is a line as it is, without an end of line of its own."""
    path = folder / "batches" / BATCH / f"journal-{attempt}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
