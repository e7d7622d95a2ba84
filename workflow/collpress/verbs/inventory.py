"""Freeze a campaign's plan: note what is installed here, with every hash, and write points and batches.

Run after build and data; writes inventory.json, plan/ and shards.json under results/campaigns/, and leaves files alone
that would not change.

example: collpress inventory quick --platform local
"""

from __future__ import annotations

import argparse
import sys

from collpress.plan.inventory import take_inventory
from collpress.spec import load_campaign, load_platform


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, or its path")
    parser.add_argument(
        "--platform", default="local", help="name of a file in config/platforms, or its path (default: local)"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="DATASET",
        help="a dataset that could not be had; its points fail",
    )


def run(args: argparse.Namespace) -> int:
    campaign, platform = load_campaign(args.campaign), load_platform(args.platform)
    expansion, plan, written = take_inventory(campaign, platform, args.without)
    for warning in expansion.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    unsupported = sum(p.unsupported is not None for p in expansion.points)
    failed = sum(p.failed is not None for p in expansion.points)
    runnable = len(expansion.points) - unsupported - failed
    batches = f"{len(plan.indices)} {'batch' if len(plan.indices) == 1 else 'batches'}"
    print(
        f"{campaign.name} on {platform.name}: {runnable} points in {batches},"
        f" {unsupported} unsupported, {failed} that cannot run today, {len(expansion.excluded)} excluded;"
        f" {len(written)} files changed"
    )
    return 0
