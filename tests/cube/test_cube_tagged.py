"""An algorithm's own phases in the cube: under the names that it tags them with, adding up to the whole call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_phases import tagged
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.cube.quantities import OUTSIDE, PHASES
from collpress.cube.soundness import check
from collpress.cube.tagged import merged
from collpress.errors import CollpressError

RING = {
    "reduce-scatter": {"send": 1.0, "wait": 2.0, "reduce": 3.0, "other": 0.5},
    "allgather": {"send": 4.0, "wait": 5.0, "other": 0.25},
}
FOLDED = {"fold": {"send": 1.0}, **RING, "": {"copy": 7.0}, "unfold": {"wait": 1.0}}


def group(campaign: Campaign, folder: Path) -> xr.Dataset:
    return unwritten(campaign, folder)["one"].to_dataset()


def times(dataset: xr.Dataset, algorithm: str) -> xr.DataArray:
    return dataset["tagged_phase_time"].sel(algorithm=algorithm).squeeze(drop=True)


@pytest.fixture
def both(tmp_path: Path) -> xr.Dataset:
    campaign = Campaign(launches=3)
    campaign.add("one")
    campaign.add("one", algorithm="reference:ring", outcome=tagged(RING, 0.125, lambda launch: 1.0 + launch))
    campaign.add("one", algorithm="reference:rabenseifner", outcome=tagged(FOLDED))
    campaign.add("one", algorithm="reference:recursive_doubling", outcome=tagged({"": {"send": 1.0}}))
    return group(campaign, tmp_path)


def test_phases_stand_in_the_order_in_which_they_begin_and_what_is_outside_last(both: xr.Dataset) -> None:
    names = both["tagged_phase"].values.tolist()
    assert names == ["fold", "reduce-scatter", "allgather", "unfold", OUTSIDE]
    assert merged([["a", "c"], ["a", "b", "c"], ["d"]]) == ["d", "a", "b", "c"]


def test_each_part_of_each_phase_is_the_median_over_launches(both: xr.Dataset) -> None:
    ring = times(both, "reference:ring")
    assert ring.sel(tagged_phase="reduce-scatter", phase=list(PHASES)).values.tolist() == [0, 2, 0, 6, 4, 0, 1]
    assert ring.sel(tagged_phase="allgather", phase=["send", "wait", "other"]).values.tolist() == [8, 10, 0.5]


def test_what_is_in_no_phase_has_its_calls_and_the_rest(both: xr.Dataset) -> None:
    assert times(both, "reference:ring").sel(tagged_phase=OUTSIDE, phase="other").item() == pytest.approx(0.25)
    folded = times(both, "reference:rabenseifner").sel(tagged_phase=OUTSIDE)
    assert folded.sel(phase=["copy", "other"]).values.tolist() == pytest.approx([7.0, 0.0])


@pytest.mark.parametrize("algorithm", ["reference:ring", "reference:rabenseifner"])
def test_phases_add_up_to_the_parts_of_the_call_and_these_to_its_total(both: xr.Dataset, algorithm: str) -> None:
    whole = both["phase_time"].sel(algorithm=algorithm).squeeze(drop=True)
    assert times(both, algorithm).sum("tagged_phase").values == pytest.approx(whole.values)
    assert whole.sum() == pytest.approx(both["phase_total"].sel(algorithm=algorithm).item())


@pytest.mark.parametrize("algorithm", ["library:default", "reference:recursive_doubling"])
def test_an_algorithm_that_tags_nothing_has_no_phase(both: xr.Dataset, algorithm: str) -> None:
    assert np.isnan(times(both, algorithm)).all()


def test_a_phase_that_an_algorithm_does_not_have_is_nan_and_not_zero(both: xr.Dataset) -> None:
    assert np.isnan(times(both, "reference:ring").sel(tagged_phase="fold")).all()
    assert times(both, "reference:ring").sel(tagged_phase="allgather", phase="reduce").item() == 0


def test_a_cube_without_any_tag_has_no_such_variable(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one", algorithm="reference:ring")
    assert not {"tagged_phase_time", "tagged_phase"} & set(group(campaign, tmp_path).variables)


def test_a_record_of_before_copies_were_told_has_none_and_its_other_holds_them(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one", algorithm="reference:ring")
    told = campaign.records[0]["phases_s"]
    assert "copy" not in told
    time = group(campaign, tmp_path)["phase_time"].squeeze(drop=True)
    assert (time.sel(phase="copy").item(), time.sel(phase="other").item()) == (0.0, told["other"])


def test_a_cube_whose_phases_have_no_labels_is_refused(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one", algorithm="reference:ring", outcome=tagged(RING))
    cube = unwritten(campaign, tmp_path)
    check(cube, tmp_path)
    cube["one"].dataset = cube["one"].to_dataset().drop_vars("tagged_phase")
    with pytest.raises(CollpressError, match="the variable tagged_phase is missing"):
        check(cube, tmp_path)
