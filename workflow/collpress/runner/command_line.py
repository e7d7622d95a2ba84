"""The command line: the core's for measuring (docs/contracts.md, "The core's command line")."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from collpress.errors import CollpressError

SAMPLES_MODES = ("none", "summary", "per-rank", "all")


@dataclass(frozen=True)
class Options:
    plan: str
    journal: str
    launch: int
    attempt: int
    seed: int
    ranks: int
    samples: str
    samples_mode: str
    traces: str


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CollpressError(f"{self.prog}: {message}")


def read_command_line(arguments: Sequence[str]) -> Options:
    """Raises CollpressError for what makes no sense."""
    parser = _Parser("collpress.runner", description=__doc__, allow_abbrev=False)
    parser.add_argument("--plan", required=True, metavar="FILE")
    parser.add_argument("--journal", required=True, metavar="FILE")
    for name in ("launch", "attempt"):
        parser.add_argument(f"--{name}", required=True, type=_whole(0, 2**63 - 1), metavar="N")
    parser.add_argument("--seed", required=True, type=_whole(0, 2**64 - 1), metavar="N")
    parser.add_argument("--ranks", required=True, type=_whole(1, 2**31 - 1), metavar="N")
    parser.add_argument("--samples", default="", metavar="FILE")
    parser.add_argument("--samples-mode", default="none", choices=SAMPLES_MODES)
    # Of algorithms of ours alone, which this backend does not call.
    parser.add_argument("--traces", default="", metavar="FILE", help="accepted, and never written")
    options = Options(**vars(parser.parse_args(arguments)))
    if options.samples_mode != "none" and not options.samples:
        parser.error("--samples-mode needs --samples FILE")
    return options


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from {least} to {most}')
        return int(text)

    return read
