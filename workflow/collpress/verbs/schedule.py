"""Show what one of our algorithms sends to whom, step by step, or draw it. Nothing is measured, and MPI is not needed:
all ranks run in one process, with elements of 4 bytes, and the result is judged.

ALGORITHM is COLLECTIVE/NAME, as `collpress algorithms` lists them: allreduce/ring for reference:ring of allreduce. The
core and the plugins of a platform must be built.

example: collpress schedule allreduce/rabenseifner --ranks 8 --count 64 --draw rabenseifner.svg
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError, did_you_mean
from collpress.execute.schedules import Schedule, ask_schedule
from collpress.files import sha256_of, write_atomically
from collpress.layout import ROOT, build_record
from collpress.plan.built import read_build

FORMATS = ("svg", "pdf", "png")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("algorithm", metavar="ALGORITHM", help="COLLECTIVE/NAME, for example bcast/binomial_doubling")
    parser.add_argument("--platform", default="local", help="whose build is asked (default: local)")
    parser.add_argument("--ranks", type=int, default=4, metavar="P", help="default: 4")
    parser.add_argument(
        "--count", type=int, metavar="N", help="elements (default: as many as ranks; none in a barrier)"
    )
    parser.add_argument("--root", type=int, default=0, metavar="R", help="of a rooted collective (default: 0)")
    parser.add_argument("--segment", type=int, default=0, metavar="N", help="elements of a segment (default: uncut)")
    parser.add_argument("--fanout", type=int, default=0, metavar="K", help="of an algorithm that has one")
    parser.add_argument("--ranks-per-node", type=int, default=0, metavar="N", help="default: all on one machine")
    parser.add_argument("--in-place", action="store_true")
    parser.add_argument("--draw", type=Path, metavar="FILE", help=f"write a picture: {', '.join(FORMATS)}")


def run(args: argparse.Namespace) -> int:
    kind = None if args.draw is None else args.draw.suffix.removeprefix(".").lower()
    if kind is not None and kind not in FORMATS:
        raise CollpressError(f'"{args.draw}" is no picture', allowed="a name that ends in ." + ", .".join(FORMATS))
    core, plugin = _built(args.platform, args.algorithm)
    collective, _, name = args.algorithm.partition("/")
    count = args.count if args.count is not None else 0 if collective == "barrier" else args.ranks
    options = ["--root", str(args.root)] if args.root else []
    options += ["--segment", str(args.segment)] if args.segment else []
    options += ["--fanout", str(args.fanout)] if args.fanout else []
    options += ["--ranks-per-node", str(args.ranks_per_node)] if args.ranks_per_node else []
    options += ["--in-place"] if args.in_place else []
    schedule = ask_schedule(core, plugin, args.ranks, count, options)
    title = f"reference:{name} of {collective}, {args.ranks} ranks, {count} elements of {schedule.element_bytes} bytes"
    if args.draw is None:
        print("\n".join([title, *_lines(schedule), _totals(schedule)]))
    else:
        command = ["collpress", "schedule", args.algorithm, "--ranks", str(args.ranks), "--count", str(count), *options]
        stamp = {"schema": 1, "command": shlex.join(command), "plugin_sha256": sha256_of(plugin)}
        write_atomically(args.draw, _picture(schedule, title, stamp, str(kind)))
        print(args.draw)
    if schedule.fault is None:
        return 0
    raise CollpressError(f"the algorithm is wrong: {schedule.fault}", where=str(plugin))


def _built(platform: str, algorithm: str) -> tuple[Path, Path]:
    path = build_record(platform)
    build = read_build(path, f"./run collpress build --platform {platform}")
    found = {
        f"{entry['collective']}/{entry['name']}": entry["path"]
        for entry in build["plugins"]
        if entry.get("kind") == "algorithm" and not entry.get("compresses")
    }
    if algorithm not in found:
        allowed = ", ".join(sorted(found))
        raise CollpressError(
            f'no algorithm "{algorithm}"', where=str(path), allowed=allowed, fix=did_you_mean(algorithm, found)
        )
    return ROOT / build["core"]["path"], ROOT / found[algorithm]


def _lines(schedule: Schedule) -> list[str]:
    head = f"{'step':>6}{'from':>8}{'to':>8}{'bytes':>12}"
    return [head] + [
        f"{m.step:>6}{m.sender:>8}{m.receiver:>8}{m.bytes:>12}{'  reduced' if m.reduced else ''}"
        for m in schedule.messages
    ]


def _totals(schedule: Schedule) -> str:
    if not schedule.messages:
        return "no messages"
    most = max(schedule.sent_by(rank) for rank in range(schedule.ranks))
    longest = max(message.bytes for message in schedule.messages)
    return (
        f"{schedule.steps} steps, {len(schedule.messages)} messages, the longest of {longest} bytes; "
        f"a rank sends at most {most} bytes, all together {sum(message.bytes for message in schedule.messages)}"
    )


def _picture(schedule: Schedule, title: str, stamp: dict[str, Any], kind: str) -> bytes:
    from collpress.figures import schedule as figure_of_schedule
    from collpress.figures import style
    from collpress.figures.pictures import pictures

    most_ranks, most_steps = figure_of_schedule.MOST_RANKS, figure_of_schedule.MOST_STEPS
    if schedule.ranks > most_ranks or schedule.steps > most_steps:
        raise CollpressError(
            f"{schedule.ranks} ranks and {schedule.steps} steps are too many for a picture",
            allowed=f"at most {most_ranks} ranks and {most_steps} steps",
            fix="ask for fewer, or leave --draw out for the list",
        )
    arrows = [(m.step, m.sender, m.receiver, m.bytes, m.reduced) for m in schedule.messages]
    with style.house():
        figure = figure_of_schedule.drawn(arrows, schedule.ranks, title, _totals(schedule))
        return pictures(figure, stamp, f"collpress: {title}", _totals(schedule))[kind]
