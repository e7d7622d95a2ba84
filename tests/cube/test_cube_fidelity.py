"""The metrics' values in a cube: where they belong, in which units, and why one is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from synthetic_campaign import Campaign, failing, quick, write_json
from synthetic_fidelity import METRICS, subject

from collpress.cube.axes import FACTORS
from collpress.cube.build import build_cube
from collpress.findings.results import metric_without_value


def built(campaign: Campaign, results: Path) -> xr.DataTree:
    return build_cube(campaign.write(results), root=results)


def point(group: xr.Dataset, name: str, **where: Any) -> Any:
    chosen = {"codec": "ours", "error_bound": "rel 1e-3", "algorithm": "compressed:ring", "dataset": "colpex/theta"}
    return group[name].sel({**chosen, "message_bytes": 64 * 1024, **where}).squeeze()


def test_each_metric_is_a_variable_for_message_and_result(cube: xr.DataTree) -> None:
    group = cube["compression"].to_dataset()
    for metric in METRICS:
        for name in (f"message_{metric['name']}", f"result_{metric['name']}"):
            several = len(metric["values"]) > 1
            assert group[name].dims == (*FACTORS, *([f"{metric['name']}_value"] if several else []))
            assert group[name].dtype == np.float64
            if several:
                assert group[f"{metric['name']}_value"].values.tolist() == metric["values"]
                assert group[name].attrs["value_units"].split() == metric["units"]


def test_units_are_said_where_there_is_one(cube: xr.DataTree) -> None:
    group = cube["compression"].to_dataset()
    assert group["message_psnr"].attrs["units"] == "dB"
    assert group["result_error_histogram"].attrs["units"] == "1"
    assert "units" not in group["message_mae"].attrs
    assert group["message_mae"].attrs["comment"].startswith("in units of the data")
    assert group["message_max_error"].attrs["comment"].startswith("absolute in units of the data")
    assert group["message_psnr"].attrs["long_name"].startswith("peak signal-to-noise ratio, of rank 0's message")


def test_values_are_those_of_the_records(cube: xr.DataTree) -> None:
    group = cube["compression"].to_dataset()
    message = subject(0.7e-3, 1e-3, 1, 10_000)
    assert point(group, "message_psnr").item() == message["metrics"]["psnr"]["psnr"]
    assert point(group, "message_bound").item() == 1e-3
    assert point(group, "result_bound").item() == pytest.approx(4e-3 + 1e-6)
    assert (point(group, "message_bound_ok").item(), point(group, "result_bound_ok").item()) == (1, 1)
    histogram = point(group, "message_error_histogram")
    assert histogram.values.tolist() == list(message["metrics"]["error_histogram"].values())
    assert point(group, "message_error_quantiles").sel(error_quantiles_value="p90").item() == pytest.approx(0.63e-3)


def test_without_a_codec_there_is_no_message_and_without_data_nothing_at_all(cube: xr.DataTree) -> None:
    group = cube["compression"].to_dataset()
    plain = {"algorithm": "library:default", "codec": "none", "error_bound": "none"}
    assert np.isnan(point(group, "message_psnr", **plain))
    assert np.isfinite(point(group, "result_psnr", **plain))
    tuning = cube["tuning"].to_dataset()
    assert not [n for n in [*tuning.variables, *tuning.dims] if str(n).startswith(("message_p", "result_", "fidelity"))]
    assert not [n for n in tuning.dims if str(n).endswith("_value")]


def test_why_a_value_is_missing_is_told(cube: xr.DataTree) -> None:
    group = cube["compression"].to_dataset()
    texts = group["fidelity_problem_text"].values.tolist()
    exact = {"codec": "none", "error_bound": "none"}
    assert np.isnan(point(group, "message_psnr", **exact))
    assert texts[int(point(group, "fidelity_problem", **exact))] == (
        "message error_histogram: no bound above 0 is known; message psnr: every value is exact: the ratio is infinite"
    )
    assert point(group, "fidelity_problem").item() == 0
    assert group["fidelity_problem"].dtype == np.int32
    assert group["fidelity_problem"].dims == FACTORS


def test_a_problem_is_one_printable_line_whatever_a_plugin_says(tmp_path: Path) -> None:
    problems = {"fidelity": {"message": subject(1e-3, 1e-3, 1, 100) | {"problems": {"psnr": "\x1b[2Jgone\n  twice"}}}}
    campaign = Campaign(launches=1)
    plan = {"algorithm": "compressed:ring", "codec": "zfp", "error_bound": "rel 1e-3", "dataset": "colpex/theta"}
    campaign.add("one", **plan, outcome=lambda _: {"fidelity": problems["fidelity"] | {"result": None}})
    group = built(campaign, tmp_path)["one"].to_dataset()
    assert group["fidelity_problem_text"].values[1:].tolist() == ["message psnr: [2Jgone twice"]


def test_a_metric_that_could_not_be_built_is_a_problem_of_every_point_that_would_have_it(tmp_path: Path) -> None:
    folder = quick(sizes=[8], data={"colpex/theta": [64 * 1024]}).write(tmp_path)
    plan = json.loads((folder / "plan/points.json").read_text(encoding="utf-8"))
    plan["broken_metrics"] = [{"name": "mine", "reason": "cannot be used: mine.cpp:12: error"}]
    for metrics, others in ((plan["metrics"], "message psnr"), ([], "")):
        write_json(folder / "plan/points.json", plan | {"metrics": metrics})
        cube = build_cube(folder, root=tmp_path)
        group = cube["compression"].to_dataset()
        texts = group["fidelity_problem_text"].values.astype(str)
        told = texts[group["fidelity_problem"].values[group["status"].values == 0]]
        assert told.size
        assert all("mine: cannot be used: mine.cpp:12: error" in text for text in told)
        assert not any("mine" in text for text in texts[group["fidelity_problem"].values[group["status"].values > 0]])
        assert any(others in text for text in told)
        assert "message_mine" not in group
        found = metric_without_value([group])
        assert {finding.verdict for finding in found} == {"missing"}
        assert all("mine.cpp:12" in finding.text for finding in found)
        assert "fidelity_problem" not in cube["tuning"].to_dataset()


def test_launches_are_summed_up_by_their_median_and_points_that_are_not_ok_have_none(tmp_path: Path) -> None:
    campaign = Campaign(launches=3)
    same = {"algorithm": "compressed:ring", "dataset": "colpex/theta", "codec": "ours", "error_bound": "rel 1e-3"}

    def of_launch(launch: int) -> dict[str, Any]:
        return {"fidelity": {"message": subject(10.0**-launch, 1.0, 1, 100), "result": None}}

    campaign.add("e", **same, outcome=of_launch)
    campaign.add("e", **same | {"message_bytes": 64}, outcome=failing("crashed", "boom", {1}))
    campaign.add("e", **same | {"message_bytes": 128}, unsupported="not here")
    group = built(campaign, tmp_path)["e"].to_dataset().squeeze()
    absolute = group["message_max_error"].sel(max_error_value="absolute")
    np.testing.assert_array_equal(absolute, [np.nan, np.nan, 0.1])
    assert np.isnan(group["result_psnr"]).all()


def test_points_that_could_not_be_measured_still_have_the_variables(tmp_path: Path) -> None:
    campaign = Campaign()
    campaign.add("e", dataset="colpex/theta", unsupported="not here")
    group = built(campaign, tmp_path)["e"].to_dataset()
    assert np.isnan(group["result_psnr"]).all()
    assert group["fidelity_problem_text"].size == 1


def test_plans_and_journals_from_before_there_were_metrics_still_make_a_cube(tmp_path: Path) -> None:
    campaign = quick(sizes=[8], data={"colpex/theta": [64 * 1024]})
    for record in campaign.records:
        record.pop("fidelity")
    folder = campaign.write(tmp_path)
    plan = json.loads((folder / "plan/points.json").read_text(encoding="utf-8"))
    del plan["metrics"]
    write_json(folder / "plan/points.json", plan)
    group = build_cube(folder, root=tmp_path)["compression"].to_dataset()
    assert "psnr" in group
    assert "result_psnr" not in group
