"""Draw a figure of a campaign on a platform from its cube.

Writes results/campaigns/CAMPAIGN/PLATFORM/figures/NAME.{pdf,svg,png,csv,json}: the picture in three formats, exactly
the numbers it shows, and its provenance (which is inside the pictures too). Equal cubes give equal bytes. A name with
-single behind it draws the same figure for one column of a page (3.5 inches) instead of two (7.16 inches).

example: collpress figure latency --campaign quick --platform local
"""

from __future__ import annotations

import argparse

from collpress.figures.registry import figure_module, figure_names
from collpress.layout import Places


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help=f"one of: {', '.join(figure_names())}; each also with -single")
    parser.add_argument("--campaign", required=True, help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")


def run(args: argparse.Namespace) -> int:
    figure_module(args.name)  # a misspelt name is told before matplotlib takes its second to load
    from collpress.figures.files import write_figure

    places = Places(args.campaign, args.platform)
    for path in write_figure(args.name, places.cube, places.directory / "figures"):
        print(path)
    return 0
