"""Every collective in one cube: further axes only where they are used, rates by their own formulas, overlap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from synthetic_campaign import Campaign, taking

from collpress.analysis.wrapping import wrapped
from collpress.collectives import COLLECTIVES
from collpress.cube.axes import FACTORS
from collpress.cube.build import build_cube
from collpress.cube.file import open_cube
from collpress.usual import USUAL

OVERLAP = {
    "iterations": 3,
    "pure_s": 1e-3,
    "compute_s": 2e-3,
    "overlapped_s": 2.25e-3,
    "omb_percent": 75.0,
    "imb_percent": 37.5,
}


def group(campaign: Campaign, results: Path) -> xr.Dataset:
    """What a reader gets of the experiment `e`, after the cube was judged sound."""
    folder = campaign.write(results)
    build_cube(folder, root=results)
    return open_cube(folder / "cube.nc")["e"].to_dataset()


def test_what_is_usual_everywhere_is_no_axis_whether_or_not_the_plan_names_it(tmp_path: Path) -> None:
    for name, more in (("older", {}), ("newer", dict(USUAL))):
        campaign = Campaign(launches=1)
        campaign.add("e", **more)
        assert {str(d) for d in group(campaign, tmp_path / name)["status"].dims} == set(FACTORS)


def test_what_is_otherwise_in_one_point_is_an_axis_of_all(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", **USUAL)
    campaign.add("e", **USUAL | {"root": 3, "segment_bytes": 1024, "sync": "window"})
    campaign.add("e", **USUAL | {"segment_bytes": 64})
    found = group(campaign, tmp_path)
    assert [d for d in found["status"].dims if d not in FACTORS] == ["root", "segment_bytes", "sync"]
    assert found["root"].values.tolist() == [0, 3]
    assert found["segment_bytes"].values.astype(str).tolist() == ["default", "64", "1024"]
    assert found["sync"].values.astype(str).tolist() == ["dissemination", "window"]
    there = found["latency_median"].sel(root=3, segment_bytes="1024", sync="window").squeeze()
    assert np.isfinite(there.item())


def test_a_factor_that_is_the_same_unusual_value_everywhere_is_still_told(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", **USUAL | {"cache": "cold"})
    assert group(campaign, tmp_path)["cache"].values.astype(str).tolist() == ["cold"]


# Bytes of the operation and factor of the bus bandwidth for 4 ranks, messages of 1000 bytes.
RATES = {
    "allreduce": (1000, 1.5),
    "reduce": (1000, 1.0),
    "reduce_scatter": (1000, 0.75),
    "allgather": (4000, 0.75),
    "allgatherv": (4000, 0.75),
    "gather": (4000, 0.75),
    "scatter": (4000, 0.75),
    "alltoall": (4000, 0.75),
    "alltoallv": (4000, 0.75),
    "bcast": (1000, 1.0),
    "barrier": (None, None),
    "pingpong": (2000, None),
}


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    campaign = Campaign(launches=1)
    for collective in COLLECTIVES:
        size = 0 if collective == "barrier" else 1000
        campaign.add("e", collective=collective, message_bytes=size, outcome=taking(0.5, unique_bytes=None))
    return group(campaign, tmp_path_factory.mktemp("every"))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_rates_are_those_of_the_collective(every: xr.Dataset, collective: str) -> None:
    size, factor = RATES[collective]
    cell = every.sel(collective=collective, message_bytes=1000 if size else 0).squeeze()
    expected = float("nan") if size is None else size / 0.5
    assert cell["algbw"].item() == pytest.approx(expected, nan_ok=True)
    assert cell["busbw"].item() == pytest.approx(expected * (factor or float("nan")), nan_ok=True)


def test_the_formulas_stand_beside_the_rates(every: xr.Dataset) -> None:
    formula = every["algbw"].attrs["formula"]
    for said in ("allreduce: message_bytes", "allgather: p message_bytes", "pingpong: 2 message_bytes"):
        assert said in formula
    assert "barrier" not in formula + every["busbw"].attrs["formula"]


def test_the_overlap_of_nonblocking_calls_is_in_the_cube_and_only_theirs(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e")
    campaign.add("e", call="nonblocking", outcome=lambda _: {"overlap": OVERLAP})
    found = group(campaign, tmp_path)
    cell = found.sel(call="nonblocking").squeeze()
    names = ("overlap_pure", "overlap_compute", "overlap_overlapped", "overlap_omb", "overlap_imb")
    assert [cell[name].item() for name in names] == list(OVERLAP.values())[1:]
    assert all(np.isnan(found[name].sel(call="blocking").squeeze().item()) for name in names)
    plain = Campaign(launches=1)
    plain.add("e")
    assert not [v for v in group(plain, tmp_path / "plain").data_vars if str(v).startswith("overlap")]


@pytest.mark.parametrize(("unique", "told"), [(1000, False), (999, True)])
def test_a_broadcast_of_different_bytes_is_not_told_as_wrapped_though_only_root_sends(
    tmp_path: Path, unique: int, told: bool
) -> None:
    campaign = Campaign(launches=1)
    campaign.add(
        "e",
        collective="bcast",
        dataset="colpex/theta",
        message_bytes=1000,
        outcome=lambda _: {"unique_bytes": unique, "total_bytes": 1000},
    )
    assert bool(wrapped([group(campaign, tmp_path)])) is told


def test_a_plan_without_the_newer_factors_reads_as_one_with_them(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", **USUAL | {"root": 1})
    campaign.add("e")
    folder = campaign.write(tmp_path)
    points: list[dict[str, Any]] = json.loads((folder / "plan/points.json").read_text(encoding="utf-8"))["points"]
    assert "root" not in points[1]["factors"]
    assert build_cube(folder, root=tmp_path)["e"]["root"].values.tolist() == [0, 1]
