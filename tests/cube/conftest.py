"""Cubes of a fabricated campaign; nothing here was measured."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr
from synthetic_campaign import quick

from collpress.cube.build import build_cube


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`results/campaigns/<campaign>/<platform>` with a plan, journals and a cube."""
    directory = quick().write(tmp_path_factory.mktemp("results é"))
    build_cube(directory, root=directory)
    return directory


@pytest.fixture(scope="session")
def cube(folder: Path) -> xr.DataTree:
    with xr.open_datatree(folder / "cube.nc") as lazy:
        return lazy.load()
