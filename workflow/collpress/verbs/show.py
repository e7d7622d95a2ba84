"""Show everything known about a point: settings, every launch and attempt, checks, files, and how to measure it alone.

POINT is the beginning of the point's id or key (at least 4 hex digits), as plan/points.json, findings.json and the
journals have it; it is looked up in the plans of all campaigns. Points that are unsupported or never ran are shown too.

example: collpress show 3557
"""

from __future__ import annotations

import argparse
import json

from collpress.dossier.dossier import dossier
from collpress.dossier.search import find_point
from collpress.dossier.text import lines
from collpress.printable import printable


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point", metavar="POINT", help="the first digits of the point's id or key, at least 4; or quick/local:3557"
    )
    parser.add_argument("--campaign", help="look in the plans of this campaign only")
    parser.add_argument("--platform", help="look in the plans of this platform only")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON document")


def run(args: argparse.Namespace) -> int:
    document = dossier(find_point(args.point, args.campaign, args.platform))
    if args.json:
        print(json.dumps(document, ensure_ascii=False, allow_nan=False))
        return 0
    for line in lines(document):
        text = line.removeprefix("\n")
        print("\n" * (len(line) - len(text)) + printable(text))
    return 0
