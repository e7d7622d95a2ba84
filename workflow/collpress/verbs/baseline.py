"""Keep what was measured under a name, to compare later campaigns with: save, list, show.

A baseline is a small file, results/baselines/NAME.json: every point with the median of each launch, the settings and
data it was measured with, the machine, and the checksum of the cube it was made of. It can be kept under version
control and named by its path.

  save NAME A     keep A (CAMPAIGN/PLATFORM or the path of a cube.nc); never over another, unless --force is given
  list            every baseline: of what, how many points, when it was measured
  show NAME       one of them: its machine, settings and data; --json prints the whole file

example: collpress baseline save main quick/local
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collpress.errors import CollpressError
from collpress.layout import BASELINES, baseline_file
from collpress.printable import printable

if TYPE_CHECKING:
    from collpress.comparison.subject import Subject


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    save = commands.add_parser("save", help="keep a campaign on a platform as a baseline")
    save.add_argument("name", metavar="NAME", help="of the baseline: lower-case letters, digits, - and _")
    save.add_argument("source", metavar="A", help="CAMPAIGN/PLATFORM, or the path of a cube.nc")
    save.add_argument("--force", action="store_true", help="write over a baseline that is there")
    listing = commands.add_parser("list", help="every baseline: of what, how many points, when")
    listing.add_argument("--json", action="store_true", help="print JSON")
    show = commands.add_parser("show", help="machine, settings and data of a baseline")
    show.add_argument("name", metavar="NAME", help="its name, or the path of its file")
    show.add_argument("--json", action="store_true", help="print the whole file")


def run(args: argparse.Namespace) -> int:
    command = {"save": _save, "list": _list, "show": _show}[args.command]
    return command(args)


def _save(args: argparse.Namespace) -> int:
    from collpress.comparison.baseline import save
    from collpress.comparison.subject import subject

    baseline_file(args.name)  # a name that is none is told before a large cube is read
    source = subject(args.source)
    path = save(args.name, source.measured, args.source, force=args.force)
    print(f"{path}: {_facts(source)['points']}")
    return 0


def _list(args: argparse.Namespace) -> int:
    from collpress.comparison.subject import subject

    found: dict[str, dict[str, Any]] = {}
    for path in sorted(BASELINES.glob("*.json")):
        try:
            found[path.stem] = _facts(subject(str(path)))
        except CollpressError as error:
            print(f"warning: left out: {error}", file=sys.stderr)
    if args.json:
        print(json.dumps([{"name": name, **facts} for name, facts in found.items()], ensure_ascii=False))
        return 0
    if not found:
        print(f"no baseline in {BASELINES}; collpress baseline save NAME CAMPAIGN/PLATFORM keeps one")
    width = max(map(len, found), default=0)
    for name, facts in found.items():
        print(printable(f"{name:<{width}}  {facts['of']}, {facts['points']}, measured until {facts['measured_until']}"))
    return 0


def _show(args: argparse.Namespace) -> int:
    from collpress.comparison.subject import subject

    path = Path(args.name) if args.name.endswith(".json") else baseline_file(args.name)
    kept = subject(str(path))
    if args.json:
        print(path.read_text(encoding="utf-8"), end="")
        return 0
    for name, value in _lines(kept):
        print(printable(f"{name:<15} {value}"))
    return 0


def _facts(of: Subject) -> dict[str, Any]:
    from collpress.analysis.circumstances import provenance

    attrs, entries = of.measured.attrs, of.measured.entries
    ok = sum(entry.status == "ok" for entry in entries)
    return {
        "of": f"{attrs.get('campaign')} on {attrs.get('platform')}",
        "points": f"{ok} of {len(entries)} points ok, {attrs.get('launches')} launches",
        "measured_until": provenance(of.measured).get("last_record_utc"),
        "cube_id": attrs.get("id"),
        "cube_sha256": of.measured.sha256,
    }


def _lines(of: Subject) -> Iterator[tuple[str, Any]]:
    from collpress.analysis.circumstances import load, provenance

    found, busy = provenance(of.measured), load(of.measured)
    yield from _facts(of).items()
    yield "MPI", of.mpi
    yield "hosts", ", ".join((found.get("world") or {}).get("hosts") or ["not told"])
    for name, value in (found.get("hardware") or {}).items():
        yield name, value
    yield "load", busy.words if busy else "not told"
    for name, values in (found.get("measure") or {}).items():
        yield name, ", ".join(map(str, values))
    for name, digest in (found.get("datasets") or {}).items():
        yield name, f"sha256 {digest}"
