"""Check or write the JSON schemas of campaign and platform files, which editors use to complete and check them.

example: collpress schema --write
"""

from __future__ import annotations

import argparse
from pathlib import Path

from collpress.errors import CollpressError
from collpress.files import write_atomically
from collpress.spec.schema import schema_texts


def configure(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--check", action="store_true", help="fail if a file differs from the models (the default)")
    which.add_argument("--write", action="store_true", help="write the files in config/schemas")


def run(args: argparse.Namespace) -> int:
    stale = [path for path, text in schema_texts().items() if not _same(path, text)]
    if args.write:
        for path in stale:
            write_atomically(path, schema_texts()[path].encode("utf-8"))
            print(f"wrote {path}")
    elif stale:
        raise CollpressError(
            f"not what the models say: {', '.join(map(str, stale))}", fix="./run collpress schema --write"
        )
    return 0


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text
