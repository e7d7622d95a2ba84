"""List the algorithms that a platform's installation offers for each collective: the library's, our references, and
those that compress.

example: collpress algorithms --platform local --collective bcast
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from itertools import groupby
from typing import Any

from collpress.collectives import COLLECTIVES, LEAST_RANKS, ONE_WAY
from collpress.plan.inventory import installed_offer
from collpress.plan.offer import Algorithm
from collpress.spec import load_platform


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--platform", default="local", help="name of a file in config/platforms, or its path (default: local)"
    )
    parser.add_argument("--collective", choices=COLLECTIVES, help="only this one's algorithms")
    parser.add_argument("--json", action="store_true", help='print {"machine": ..., "rows": [...], "summary": {...}}')


def run(args: argparse.Namespace) -> int:
    offer, build, machine = installed_offer(load_platform(args.platform))
    chosen = [args.collective] if args.collective else list(COLLECTIVES)
    kinds = ("library", "reference", "compressed")
    found = [a for c in chosen for kind in kinds for a in offer.algorithms if (a.collective, a.kind) == (c, kind)]
    if args.json:
        rows = [_row(a) for a in found]
        summary = {"algorithms": len(rows), **Counter(str(row["kind"]) for row in rows)}
        told = machine.as_json() | {"mpi": build["mpi"]["version"]}
        print(json.dumps({"machine": told, "rows": rows, "summary": summary}))
        return 0
    for collective, algorithms in groupby(found, key=lambda a: a.collective):
        print(collective)
        for a in algorithms:
            print(f"  {a.name:<36} {', '.join(_words(a))}".rstrip())
    for collective in (c for c in chosen if c not in {a.collective for a in found}):
        print(f"{collective}\n  nothing: this core does not call it")
    return 0


def _row(a: Algorithm) -> dict[str, Any]:
    return {
        "collective": a.collective,
        "name": a.name.partition(":")[2],
        "kind": a.kind,
        "backend": a.backend,
        "constraints": {
            "min_ranks": _least_ranks(a),
            "power_of_two_ranks": a.power_of_two_ranks,
            "count_at_least_ranks": a.count_at_least_ranks,
            "in_place": _in_place(a),
            "only_in_place": a.only_in_place,
            "segments": a.segments,
            "least_fanout": a.least_fanout or None,
            "needs_add": a.needs_add,
        },
    }


def _words(a: Algorithm) -> list[str]:
    least = _least_ranks(a)
    told = [f"at least {least} ranks"] if least > 1 else []
    told += ["a power of two of ranks"] if a.power_of_two_ranks else []
    told += ["at least as many elements as ranks"] if a.count_at_least_ranks else []
    told += ["in place only" if a.only_in_place else "in place too"] if _in_place(a) else []
    told += ["segment_bytes"] if a.segments else []
    told += ["a codec that adds streams"] if a.needs_add else []
    told += [f"fanout from {a.least_fanout}" if a.least_fanout > 2 else "fanout"] if a.least_fanout else []
    return told


def _least_ranks(a: Algorithm) -> int:
    return max(a.min_ranks, LEAST_RANKS.get(a.collective, 1))


def _in_place(a: Algorithm) -> bool:
    return a.in_place and a.collective not in ONE_WAY
