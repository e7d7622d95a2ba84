"""Run a campaign on a platform: data, build, sweep, cube, figures; only what is missing or has changed.

Holds the lock of this campaign on this platform, lets points run again that should have run but did not, then calls
Snakemake. Exit code 0: every planned point is ok or unsupported; 3: a point that should have run did not (see
`collpress status`).

example: collpress run quick --platform local
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from collpress.errors import CollpressError
from collpress.execute.lock import run_lock
from collpress.execute.status import retire_incomplete_receipts, summarise
from collpress.layout import ROOT, Places
from collpress.spec import load_campaign, load_platform


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--profile", default="local", help="name of a folder in config/profiles (default: local)")
    parser.add_argument("snakemake", nargs="*", help="arguments passed on to Snakemake (after --)")


def run(args: argparse.Namespace) -> int:
    # A mistake in a file is told at once, and by us: Snakemake would add its own words to it.
    load_campaign(args.campaign)
    load_platform(args.platform)
    places = Places(args.campaign, args.platform)
    with run_lock(places.directory):
        retire_incomplete_receipts(places.directory)
        code = subprocess.run(_snakemake(args), cwd=ROOT).returncode
    if code == 0:
        print(f"figures: {places.directory / 'figures'}")
        return 0
    if not places.points.exists():
        raise CollpressError(
            "the workflow stopped before anything was measured", fix="see the message above; then run again"
        )
    counts = summarise(places.directory)
    print(
        f"not complete: {counts}; see `./run collpress status {args.campaign} --platform {args.platform}`",
        file=sys.stderr,
    )
    return 3


def _snakemake(args: argparse.Namespace) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--workflow-profile",
        f"config/profiles/{args.profile}",
        "--quiet",
        "all",
    ]
    return [*command, *args.snakemake, "--config", f"campaign={args.campaign}", f"platform={args.platform}"]
