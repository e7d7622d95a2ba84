"""Show what a campaign will measure on a platform: points, batches, time, bytes, and why combinations are cut.

Works before anything is built and then says what is still unknown; after the inventory the numbers are exact.

example: collpress plan quick --platform local
"""

from __future__ import annotations

import argparse
import json
from collections import Counter

from collpress.data.registry import load_registry
from collpress.data.stock import to_fetch
from collpress.layout import RESULTS, Places
from collpress.plan.batches import CAPACITY, Start
from collpress.plan.expansion import Expansion, expand
from collpress.plan.frozen import start_of
from collpress.plan.inventory import REGISTRY, known_offer, registered_datasets
from collpress.plan.launch import launch_of
from collpress.plan.machine import Machine, this_machine
from collpress.plan.needs import datasets_needed, refuse_unknown_plugins
from collpress.plan.report import plan_json, plan_text
from collpress.provenance.namespaces import namespaces_lack
from collpress.spec import Platform, load_campaign, load_platform
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
    offer = known_offer(Places(campaign.name, platform.name))
    machine = this_machine()
    expansion = expand(campaign, platform, datasets, offer, machine.memory_bytes, machine.cpus, namespaces_lack())
    batches = _batches(expansion, platform, machine)
    registry = load_registry(REGISTRY)
    fetch = to_fetch((registry[name] for name in needed), RESULTS)
    if args.json:
        print(json.dumps(plan_json(campaign, platform, expansion, batches, fetch), ensure_ascii=False))
    else:
        print(plan_text(campaign, platform, expansion, batches, fetch))
    return 0


def _batches(expansion: Expansion, platform: Platform, machine: Machine) -> int:
    launches: dict[Start, tuple[tuple[str, str], ...]] = {}
    shapes: Counter[tuple[object, ...]] = Counter()
    for point in (p for p in expansion.points if p.unsupported is None):
        start = start_of(point)
        if start not in launches:
            launch = launch_of(platform, machine, start.ranks // start.nodes, start.knobs, start.nodes)
            launches[start] = tuple(launch.environment.items())
        shapes[start.nodes, start.ranks, launches[start], point.factors["backend"]] += 1
    return sum(-(-count // CAPACITY) for count in shapes.values())
