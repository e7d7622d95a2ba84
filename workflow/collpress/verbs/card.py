"""Say what a prepared dataset looks like: a card of numbers as JSON, and a page of plots.

Writes DIR/ID.json and DIR/ID.{pdf,svg,png}: how the values are distributed, the entropies of their bytes and exponents,
whether they were once something with fewer bits, how smooth they are, their power spectrum, an estimate of how well
they compress, and how alike the parts of a capture are. Equal data give equal bytes; nothing is measured again.

example: collpress card synthetic/power-law
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from collpress.data.registry import find, load_registry
from collpress.layout import CARDS, dataset_file

REGISTRY = Path("config/datasets.yaml")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a prepared dataset, for example synthetic/power-law")
    parser.add_argument("--json", action="store_true", help="print the content of ID.json instead of its main numbers")
    parser.add_argument("--out", type=Path, default=CARDS, metavar="DIR", help=f"where to write (default: {CARDS})")


def run(args: argparse.Namespace) -> int:
    name = args.id
    if REGISTRY.is_file() and not dataset_file(name).is_file():
        name = find(load_registry(REGISTRY), name, REGISTRY).public_id  # a misspelt id is told with the right one
    from collpress.cards.files import write_card
    from collpress.cards.words import facts, origin

    content, paths = write_card(name, args.out)
    if args.json:
        print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    print(f"{content['id']}: {content['title']} ({origin(content)})")
    for name, value in facts(content):
        print(f"  {name:<22} {value}")
    print("\n".join(map(str, paths)))
    return 0
