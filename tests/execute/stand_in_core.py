"""A stand-in for collpress-core: obeys its command line, measures nothing, and misbehaves as the algorithm's name asks.

`reference:NAME`: ok; slow (0.15 s); crash, crash-once (SIGSEGV); hang; hang-told (says where it is, as ranks do when
they are asked); silent (exits without a record); torn (dies in the middle of a line); fail (a record with status
failed); wrong (one with status invalid); memory (std::bad_alloc). The variable STAND_IN makes the whole core misbehave:
`die` before the first point, `size` (exit code 4), `busy` (no reaction to SIGTERM).
"""

import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote

arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
plan, launch, attempt = Path(arguments["--plan"]), int(arguments["--launch"]), int(arguments["--attempt"])
times = dict.fromkeys(
    ["median", "ci_low", "ci_high", "min", "p05", "p25", "p75", "p95", "p99", "max", "mean", "sd", "mad"], 1e-3
)


def write(file: TextIO, **line: Any) -> None:
    line["utc"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    file.write(json.dumps({**line, "schema": 1, "launch": launch, "attempt": attempt}) + "\n")
    file.flush()


def misbehave(name: str, file: TextIO, key: str) -> None:
    marker = Path(arguments["--journal"]).parent / f"{key}.crashed"
    if name == "crash" or (name == "crash-once" and not marker.exists()):
        marker.touch()
        print("about to crash", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "hang-told":
        print("collpress-core: rank 0 is here:\nlibmpi.so(MPI_Wait+0x4a)", file=sys.stderr, flush=True)
    if name.startswith("hang"):
        time.sleep(600)
    if name == "silent":
        sys.exit(0)
    if name == "torn":
        file.write('{"kind": "record", "sch')
        file.flush()
        os._exit(9)
    if name == "memory":
        print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
        os.abort()
    if name == "slow":
        time.sleep(0.15)


def main() -> None:
    mood = os.environ.get("STAND_IN", "")
    if mood == "die":
        sys.exit("cannot reach the other ranks")
    if mood == "size":
        print("the world has 1 rank, asked for 2", file=sys.stderr)
        sys.exit(4)
    if mood == "busy":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    header, *lines = plan.read_text(encoding="utf-8").splitlines()
    assert header == "collpress-plan\t1"
    points = [{k: unquote(v) for k, v in (pair.split("=", 1) for pair in line.split("\t"))} for line in lines]
    for number, point in enumerate(points, start=2):
        if point["algorithm"] == "reference:unknown":
            print(f'{plan}:{number}: key "algorithm": no such algorithm; known: ring', file=sys.stderr)
            sys.exit(2)
    with Path(arguments["--journal"]).open("a", encoding="utf-8") as file:
        clock = {"name": "none", "resolution_s": 0.0, "overhead_s": 0.0}
        world = {"seed": 1, "ranks": int(arguments["--ranks"]), "hosts": ["here"], "cpus": [[0]]}
        order = [point["key"] for point in points]
        write(file, kind="launch", **world, mpi_library="none", clock=clock, load_average=0.0, runnable=1, order=order)
        for number, point in enumerate(points):
            write(file, kind="begin", key=point["key"])
            name = point["algorithm"].partition(":")[2]
            misbehave(name, file, point["key"])
            status: dict[str, Any] = {
                "fail": {"status": "failed", "reason": "said no"},
                "wrong": {"status": "invalid", "reason": "element 7 is 3, not 4"},
            }.get(name, {"status": "ok", "reason": None, "n": 10, "time_s": times})
            requested = {k: v for k, v in point.items() if k not in ("key", "id")}
            own: dict[str, Any] = {
                "key": point["key"],
                "id": point["id"],
                "order": number,
                "by": "core",
                "requested": requested,
            }
            write(file, kind="record", **own, **status)
        write(file, kind="end")


main()
