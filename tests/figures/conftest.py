"""Figures of the fabricated campaign of tests/cube, with fabricated fidelity."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cube"))

from fabricated_fidelity import with_fidelity
from synthetic_campaign import small

from collpress.cube.build import build_cube
from collpress.cube.file import open_cube, write_cube


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`results/campaigns/<campaign>/<platform>` with a plan, journals and a cube."""
    directory = small().write(tmp_path_factory.mktemp("results é"))
    build_cube(directory, root=directory)
    write_cube(with_fidelity(open_cube(directory / "cube.nc")), directory / "cube.nc")
    return directory
