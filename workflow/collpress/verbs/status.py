"""Show what became of each point of a campaign: ok, or why not.

--json prints {"planned": n, "ok": n, ...} with one count per status, zeros included.

example: collpress status quick --platform local --points
"""

from __future__ import annotations

import argparse
import json

from collpress.dossier.words import label
from collpress.execute.status import coverage, grouped
from collpress.layout import Places
from collpress.records.status import Status

FEW = 12


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of the campaign")
    parser.add_argument("--platform", default="local", help="name of the platform (default: local)")
    parser.add_argument("--json", action="store_true", help="counts only, as JSON")
    parser.add_argument("--points", action="store_true", help="list every point, not only those that are not ok")


def run(args: argparse.Namespace) -> int:
    seen = coverage(Places(args.campaign, args.platform).directory)
    counts = seen.counts()
    if args.json:
        print(json.dumps(counts))
        return 0
    for name, count in counts.items():
        if count or name in {"planned", "ok"}:
            print(f"{name:<14} {count:>6}")
    for torn in seen.journals.torn:
        print(f"ignored: the last line of {torn.path} was cut off ({torn.bytes} bytes)")
    everything = args.points or len(seen.points) <= FEW
    for status, reason, members in grouped(seen.points):
        if status is Status.OK and not everything:
            continue
        print(f"\n{status} ({len(members)}){': ' + reason if reason else ''}")
        shown = members if everything else members[:FEW]
        for outlook in shown:
            noisy = ", noisy" if outlook.became.noisy else ""
            print(f"  {label(outlook.point['factors'])}  [{outlook.became.n_ok} of {seen.launches} launches ok{noisy}]")
        if len(shown) < len(members):
            print(f"  ... and {len(members) - len(shown)} more; --points shows all")
    return 0
