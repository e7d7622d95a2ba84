"""Cubes of fabricated campaigns that stay in memory: writing one takes as long as making it."""

from __future__ import annotations

from pathlib import Path

import xarray as xr
from synthetic_campaign import Campaign

from collpress.cube.plan import read_plan
from collpress.cube.tree import tree
from collpress.records import read_campaign


def unwritten(campaign: Campaign, root: Path) -> xr.DataTree:
    """The cube of a campaign whose plan and journals are put under `root`; it has no provenance."""
    directory = campaign.write(root)
    origin = {"id": "fabricated", "last_record_utc": None, "journal_digest": "fabricated"}
    return tree(read_plan(directory / "plan" / "points.json"), read_campaign(directory), origin)
