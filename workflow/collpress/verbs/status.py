"""Show what became of each point of a campaign: ok, or why not.

--json prints {"planned": n, "ok": n, ...} with one count per status, zeros included.

example: collpress status quick --platform local --points
"""

from __future__ import annotations

import argparse
import json

from collpress.dossier.words import label
from collpress.errors import CollpressError, did_you_mean
from collpress.execute.status import coverage, grouped
from collpress.layout import RESULTS, Places, campaign_file
from collpress.records.status import Status

FEW = 12


def _refuse_without_plan(places: Places) -> None:
    """CollpressError that names the campaigns that there are, or those that have a plan."""
    if places.points.exists():
        return
    planned = sorted("/".join(path.parts[-4:-2]) for path in RESULTS.glob("campaigns/*/*/plan/points.json"))
    told = f"planned so far: {', '.join(planned) or 'none'}"
    known = sorted(path.stem for path in campaign_file("any").parent.glob("*.yaml"))
    if places.campaign in known:
        fix = f"collpress run {places.campaign} --platform {places.platform}"
        raise CollpressError("there is no plan yet", where=str(places.points), allowed=told, fix=fix)
    allowed = f"{', '.join(known) or 'none'}; {told}"
    hint = did_you_mean(places.campaign, [*known, *(name.partition("/")[0] for name in planned)])
    what = f'unknown campaign "{places.campaign}": there is no plan yet, and no file to make one from'
    raise CollpressError(what, where=str(campaign_file(places.campaign).parent), allowed=allowed, fix=hint)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of the campaign")
    parser.add_argument("--platform", default="local", help="name of the platform (default: local)")
    parser.add_argument("--json", action="store_true", help="counts only, as JSON")
    parser.add_argument("--points", action="store_true", help="list every point, not only those that are not ok")


def run(args: argparse.Namespace) -> int:
    places = Places(args.campaign, args.platform)
    _refuse_without_plan(places)
    seen = coverage(places.directory)
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
