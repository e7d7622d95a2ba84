"""Rounds of feedback in the cube: medians over launches along `round`, NaN where a point kept none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_feedback import grows
from pydantic import ValidationError
from synthetic_campaign import Campaign, failing
from unwritten import unwritten

from collpress.cube.soundness import check
from collpress.errors import CollpressError
from collpress.records.schema import Feedback

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta"}


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    campaign = Campaign(launches=3)
    campaign.add("fed", **RING, codec="int8", feedback=100, outcome=grows(1e-3, 0.5))
    campaign.add("fed", **RING, codec="bf16", feedback=100, outcome=grows(1e-3, 0, done=30))
    campaign.add("fed", **RING, codec="zfp", error_bound="rel 1e-3", feedback=100, outcome=failing("crashed", "why"))
    campaign.add("fed", **RING, codec="int8")
    campaign.add("usual", **RING, codec="int8")
    tree = unwritten(campaign, tmp_path_factory.mktemp("fed"))
    check(tree, Path("cube.nc"))
    assert not {"round", "feedback", "feedback_nrmse", "feedback_done"} & set(tree["usual"].to_dataset().variables)
    return tree["fed"].to_dataset()


def of(group: xr.Dataset, name: str, codec: str, feedback: int = 100) -> xr.DataArray:
    bound = "rel 1e-3" if codec == "zfp" else "none"
    return group[name].sel(codec=codec, error_bound=bound, feedback=feedback).squeeze(drop=True)


def test_each_round_is_the_median_over_launches(group: xr.Dataset) -> None:
    assert group["round"].values.tolist() == [1, 2, 4, 10, 30, 64, 100]
    largest = of(group, "feedback_max_abs_error", "int8")
    assert largest.values == pytest.approx(1.1e-3 * np.sqrt([1, 2, 4, 10, 30, 64, 100]), rel=1e-5)
    assert of(group, "feedback_nrmse", "int8").values == pytest.approx(largest.values / 8, rel=1e-5)
    assert of(group, "feedback_bias", "int8").values == pytest.approx(-largest.values / 64, rel=1e-5)
    assert group["feedback_nrmse"].attrs["units"] == "1"
    assert "units" not in group["feedback_max_abs_error"].attrs


def test_rounds_that_were_not_done_and_points_that_are_not_ok_have_none(group: xr.Dataset) -> None:
    short = of(group, "feedback_nrmse", "bf16")
    assert np.isfinite(short.sel(round=slice(1, 30))).all()
    assert np.isnan(short.sel(round=slice(31, None))).all()
    assert [of(group, "feedback_done", codec).item() for codec in ("int8", "bf16")] == [100, 30]
    assert np.isnan(of(group, "feedback_nrmse", "zfp")).all()
    assert np.isnan(of(group, "feedback_nrmse", "int8", feedback=0)).all()


def test_a_cube_whose_rounds_are_damaged_is_told_from_a_sound_one(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("fed", **RING, codec="int8", feedback=100, outcome=grows(1e-3, 0.5))
    for damage in (lambda d: d.drop_vars("feedback_bias"), lambda d: d.assign_coords(round=list("abcdefg"))):
        tree = unwritten(campaign, tmp_path)
        tree["fed"].dataset = damage(tree["fed"].to_dataset())
        with pytest.raises(CollpressError, match=r"experiment fed: the (variable feedback_bias|coordinate round)"):
            check(tree, Path("cube.nc"))


@pytest.mark.parametrize(
    "changes",
    [{"bias": [0.0]}, {"round": [1, 3, 2]}, {"round": [1, 2, 2]}, {"done": 4}, {"lost": [0, 0, -1]}, {"asked": 0}],
)
def test_a_record_whose_rounds_do_not_fit_is_refused(changes: dict[str, object]) -> None:
    columns = {name: [0.0] * 3 for name in ("max_abs_error", "nrmse", "bias")}
    right = {"asked": 3, "done": 3, "compared": 5, "value_range": 1.0, "round": [1, 2, 3], "lost": [0] * 3, **columns}
    assert Feedback.model_validate(right).done == 3
    with pytest.raises(ValidationError):
        Feedback.model_validate(right | changes)
