"""Build cube.nc of a campaign on a platform from its journals.

The cube holds one group per experiment: every planned point with its status, median times with confidence limits,
bandwidths, errors, compression and phases. It can be rebuilt at any time; equal journals give equal bytes. It opens
with xarray.open_datatree.

example: collpress cube quick --platform local
"""

from __future__ import annotations

import argparse

from collpress.cube.build import build_cube
from collpress.layout import Places, build_record


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")


def run(args: argparse.Namespace) -> int:
    places = Places(args.campaign, args.platform)
    cube = build_cube(places.directory, build=build_record(args.platform))
    print(f"{places.cube}: {cube.attrs['ok_points']} of {cube.attrs['planned_points']} points ok")
    return 0
