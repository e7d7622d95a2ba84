"""Compile the core and the plugins for a platform, or a campaign's own plugins.

For a platform with MPICH from its wheel, that wheel is installed into .venv/mpich first (once; needs a package index).
With --out, builds the plugins found in the --plugins directories (.cpp and .c files, in them or below) against the
platform's core and writes OUT/build.json; without any directory that file says that there are none. Nothing that is
up to date is touched.

example: collpress build --platform local
example: collpress build --platform local --plugins my-plugins --out results/campaigns/mine/local/plugins
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.build import build_plugins, build_project
from collpress.execute.toolchain import prepare_toolchain, resolve_toolchain
from collpress.layout import build_record
from collpress.spec import load_platform


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument(
        "--plugins",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a directory of a campaign's own plugins",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where a campaign's own plugins go")


def run(args: argparse.Namespace) -> int:
    if args.plugins and not args.out:
        raise CollpressError("--plugins needs --out", fix="add --out DIR")
    wanted = load_platform(args.platform).toolchain
    prepare_toolchain(wanted.source, wanted.mpi)
    toolchain = resolve_toolchain(wanted.source, build_record(args.platform).parent / "toolchain", wanted.mpi)
    if args.out:
        built = build_plugins(args.platform, toolchain, args.plugins, args.out)
    else:
        print(f"building the core and its plugins with {toolchain.compiler.version}", file=sys.stderr)
        built = build_project(args.platform, toolchain)
    print(f"{built.record}: {'new' if built.changed else 'unchanged'}")
    return 0
