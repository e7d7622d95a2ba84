"""Show what a campaign will measure on a platform: points, batches, time, bytes, and why combinations are cut.

Works before anything is built and then says what is still unknown; after the inventory the numbers are exact.

example: collpress plan quick --platform local
"""

from __future__ import annotations

import argparse
import json

from collpress.data.registry import load_registry
from collpress.data.stock import to_fetch
from collpress.layout import RESULTS, Places
from collpress.plan.expansion import expand
from collpress.plan.frozen import count_batches, read_shards
from collpress.plan.inventory import REGISTRY, known_offer, registered_datasets
from collpress.plan.machine import this_machine
from collpress.plan.needs import datasets_needed, refuse_unknown_plugins
from collpress.plan.report import plan_json, plan_text
from collpress.plan.settings import refuse_unknown_settings
from collpress.provenance.namespaces import hosts_lack
from collpress.spec import load_campaign, load_platform
from collpress.wiring import figures_of


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, or its path")
    parser.add_argument(
        "--platform", default="local", help="name of a file in config/platforms, or its path (default: local)"
    )
    parser.add_argument("--json", action="store_true", help="print everything, every point included, as JSON")


def run(args: argparse.Namespace) -> int:
    campaign, platform = load_campaign(args.campaign), load_platform(args.platform)
    datasets = registered_datasets()
    # Names that nothing stands behind are mistakes, and told here already.
    needed = datasets_needed(campaign, datasets, {name: dataset.id for name, dataset in datasets.items()})
    refuse_unknown_plugins(campaign)
    figures_of(campaign)
    places = Places(campaign.name, platform.name)
    offer = known_offer(places)
    if offer is not None:
        refuse_unknown_settings(campaign, offer)
    machine = this_machine()
    no_hosts = hosts_lack(platform.hosts.kind if platform.hosts else None)
    expansion = expand(campaign, platform, datasets, offer, machine.memory_bytes, machine.cpus, no_hosts)
    batches = count_batches(expansion, read_shards(places), platform, machine)
    registry = load_registry(REGISTRY)
    fetch = to_fetch((registry[name] for name in needed), RESULTS)
    if args.json:
        print(json.dumps(plan_json(campaign, platform, expansion, batches, fetch), ensure_ascii=False))
    else:
        print(plan_text(campaign, platform, expansion, batches, fetch))
    return 0
