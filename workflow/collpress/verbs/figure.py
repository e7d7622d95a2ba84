"""Draw a figure of a campaign on a platform from its cube.

Writes results/campaigns/CAMPAIGN/PLATFORM/figures/NAME.{pdf,svg,png,csv,json}: the picture in three formats, exactly
the numbers it shows, and its provenance (which is inside the pictures too). Equal cubes give equal bytes. A name with
-single behind it draws the same figure for one column of a page (3.5 inches) instead of two (7.16 inches).

A figure that compares platforms is drawn over several cubes where these are named: break-even over those of a campaign
on links of several rates. Its files are then in results/figures, or in the folder that --into names.

With --provenance, prints what a PNG, SVG or PDF says of itself, wherever the file went: from which cube it was drawn,
by which command, on which machine.

example: collpress figure latency --campaign quick --platform local
example: collpress figure break-even ccbench-break-even/throttled-1g ccbench-break-even/throttled-10g
example: collpress figure --provenance figures/latency.pdf
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from types import ModuleType

from collpress.errors import CollpressError
from collpress.figures.registry import figure_module, figure_names
from collpress.figures.stamped import read_stamp
from collpress.layout import FIGURES, Places, cube_file


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help=f"one of: {', '.join(figure_names())}; each also with -single")
    parser.add_argument(
        "cubes", nargs="*", metavar="CUBE", help="CAMPAIGN/PLATFORM or the path of a cube.nc, in place of --campaign"
    )
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="for a figure of CUBEs (default: results/figures)")
    parser.add_argument("--campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--provenance", type=Path, metavar="FILE", help="draw nothing; print the provenance in FILE")


def run(args: argparse.Namespace) -> int:
    if args.provenance:
        print(json.dumps(read_stamp(args.provenance), indent=1, allow_nan=False))
        return 0
    if not args.name or bool(args.campaign) == bool(args.cubes) or (args.cubes and args.platform):
        raise CollpressError(
            "which figure of which campaign?",
            where="collpress figure",
            allowed="NAME --campaign CAMPAIGN [--platform PLATFORM], NAME CUBE ..., or --provenance FILE",
        )
    if args.into and not args.cubes:
        raise CollpressError("only a figure of CUBEs goes elsewhere", where="--into", fix="name the cubes")
    figure_module(args.name)  # a misspelt name is told before matplotlib takes its second to load
    paths = [cube_file(word) for word in args.cubes]
    files = _files()
    if paths:
        written = files.write_figure_of_several(args.name, paths, args.cubes, args.into or FIGURES)
    else:
        places = Places(args.campaign, args.platform or "local")
        written = files.write_figure(args.name, places.cube, places.directory / "figures")
    for path in written:
        print(path)
    return 0


def _files() -> ModuleType:
    """What draws. A user's matplotlibrc changes nothing in a figure, so that it is not read, whatever is in it."""
    os.environ["MATPLOTLIBRC"] = os.devnull
    try:
        from collpress.figures import files
    except UnicodeDecodeError:
        # One in the working directory is read before the variable is asked.
        raise CollpressError(
            "matplotlib cannot read its settings: they are not UTF-8",
            where=str(Path("matplotlibrc").absolute()),
            fix="remove the file, or save it as UTF-8",
        ) from None
    return files
