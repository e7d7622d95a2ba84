"""Write a platform file for this machine, or list those that there are.

`new` observes the machine (CPUs, cores, memory, the MPI libraries that it finds, launchers, compiler) and writes a
commented config/platforms/NAME.yaml. What it cannot see is a comment that tells what to fill in. `list --json`
prints {"machine": ..., "rows": [...], "summary": {...}}.

  new NAME        write config/platforms/NAME.yaml; never over a file that is there, unless --force is given
  list            every platform file: title, MPI library, launcher

example: collpress platform new mymachine
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError, did_you_mean
from collpress.files import write_atomically
from collpress.layout import Places, platform_file
from collpress.spec import load_platform, platform_text


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    new = commands.add_parser("new", help="write a platform file for this machine")
    new.add_argument("name", metavar="NAME", help="of the platform: lower-case letters, digits, - and _")
    new.add_argument("--mpi", metavar="KIND", help="the MPI library to use, such as openmpi (default: the first found)")
    new.add_argument("--force", action="store_true", help="write over a file that is there")
    listing = commands.add_parser("list", help="every platform file: title, MPI library, launcher")
    listing.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    return _new(args) if args.command == "new" else _list(args)


def _new(args: argparse.Namespace) -> int:
    from collpress.doctor.draft import draft  # asking compilers takes a second: a mistake in the name is told first
    from collpress.doctor.survey import choices, survey
    from collpress.spec.platform import Toolchain

    path = platform_file(Places("any", args.name).platform)
    allowed = choices(Toolchain, "mpi")
    if args.mpi is not None and args.mpi not in allowed:
        raise CollpressError(
            f'no platform can ask for the MPI library "{args.mpi}"',
            where="--mpi",
            allowed=", ".join(allowed),
            fix=did_you_mean(args.mpi, allowed),
        )
    if path.exists() and not args.force:
        raise CollpressError(
            "there is a file of this name already", where=str(path), fix="choose another name, or add --force"
        )
    text = draft(survey(), args.mpi)
    written = platform_text(text, str(path))
    write_atomically(path, text.encode("utf-8"))
    path.chmod(0o644)
    print(f"{path}: {written.title}")
    print(f"next: collpress doctor {args.name}; collpress plan quick --platform {args.name}")
    return 0


def _list(args: argparse.Namespace) -> int:
    rows = [_row(path) for path in sorted(platform_file("any").parent.glob("*.yaml"))]
    if args.json:
        from collpress.plan.machine import this_machine

        broken = sum(row["mistake"] is not None for row in rows)
        summary = {"platforms": len(rows), "with_mistakes": broken}
        print(json.dumps({"machine": this_machine().as_json(), "rows": rows, "summary": summary}, ensure_ascii=False))
        return 0
    if not rows:
        print("no platform file in config/platforms; write one: collpress platform new NAME")
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        if row["mistake"] is not None:
            print(f"{row['name']:<{width}}  cannot be used: {_first(row['mistake'])}")
        else:
            print(f"{row['name']:<{width}}  {row['mpi']} from {row['from']}, {row['launcher']}: {row['title']}")
    return 0


def _row(path: Path) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("title", "mpi", "from", "launcher", "mistake"))
    row = {"name": path.stem, "file": str(path)} | row
    try:
        platform = load_platform(path)
    except CollpressError as error:
        return row | {"mistake": str(error)}
    toolchain = platform.toolchain
    return row | {
        "title": platform.title,
        "mpi": toolchain.mpi,
        "from": toolchain.source,
        "launcher": platform.launcher,
    }


def _first(mistake: str) -> str:
    """The first mistake of a file, after how many there are where there are several."""
    head, *others = mistake.splitlines()
    return f"{head} {others[0].strip()}" if head.endswith(":") and others else head
