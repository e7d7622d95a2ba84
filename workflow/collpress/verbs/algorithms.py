"""List the algorithms that a platform's installation offers: the library's, our references, and those that compress.

example: collpress algorithms --platform local --json
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from collpress.plan.inventory import installed_offer
from collpress.spec import load_platform


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--platform", default="local", help="name of a file in config/platforms, or its path (default: local)"
    )
    parser.add_argument("--json", action="store_true", help='print {"machine": ..., "rows": [...], "summary": {...}}')


def run(args: argparse.Namespace) -> int:
    offer, build, machine = installed_offer(load_platform(args.platform))
    rows: list[dict[str, Any]] = [
        {
            "collective": a.collective,
            "name": a.name.partition(":")[2],
            "kind": a.kind,
            "backend": a.backend,
            "constraints": {
                "min_ranks": a.min_ranks,
                "power_of_two_ranks": a.power_of_two_ranks,
                "count_at_least_ranks": a.count_at_least_ranks,
            },
        }
        for a in offer.algorithms
    ]
    if args.json:
        summary = {"algorithms": len(rows), **Counter(str(row["kind"]) for row in rows)}
        print(
            json.dumps(
                {"machine": machine.as_json() | {"mpi": build["mpi"]["version"]}, "rows": rows, "summary": summary}
            )
        )
        return 0
    for row in rows:
        limits = row["constraints"]
        told = [f"at least {limits['min_ranks']} ranks"] if limits["min_ranks"] > 1 else []
        told += ["a power of two of ranks"] if limits["power_of_two_ranks"] else []
        told += ["at least as many elements as ranks"] if limits["count_at_least_ranks"] else []
        name = f"{row['kind']}:{row['name']}"
        print(f"{row['collective']:<12} {name:<36} {row['backend']:<8} {', '.join(told)}".rstrip())
    return 0
