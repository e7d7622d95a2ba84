"""Say how a campaign ended, and fail if a point that should have run did not.

Prints how many points were planned and are ok, the others by reason, and the most telling findings. Writes summary.json
when every point is ok or unsupported. Exit code 3: some are not.

example: collpress complete quick --platform local
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from collpress.dossier.words import label
from collpress.errors import CollpressError, IncompleteError
from collpress.execute.attempt import now
from collpress.execute.receipt import Spent, read_spent
from collpress.execute.status import Coverage, coverage, grouped
from collpress.files import sha256_of, write_json
from collpress.layout import Places
from collpress.plan.frozen import read_json
from collpress.records.status import Status


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of the campaign")
    parser.add_argument("--platform", default="local", help="name of the platform (default: local)")


def run(args: argparse.Namespace) -> int:
    places = Places(args.campaign, args.platform)
    seen = coverage(places.directory)
    spent = _spent(places)
    print("\n".join([*_counts(seen), *([_told(spent)] if spent else [])]))
    found = _headlines(places)
    print("\n".join([*(f"  {finding['text']}" for finding in found), f"all findings: {places.findings_page}"]))
    incomplete = seen.incomplete()
    if incomplete:
        places.summary.unlink(missing_ok=True)
        raise IncompleteError(
            f"{len(incomplete)} of {len(seen.points)} points should be ok and are not",
            where=f"{args.campaign} on {args.platform}",
            fix=f"see collpress status {args.campaign} --platform {args.platform}; the next run tries again",
        )
    counts = seen.counts()
    document = {"schema": 1, "campaign": seen.campaign, "platform": seen.platform, "launches": seen.launches}
    document |= {"spent": asdict(spent) if spent else None}
    document |= {"counts": counts, "findings": [_short(finding) for finding in found], "utc": now()}
    write_json(places.summary, document)
    return 0


def _headlines(places: Places) -> list[dict[str, Any]]:
    """The findings that sum up their rule; CollpressError where they are missing or of another cube."""
    fix = f"collpress findings {places.campaign} --platform {places.platform}"
    content = read_json(places.findings, fix)
    if content.get("schema") != 1 or content["cube"]["sha256"] != sha256_of(places.cube):
        raise CollpressError("these findings are not those of the cube", where=str(places.findings), fix=fix)
    headlines: list[dict[str, Any]] = content["headlines"]
    return headlines


def _spent(places: Places) -> Spent | None:
    """The sweeps of the plan's batches together; None without a plan, and where a receipt does not say."""
    if not places.batches.exists():
        return None
    batches = read_json(places.batches, f"collpress inventory {places.campaign} --platform {places.platform}")
    each = [read_spent(places.receipt(str(batch["batch"]))) for batch in batches["batches"]]
    if not each or None in each:
        return None
    return Spent(sum(one.wall_s for one in each if one), sum(one.measuring_s for one in each if one))


def _told(spent: Spent) -> str:
    share = spent.measuring_s / spent.wall_s
    return f"  measuring (warm-up, synchronisation, samples) took {share:.0%} of the sweeps' {spent.wall_s:.3g} s"


def _short(finding: dict[str, Any]) -> dict[str, Any]:
    keys = [point["key"] for point in finding["points"]]
    return {"name": finding["rule"], "value": finding["value"], "text": finding["text"], "keys": keys}


def _counts(seen: Coverage) -> list[str]:
    counts = seen.counts()
    lines = [f"{seen.campaign} on {seen.platform}: {counts['planned']} points planned, {counts['ok']} ok"]
    for status, reason, members in grouped(seen.points):
        if status is not Status.OK:
            first = label(members[0].point["factors"]) + (", ..." if members[1:] else "")
            lines.append(f"  {len(members)} {status}: {reason} ({first})")
    return lines
