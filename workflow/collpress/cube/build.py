"""`cube.nc` of a campaign on a platform, from the frozen plan and the journals and nothing else."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from collpress.cube.file import write_cube
from collpress.cube.origin import origin
from collpress.cube.plan import read_plan
from collpress.cube.tree import tree
from collpress.layout import ROOT
from collpress.records import read_campaign


def build_cube(directory: Path, *, build: Path | None = None, root: Path = ROOT) -> xr.DataTree:
    """Make the cube of `directory` (`results/campaigns/<campaign>/<platform>`), write `cube.nc` there and return it.

    `build` is the platform's build.json (compiler and MPI are quoted from it). Raises CollpressError where the plan is
    missing, a journal is damaged, or the cube would explode.
    """
    plan = read_plan(directory / "plan" / "points.json")
    journals = read_campaign(directory)
    cube = tree(plan, journals, origin(directory, plan, journals, build, root))
    write_cube(cube, directory / "cube.nc")
    return cube
