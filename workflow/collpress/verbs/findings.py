"""Say in words what the cube of a campaign on a platform shows: best algorithms, codecs, errors, noise, failures.

Writes findings.md, a page whose lines end with the ids of their points, and findings.json, the same as data. Every
sentence is made by a rule from numbers of the cube; equal cubes give equal bytes.

example: collpress findings quick --platform local
"""

from __future__ import annotations

import argparse
import json

from collpress.layout import Places


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--json", action="store_true", help="print the content of findings.json instead of where it is")


def run(args: argparse.Namespace) -> int:
    from collpress.findings.report import write_findings

    places = Places(args.campaign, args.platform)
    content = write_findings(places.cube, places.findings, places.findings_page)
    if args.json:
        print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        print(f"{places.findings}\n{places.findings_page}")
    return 0
