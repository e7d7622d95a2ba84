"""Draw a figure of a campaign on a platform from its cube.

Writes results/campaigns/CAMPAIGN/PLATFORM/figures/NAME.{pdf,svg,png,csv,json}: the picture in three formats, exactly
the numbers it shows, and its provenance (which is inside the pictures too). Equal cubes give equal bytes. A name with
-single behind it draws the same figure for one column of a page (3.5 inches) instead of two (7.16 inches).

With --provenance, prints what a PNG, SVG or PDF says of itself, wherever the file went: from which cube it was drawn,
by which command, on which machine.

example: collpress figure latency --campaign quick --platform local
example: collpress figure --provenance figures/latency.pdf
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

from collpress.errors import CollpressError
from collpress.figures.registry import figure_module, figure_names
from collpress.figures.stamped import read_stamp
from collpress.layout import Places


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help=f"one of: {', '.join(figure_names())}; each also with -single")
    parser.add_argument("--campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--provenance", type=Path, metavar="FILE", help="draw nothing; print the provenance in FILE")


def run(args: argparse.Namespace) -> int:
    if args.provenance:
        print(json.dumps(read_stamp(args.provenance), indent=1, allow_nan=False))
        return 0
    if not (args.name and args.campaign):
        raise CollpressError(
            "which figure of which campaign?",
            where="collpress figure",
            allowed="NAME --campaign CAMPAIGN, or --provenance FILE",
        )
    figure_module(args.name)  # a misspelt name is told before matplotlib takes its second to load
    write_figure = _write_figure()
    places = Places(args.campaign, args.platform)
    for path in write_figure(args.name, places.cube, places.directory / "figures"):
        print(path)
    return 0


def _write_figure() -> Callable[[str, Path, Path], list[Path]]:
    """What draws. A user's matplotlibrc changes nothing in a figure, so that it is not read, whatever is in it."""
    os.environ["MATPLOTLIBRC"] = os.devnull
    try:
        from collpress.figures.files import write_figure
    except UnicodeDecodeError:
        # One in the working directory is read before the variable is asked.
        raise CollpressError(
            "matplotlib cannot read its settings: they are not UTF-8",
            where=str(Path("matplotlibrc").absolute()),
            fix="remove the file, or save it as UTF-8",
        ) from None
    return write_figure
