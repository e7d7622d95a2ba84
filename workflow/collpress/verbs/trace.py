"""Write what every rank did in a point's instrumented pass as a trace that Perfetto and chrome://tracing open.

POINT is the beginning of the point's id or key, as for `collpress show`. The file is in the Trace Event Format: a
process for each rank, a thread for each iteration, a slice for the call, each phase that the algorithm tags, each of
its steps, and each send, receive, wait, reduction, copy and use of the codec. Open it at https://ui.perfetto.dev (it
stays in your browser). The record's checksum of the trace is checked first. Prints the name of the file that was
written.

example: collpress trace quick/local:3557 --launch 2 --iteration 0 --out ring.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from collpress.dossier.search import find_point
from collpress.dossier.trace import of_iteration, read_trace, trace_events, trace_record
from collpress.files import write_atomically


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point", metavar="POINT", help="the first digits of the point's id or key, at least 4; or quick/local:3557"
    )
    parser.add_argument("--campaign", help="look in the plans of this campaign only")
    parser.add_argument("--platform", help="look in the plans of this platform only")
    parser.add_argument("--launch", type=int, metavar="N", help="of this launch (default: the first that has a trace)")
    parser.add_argument("--iteration", type=int, metavar="N", help="only this iteration (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="default: traces/ID-LAUNCH.json in the folder of the campaign's results",
    )


def run(args: argparse.Namespace) -> int:
    found = find_point(args.point, args.campaign, args.platform)
    record = trace_record(found, args.launch)
    lines = of_iteration(read_trace(record), args.iteration)
    path = args.out or found.places.trace(found.point["id"], record["launch"])
    document = json.dumps(trace_events(found, record, lines), ensure_ascii=False, allow_nan=False)
    write_atomically(path, (document + "\n").encode("utf-8"))
    print(path)
    return 0
