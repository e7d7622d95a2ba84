"""Measure one point alone, in fresh launches, beside what is recorded; the campaign's own records stay as they are.

POINT is the beginning of the point's id or key, as for `collpress show`. The core measures it as the campaign did (same
ranks, binding, environment, settings), but alone in its launches, without other points before and after it. The journal
goes to results/reruns/ID/N/ and into no cube. Prints both medians and their ratio with its confidence limits over
launches. Exit code 0: measured, ok; 3: the point did not become ok; 128 + signal: stopped.

example: collpress rerun 3557 --launches 3
"""

from __future__ import annotations

import argparse
import json
import sys
from statistics import median
from typing import Any

from collpress.dossier.search import Found, find_point
from collpress.errors import CollpressError
from collpress.execute.lock import refuse_beside_another_run, run_lock
from collpress.execute.rerun import rerun
from collpress.files import write_json
from collpress.layout import RESULTS
from collpress.records.status import Status

INCOMPLETE = 3
SHOWN = {
    "greater": "slower than recorded",
    "less": "faster than recorded",
    "no difference": "no difference shown",
    "unknown": "too few launches to show a difference",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point", metavar="POINT", help="the first digits of the point's id or key, at least 4; or quick/local:3557"
    )
    parser.add_argument("--campaign", help="look in the plans of this campaign only")
    parser.add_argument("--platform", help="look in the plans of this platform only")
    parser.add_argument("--launches", type=int, metavar="N", help="how many launches (default: as the campaign has)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    if args.launches is not None and args.launches < 1:
        raise CollpressError(f"{args.launches} launches measure nothing", where="--launches", allowed="1 or more")
    found = find_point(args.point, args.campaign, args.platform)
    with run_lock(RESULTS, what="a run is at work in this checkout already, and measurements do not share a machine"):
        refuse_beside_another_run(found.places.directory)
        made = rerun(found.places, found.point, args.launches)
    if made.swept.stopped_by is not None:
        return 128 + made.swept.stopped_by
    from collpress.dossier.beside import beside  # numpy takes its time: after the launches

    document = beside(found, made)
    write_json(made.directory / "rerun.json", document)
    for difference in made.differences:
        print(f"warning: {difference}", file=sys.stderr)
    if args.json:
        print(json.dumps(document, ensure_ascii=False))
    else:
        _tell(found, document)
    return 0 if document["rerun"]["status"] == Status.OK else INCOMPLETE


def _tell(found: Found, document: dict[str, Any]) -> None:
    print(found.label)
    for side in ("recorded", "rerun"):
        told = document[side]
        times = told["launch_medians_s"]
        words = f"median {median(times):.4g} s over {len(times)} launches" if times else "no time"
        noisy = ", noisy" if told["noisy"] else ""
        print(f"{side:<9} {told['status']}{noisy}, {words}{': ' + told['reason'] if told['reason'] else ''}")
    ratio = document["ratio"]
    if ratio is not None:
        limits = (
            "" if ratio["low"] is None else f" ({ratio['low']:.3g} .. {ratio['high']:.3g}, {ratio['confidence']:.0%})"
        )
        print(f"rerun over recorded: {ratio['value']:.3g}{limits}: {SHOWN[ratio['shown']]}")
    print(f"journal: {', '.join(document['journals'])}")
