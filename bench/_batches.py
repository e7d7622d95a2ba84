"""What the benches that measure points share: a batch made of plan lines, swept into a folder that is removed."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.batch import Batch
from collpress.execute.supervisor import sweep
from collpress.layout import build_record
from collpress.plan.built import read_build
from collpress.plan.launch import launch_of
from collpress.plan.machine import this_machine
from collpress.provenance.machine import machine
from collpress.records import Record, Status, read_journal
from collpress.records.schema import Begin, End, Launch
from collpress.spec import load_platform

Rows = list[dict[str, Any]]
Summary = dict[str, Any]
USUAL = {"bound": "none", "dtype": "float32", "op": "sum", "data": "pattern", "instrumented": "0", "warmup": "5"}


def batch(
    platform: str,
    lines: Sequence[dict[str, str]],
    ranks: int,
    launches: int = 1,
    samples: str = "none",
    *,
    nodes: int = 1,
    built: str | None = None,
) -> Batch:
    """The index of points with these plan lines, as the plan would freeze it.

    built : the platform whose build is used, where it is another's with the same MPI library.
    """
    path = build_record(built or platform)
    build = read_build(path, f"./run collpress build --platform {built or platform}")
    launch = launch_of(load_platform(platform), this_machine(), ranks // nodes, nodes=nodes)
    points = []
    for line in lines:
        key = hashlib.sha256(repr(sorted(line.items())).encode()).hexdigest()[:32]
        points.append({"key": key, "id": key, "experiment": "bench", "line": {**USUAL, **line}})
    return Batch.model_validate(
        {
            "schema": 1,
            "batch": "bench",
            "campaign": "bench",
            "platform": platform,
            "digest": "",
            "launches": launches,
            "nodes": nodes,
            "ranks": ranks,
            "ranks_per_node": ranks // nodes,
            "seed": 1,
            "launcher": "mpiexec",
            "oversubscribed": launch.oversubscribed,
            "binding": launch.binding,
            "samples": samples,
            "environment": launch.environment,
            **({"hosts": launch.hosts.as_json()} if launch.hosts else {}),
            "core": Path(build["core"]["path"]).absolute(),
            "build": path.absolute(),
            "points": points,
        }
    )


@contextmanager
def journal_of(index: Batch) -> Iterator[list[Launch | Begin | Record | End]]:
    """Sweep the batch; the lines of its journal."""
    with tempfile.TemporaryDirectory(prefix="collpress-bench-") as folder:
        sweep(index, Path(folder))
        yield list(read_journal(Path(folder) / "batches" / index.batch / "journal-1.jsonl"))


def sound(lines: Sequence[Any]) -> list[Record]:
    """The records; CollpressError unless all are ok."""
    records = [line for line in lines if isinstance(line, Record)]
    bad = [record for record in records if record.status is not Status.OK]
    if bad:
        told = bad[0].requested or {}
        raise CollpressError(
            f"{len(bad)} of {len(records)} measurements are not ok, the first: {told.get('algorithm')}: {bad[0].reason}"
        )
    return records


def plugin(build: dict[str, Any], collective: str, name: str) -> str | None:
    """Where a reference algorithm lies; None where there is none of that name."""
    return algorithms(build, collective, compresses=False).get(name)


def algorithms(build: dict[str, Any], collective: str, *, compresses: bool) -> dict[str, str]:
    """Our algorithms of a collective, and where each lies."""
    return {
        p["name"]: str(Path(p["path"]).absolute())
        for p in build["plugins"]
        if p["kind"] == "algorithm" and (p["collective"], p["compresses"]) == (collective, compresses)
    }


def codec(build: dict[str, Any], name: str) -> dict[str, str]:
    """What a plan line says of a codec with its usual settings."""
    found = next((p for p in build["plugins"] if (p["kind"], p["name"]) == ("codec", name)), None)
    if found is None:
        raise CollpressError(f"there is no codec {name}", fix="./run collpress build --platform local")
    usual = " ".join(f"{p['usual']:.17g}" for p in found.get("parameters", ()))
    told = {"codec": name, "codec_plugin": str(Path(found["path"]).absolute())}
    return told | ({"codec_parameters": usual} if usual else {})


def arguments(description: str | None, *, platform: bool = True) -> argparse.ArgumentParser:
    """What every such bench takes; without `platform` the bench says itself where it measures."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for machines")
    if platform:
        parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    return parser


def answer(
    bench: str, as_json: bool, measured: Callable[[], tuple[Rows, Summary]], table: Callable[[Rows], str]
) -> int:
    """Measure, and print rows and summary for people or machines; the exit code."""
    try:
        rows, summary = measured()
    except CollpressError as error:
        print(f"bench {bench}: {error}", file=sys.stderr)
        return error.exit_code
    if as_json:
        print(json.dumps({"machine": machine(), "rows": rows, "summary": summary}, indent=1))
        return 0
    told = (f"{k}: {v:.3g}" if isinstance(v, float) else f"{k}: {v}" for k, v in summary.items())
    print("\n".join([table(rows), *told]))
    return 0
