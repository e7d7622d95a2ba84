"""Print two campaigns side by side: where B is faster or slower than A, and where no difference is shown.

A and B are each CAMPAIGN/PLATFORM (or CAMPAIGN@PLATFORM; a campaign alone is meant on the platform local), the path of
a cube.nc, or a baseline that `collpress baseline save` kept, by its name or path. A point is compared where both have
it and it is ok in both: medians over launches, the ratio B/A with its bootstrap limits over launches, and an exact rank
test. Other points are listed with their statuses.

With --fail-if a regression that is shown fails: each point is tested against the threshold, and the false discovery
rate over all points is held at 5 %. docs/comparing.md says how, and what so few launches can show.

exit codes: 0 nothing failed; 2 a mistake in what was asked, or nothing could be compared; 3 points are missing
(--require-all); 4 a regression is shown (--fail-if).

example: collpress compare quick/local quick/mpich
example: collpress compare main quick --fail-if 'slower > 5 %' --require-all --junit compare.xml
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from collpress.errors import CollpressError, did_you_mean
from collpress.files import write_atomically, write_json

if TYPE_CHECKING:
    from collpress.comparison.told import Told

STDOUT = "-"
PICTURES = (".pdf", ".svg", ".png")


def configure(parser: argparse.ArgumentParser) -> None:
    side = "CAMPAIGN/PLATFORM, the path of a cube.nc, or a baseline"
    parser.add_argument("a", metavar="A", help=side)
    parser.add_argument("b", metavar="B", nargs="?", help=side)
    parser.add_argument("--metric", default="latency_median", help="latency_median (default) or latency_p99")
    parser.add_argument(
        "--order", choices=("factors", "ratio"), default="factors", help="of the points in an experiment"
    )
    parser.add_argument("--fail-if", metavar="RULE", help="'slower > 5 %%': exit code 4 if that is shown of any point")
    parser.add_argument("--require-all", action="store_true", help="exit code 3 if a point of either is not compared")
    parser.add_argument(
        "--json", nargs="?", const=STDOUT, metavar="FILE.json", help="write JSON; without FILE print it, and no table"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE.xml", help="write JUnit's XML, a test case a point")
    parser.add_argument(
        "--figure",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="draw FILE.pdf, .svg or .png; repeatable",
    )


def run(args: argparse.Namespace) -> int:
    _name_both(args)
    for path in args.figure:
        if path.suffix not in PICTURES:
            raise CollpressError(f'"{path}" is no picture', where="--figure", allowed=", ".join(PICTURES))
    told = _told(args)
    for warning in told.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    _write(told, args)
    told.gate.check(told.comparison, told.judgement, f"{args.a}, {args.b}")
    return 0


def _name_both(args: argparse.Namespace) -> None:
    """`--json A B`: what follows the option is its file only if it looks like one."""
    if args.b is None and args.json not in (None, STDOUT) and Path(args.json).suffix != ".json":
        args.a, args.b, args.json = args.json, args.a, STDOUT
    if args.b is None:
        raise CollpressError("two are compared, and only one is named", where=args.a, allowed="collpress compare A B")
    if args.json not in (None, STDOUT) and Path(args.json).suffix != ".json":
        raise CollpressError(f'"{args.json}" is no JSON file', where="--json", allowed="a name that ends in .json")


def _told(args: argparse.Namespace) -> Told:
    from collpress.analysis.comparison import compare
    from collpress.analysis.measured import METRICS
    from collpress.analysis.regression import judgement
    from collpress.comparison.gate import Gate, threshold
    from collpress.comparison.subject import subject
    from collpress.comparison.told import Told

    if args.metric not in METRICS:
        hint = did_you_mean(args.metric, METRICS)
        raise CollpressError(
            f'"{args.metric}" cannot be compared', where="--metric", allowed=", ".join(METRICS), fix=hint
        )
    gate = Gate(threshold(args.fail_if) if args.fail_if is not None else None, args.require_all)
    a, b = subject(args.a), subject(args.b)
    comparison = compare(a.measured, b.measured, args.metric)
    judged = judgement(comparison, gate.threshold or 0.0)
    return Told(a, b, comparison, judged, gate, _command(args), args.order)


def _command(args: argparse.Namespace) -> str:
    words = ["./run", "collpress", "compare", args.a, args.b, "--metric", args.metric, "--order", args.order]
    words += ["--fail-if", args.fail_if] if args.fail_if is not None else []
    words += ["--require-all"] if args.require_all else []
    return shlex.join(words)


def _write(told: Told, args: argparse.Namespace) -> None:
    from collpress.comparison.document import document
    from collpress.comparison.junit import junit
    from collpress.comparison.table import lines
    from collpress.printable import printable

    if args.json == STDOUT:
        print(json.dumps(document(told), ensure_ascii=False, allow_nan=False))
    else:
        print("\n".join(printable(line) for line in lines(told)))
        if args.json is not None:
            write_json(Path(args.json), document(told))
    if args.junit is not None:
        write_atomically(args.junit, junit(told))
    if args.figure:
        os.environ["MATPLOTLIBRC"] = os.devnull  # a user's matplotlibrc changes nothing in a figure
        from collpress.comparison.picture import write_pictures

        write_pictures(told, args.figure)
