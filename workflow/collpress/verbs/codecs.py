"""List the codecs that are built for a platform.

With --json: {"machine": {...}, "rows": [{"name", "dtypes", "takes_bound", "lossless", "summary"}, ...],
"summary": {"codecs": n}}.

example: collpress codecs --platform local
"""

from __future__ import annotations

import argparse
import json
import platform
from typing import Any

from collpress.codecs import Codec
from collpress.codecs.catalog import built_codecs


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--json", action="store_true", help="for machines")


def run(args: argparse.Namespace) -> int:
    codecs = built_codecs(args.platform)
    if args.json:
        machine = {"host": platform.node(), "architecture": platform.machine(), "platform": args.platform}
        print(json.dumps({"machine": machine, "rows": [_row(c) for c in codecs], "summary": {"codecs": len(codecs)}}))
        return 0
    print(f"{'codec':<12} {'dtypes':<24} {'keeps':<16} summary")
    for codec in codecs:
        keeps = "every bit" if codec.lossless else "an error bound" if codec.takes_bound else "no given bound"
        print(f"{codec.name:<12} {' '.join(codec.dtypes):<24} {keeps:<16} {codec.summary}")
    return 0


def _row(codec: Codec) -> dict[str, Any]:
    return {
        "name": codec.name,
        "dtypes": list(codec.dtypes),
        "takes_bound": codec.takes_bound,
        "lossless": codec.lossless,
        "summary": codec.summary,
    }
