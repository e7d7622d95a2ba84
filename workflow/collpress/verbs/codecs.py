"""List the codecs that are built for a platform.

Under the table stand the settings of those that have any, with their usual values, and what is missing for a codec
whose outside library is not there.

With --json: {"machine": {...}, "rows": [{"name", "dtypes", "takes_bound", "lossless", "summary", "settings",
"missing"}, ...], "summary": {"codecs": n}}; "missing" is null where nothing is.

example: collpress codecs --platform local
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from typing import Any

from collpress.codecs import Codec
from collpress.codecs.catalog import built_codecs
from collpress.codecs.outside import missing_library


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--json", action="store_true", help="for machines")


def run(args: argparse.Namespace) -> int:
    codecs = built_codecs(args.platform)
    if args.json:
        machine = {"host": platform.node(), "architecture": platform.machine(), "platform": args.platform}
        print(json.dumps({"machine": machine, "rows": [_row(c) for c in codecs], "summary": {"codecs": len(codecs)}}))
        return 0
    width = max(len("codec"), *(len(codec.name) for codec in codecs)) if codecs else 0
    dtypes = max(len("dtypes"), *(len(" ".join(codec.dtypes)) for codec in codecs)) if codecs else 0
    print(f"{'codec':<{width}} {'dtypes':<{dtypes}} {'keeps':<16} summary")
    for codec in codecs:
        keeps = "every bit" if codec.lossless else "an error bound" if codec.takes_bound else "no given bound"
        print(f"{codec.name:<{width}} {' '.join(codec.dtypes):<{dtypes}} {keeps:<16} {codec.summary}")
    settled = [codec for codec in codecs if codec.parameters]
    if settled:
        print("\nsettings, as is usual:")
    for codec in settled:
        print(f"  {codec.name}({', '.join(f'{p.name}={p.usual_text}' for p in codec.parameters)})")
    for codec in codecs:
        missing = missing_library(codec.name)
        if missing is not None:
            print(f"{codec.name} is unsupported here: {missing}")
    return 0


def _row(codec: Codec) -> dict[str, Any]:
    return {
        "name": codec.name,
        "dtypes": list(codec.dtypes),
        "takes_bound": codec.takes_bound,
        "lossless": codec.lossless,
        "summary": codec.summary,
        "settings": [asdict(parameter) for parameter in codec.parameters],
        "missing": missing_library(codec.name),
    }
