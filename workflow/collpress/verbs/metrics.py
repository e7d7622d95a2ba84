"""List the fidelity metrics that are built for a platform.

With --json: {"machine": {...}, "rows": [{"name", "values", "units", "summary"}, ...], "summary": {"metrics": n}}; the
unit "data" is that of the data.

example: collpress metrics --platform local
"""

from __future__ import annotations

import argparse
import json
import platform
from typing import Any

from collpress.metrics import Metric
from collpress.metrics.catalog import built_metrics


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--json", action="store_true", help="for machines")


def run(args: argparse.Namespace) -> int:
    metrics = built_metrics(args.platform)
    if args.json:
        machine = {"host": platform.node(), "architecture": platform.machine(), "platform": args.platform}
        print(
            json.dumps({"machine": machine, "rows": [_row(m) for m in metrics], "summary": {"metrics": len(metrics)}})
        )
        return 0
    print(f"{'metric':<16} {'values [unit]':<44} summary")
    for metric in metrics:
        print(f"{metric.name:<16} {_values(metric):<44} {metric.summary}")
    return 0


def _values(metric: Metric) -> str:
    """The values with their units; of many only the ends."""
    shown = [f"{name} [{unit}]" for name, unit in zip(metric.values, metric.units, strict=True)]
    return ", ".join(shown if len(shown) <= 4 else [shown[0], "...", f"{shown[-1]} ({len(shown)} values)"])


def _row(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "values": list(metric.values),
        "units": list(metric.units),
        "summary": metric.summary,
    }
