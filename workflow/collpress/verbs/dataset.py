"""List, describe, prepare and check datasets.

The registry is config/datasets.yaml; a prepared dataset is results/data/ID.bin (little-endian, C order) with its
sidecar ID.json. Data from outside come with pip from the index that it is configured for, or over HTTPS from the
addresses that the registry lists; all are checked by sha256. Without a network, the error says which file to put where.

  list               every dataset of the registry, and whether it is prepared
  info ID            what a dataset is, where it comes from, its licence and how to cite it
  get ID...          prepare datasets: fetch or generate, check, write
  verify ID...       check prepared datasets against the registry without changing them
  fingerprint ID...  keep what prepared captures are known by, for those who capture them again

example: collpress dataset get colpex/theta synthetic/power-law
"""

from __future__ import annotations

import argparse
import json
from itertools import groupby
from pathlib import Path
from typing import Any

from collpress.data.registry import Entry, find, load_registry
from collpress.data.stock import is_prepared, to_fetch
from collpress.errors import CollpressError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the four subcommands."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary, many in (
        ("list", "every dataset of the registry, and whether it is prepared", None),
        ("info", "what a dataset is, its licence and how to cite it", False),
        ("get", "prepare datasets: fetch or generate, check, write", True),
        ("verify", "check prepared datasets against the registry", True),
        ("fingerprint", "keep what prepared captures are known by", True),
    ):
        ids = "" if many is None else " colpex/theta synthetic/normal" if many else " colpex/theta"
        ids = " smollm2-kv/k" if name == "fingerprint" else ids
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
    verbs = {"info": _info, "get": _get, "verify": _verify, "fingerprint": _fingerprint}
    return verbs[args.command](entries, args)


def _list(registry: dict[str, Entry], args: argparse.Namespace) -> int:
    rows = [_row(entry, args.results) for entry in registry.values()]
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max((len(row["id"]) for row in rows), default=0)
    for group, members in groupby(rows, key=lambda row: row["id"].partition("/")[0]):
        print(f"{group}:")
        for row in members:
            shape = " x ".join(map(str, row["shape"]))
            print(f"  {row['id']:<{width}}  {row['dtype']}  {shape:<20}  {_state(row):<16}  {row['title']}")
    missing = to_fetch(registry.values(), args.results)
    prepared = sum(row["prepared"] for row in rows)
    print(f"{len(rows)} datasets, {prepared} prepared; all others: {_megabytes(sum(missing.values()))} to fetch")
    return 0


def _state(row: dict[str, Any]) -> str:
    if row["prepared"]:
        return "prepared"
    return f"fetch {_megabytes(row['bytes_to_fetch'])}" if row["bytes_to_fetch"] else "to be made"


def _info(entries: list[Entry], args: argparse.Namespace) -> int:
    (entry,) = entries
    about = _row(entry, args.results)
    if args.json:
        print(json.dumps(about, indent=1))
        return 0
    about["shape"] = " x ".join(map(str, entry.shape)) + " (slowest axis first)"
    source = about.pop("source")
    for key, value in [*about.items(), *((f"source {k}", v) for k, v in source.items())]:
        for position, line in enumerate(_lines(value)):
            print(f"{'' if position else key.replace('_', ' '):<22} {line}")
    return 0


def _lines(value: Any) -> list[str]:
    """A value as people read it."""
    if isinstance(value, dict):
        return ["; ".join(f"{key}: {inner}" for key, inner in value.items()) or "-"]
    words = {"None": "-", "True": "yes", "False": "no"}
    return [words.get(str(v), str(v)) for v in (value if isinstance(value, list) else [value])]


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


def _fingerprint(entries: list[Entry], args: argparse.Namespace) -> int:
    from collpress.data.fingerprint import write
    from collpress.data.prepare import stored_values

    for entry in entries:
        if entry.capture is None:
            raise CollpressError("only captures have a fingerprint, others a sha256", where=entry.id)
        if not is_prepared(entry, args.results):
            raise CollpressError("not prepared", where=entry.id, fix=f"collpress dataset get {entry.id}")
        print(f"{entry.id}: {write(entry.id, stored_values(entry, args.results))}")
    return 0


def _row(entry: Entry, results: Path) -> dict[str, Any]:
    """All that is known of a dataset without reading its values; sizes in bytes."""
    plain = (
        "id",
        "title",
        "note",
        "synthetic",
        "dtype",
        "native_dtype",
        "shape",
        "ranks",
        "elements",
        "bytes",
        "units",
        "missing",
    )
    row = {key: getattr(entry, key) for key in (*plain, "sha256", "licence", "citation", "acknowledgement")}
    return row | {
        "shape": list(entry.shape),
        "prepared": is_prepared(entry, results),
        "bytes_to_fetch": sum(to_fetch([entry], results).values()),
        "source": entry.source,
    }


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"
