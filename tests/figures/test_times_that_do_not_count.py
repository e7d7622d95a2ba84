"""Times that no launch can have, in points that are ok: drawings and findings go on without them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from collpress.cube.file import open_cube, write_cube
from collpress.figures import style
from collpress.figures.registry import load
from collpress.findings.report import write_findings


@pytest.mark.parametrize("bad", [[np.nan], [0.0, -1.0, np.inf, np.nan]], ids=["none", "each kind in turn"])
def test_points_without_a_time_stop_neither_figures_nor_findings(
    bad: list[float], folder: Path, tmp_path: Path
) -> None:
    cube = open_cube(folder / "cube.nc")
    for child in cube.children.values():
        group = child.to_dataset()
        times = [str(n) for n in group.data_vars if str(n).startswith("latency_") and group[n].dtype.kind == "f"]
        child.dataset = group.assign({n: group[n].copy(data=np.resize(bad, group[n].shape)) for n in times})
    write_cube(cube, tmp_path / "bad.nc")
    write_findings(tmp_path / "bad.nc", tmp_path / "f.json", tmp_path / "f.md")
    damaged = open_cube(tmp_path / "bad.nc")
    with style.house():
        for name in ("latency", "best-over-default", "speed-up"):
            assert load(name)(damaged).caption
