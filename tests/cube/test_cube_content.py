"""What stands in a cube: every planned point with its status, numbers where they belong, equal bytes each time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from synthetic_campaign import Campaign, MiB, failing, quick, write_json

from collpress.analysis.flags import meanings, words
from collpress.cube.build import build_cube
from collpress.cube.file import open_cube
from collpress.cube.flags import STATUS
from collpress.errors import CollpressError


def built(campaign: Campaign, results: Path) -> xr.DataTree:
    return build_cube(campaign.write(results), root=results)


def one(group: xr.Dataset, name: str, **where: Any) -> Any:
    return group[name].sel(where).squeeze().item()


def test_the_file_opens_with_plain_xarray_and_is_what_was_built(folder: Path, cube: xr.DataTree) -> None:
    assert set(cube.children) == {"tuning", "compression"}
    assert cube.identical(build_cube(folder, root=folder))


def test_two_builds_from_the_same_journals_are_the_same_bytes(tmp_path: Path) -> None:
    first, second = (quick().write(tmp_path / name) for name in ("a", "b"))
    build_cube(first, root=tmp_path)
    build_cube(second, root=tmp_path)
    assert (first / "cube.nc").read_bytes() == (second / "cube.nc").read_bytes()


def test_every_status_of_the_journals_is_told_apart(cube: xr.DataTree) -> None:
    tuning, compression = cube["tuning"].to_dataset(), cube["compression"].to_dataset()
    said = words(tuning["status"])
    assert said.sel(algorithm="library:rabenseifner", message_bytes=8).item() == "unsupported"
    assert said.sel(algorithm="library:nonoverlapping", message_bytes=2 * MiB).item() == "timed_out"
    assert said.sel(algorithm="library:segmented_ring", message_bytes=2 * MiB).item() == "crashed"
    assert said.sel(algorithm="reference:ring", message_bytes=512).item() == "not_run"
    assert said.sel(algorithm="library:ring", message_bytes=512).item() == "ok"
    other = words(compression["status"])
    where = {"codec": "zfp", "error_bound": "rel 1e-2", "algorithm": "compressed:ring"}
    assert other.sel(where).sel(dataset="synthetic/power-law", message_bytes=4 * MiB).item() == "not_planned"
    assert len(set(STATUS.values())) == len(STATUS)


def test_a_crash_in_one_launch_keeps_the_others_but_gives_no_summary(cube: xr.DataTree) -> None:
    tuning = cube["tuning"].to_dataset()
    where = {"algorithm": "library:segmented_ring", "message_bytes": 2 * MiB}
    assert one(tuning, "n_ok", **where) == 4
    assert np.isnan(one(tuning, "latency_median", **where))
    medians = tuning["latency_launch_median"].sel(where).squeeze().values
    assert np.isnan(medians).tolist() == [False, False, False, True, False]
    reason = int(one(tuning, "reason", **where))
    assert str(tuning["reason_text"][reason].item()) == "signal 11 in launch 3"


@pytest.mark.parametrize("experiment", ["tuning", "compression"])
def test_an_ok_point_misses_no_time_and_a_point_that_is_not_has_none(cube: xr.DataTree, experiment: str) -> None:
    dataset = cube[experiment].to_dataset()
    ok = dataset["status"].values == STATUS["ok"]
    assert ok.any()
    for name in (
        "latency_median",
        "latency_ci_low",
        "latency_ci_high",
        "latency_ci_coverage",
        "latency_min",
        "latency_p99",
        "algbw",
        "busbw",
    ):
        assert np.isfinite(dataset[name].values[ok]).all(), name
        assert np.isnan(dataset[name].values[~ok]).all(), name
    assert (dataset["n_iterations"].values[ok] > 0).all()
    assert np.isfinite(dataset["max_abs_error"].values[ok]).all()


def test_numbers_are_those_of_the_records(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("one", algorithm="compressed:ring", codec="ours", error_bound="rel 1e-3", dataset="colpex/theta")
    medians = [r["time_s"]["median"] for r in campaign.records]
    dataset = built(campaign, tmp_path)["one"].to_dataset().squeeze()
    assert dataset["latency_launch_median"].values.tolist() == medians
    assert dataset["latency_median"].item() == sorted(medians)[2]
    assert dataset["latency_ci_low"].item() == min(medians)
    assert dataset["latency_ci_high"].item() == max(medians)
    assert dataset["latency_ci_coverage"].item() == 0.9375
    assert dataset["algbw"].item() == pytest.approx(MiB / sorted(medians)[2])
    assert dataset["busbw"].item() == pytest.approx(1.5 * MiB / sorted(medians)[2])
    codec = campaign.records[0]["codec"]
    assert dataset["compression_ratio"].item() == codec["raw_bytes"] / codec["compressed_bytes"]
    assert dataset["wire_bytes"].item() == codec["wire_bytes"]
    assert dataset["codec_bound"].item() == campaign.records[0]["check"]["bound"]
    assert dataset["n_iterations"].item() == sum(r["n"] for r in campaign.records)
    assert dataset["phase_time"].sel(phase="compress").item() == pytest.approx(
        np.median([r["phases_s"]["compress"] for r in campaign.records])
    )
    each = dataset["phase_time_launch"].sel(phase="send").squeeze()
    assert each.dims == ("launch",)
    assert each.values.tolist() == [r["phases_s"]["send"] for r in campaign.records]


def test_results_are_identical_only_if_they_are_in_every_launch(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    seen = {2: (True, True), 3: (True, False), 4: (None, None)}
    for ranks, found in seen.items():
        campaign.add("one", ranks=ranks)
        for record, identical in zip(campaign.records[-2:], found, strict=True):
            record["check"]["identical"] = identical
    group = built(campaign, tmp_path)["one"].to_dataset()
    assert [one(group, "identical", ranks=ranks) for ranks in (2, 3)] == [1, 0]
    assert np.isnan(one(group, "identical", ranks=4))


def test_every_point_is_named_by_the_id_and_key_of_the_plan(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one")
    campaign.add("one", algorithm="library:ring", message_bytes=8, unsupported="not offered")
    campaign.add("one", dataset="colpex/theta", failed="the dataset could not be had")
    dataset = built(campaign, tmp_path)["one"].to_dataset()
    ids, keys = dataset["point_id"].values, dataset["point_key"].values
    for point in campaign.points:
        place = dataset["point"].sel(point["factors"]).item()
        assert (ids[place], keys[place]) == (point["id"], point["key"] or "-")
    planned = words(dataset["status"]) != "not_planned"
    assert ((dataset["point"] >= 0) == planned).all()
    assert planned.sum() == 3


def test_an_invalid_result_shows_its_error_but_no_time(cube: xr.DataTree) -> None:
    where = {
        "codec": "int8",
        "error_bound": "none",
        "dataset": "colpex/theta",
        "message_bytes": 65536,
        "algorithm": "compressed:ring",
    }
    dataset = cube["compression"].to_dataset()
    assert one(words(dataset["status"]).to_dataset(name="said"), "said", **where) == "invalid"
    assert one(dataset, "max_abs_error", **where) == 4e-3
    assert np.isnan(one(dataset, "latency_median", **where))


def test_what_ran_is_told_with_its_evidence(cube: xr.DataTree) -> None:
    tuning = cube["tuning"].to_dataset()
    ran, known = words(tuning["effective_algorithm"]), words(tuning["known_by"])
    assert ran.sel(algorithm="library:default", message_bytes=8).item() == "recursive_doubling"
    assert known.sel(algorithm="library:default", message_bytes=8).item() == "read_back"
    assert known.sel(algorithm="reference:ring", message_bytes=8).item() == "construction"
    assert ran.sel(algorithm="reference:ring", message_bytes=512).item() == "unknown"


def test_launches_that_ran_different_algorithms_are_told(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add(
        "one",
        outcome=lambda launch: {
            "effective": {
                "algorithm": ["ring", "linear"][launch],
                "segment_bytes": None,
                "known_by": ["read back", "unverified"][launch],
                "abs_bound": None,
            }
        },
    )
    dataset = built(campaign, tmp_path)["one"].to_dataset().squeeze()
    assert words(dataset["effective_algorithm"]).item() == "differs"
    assert words(dataset["known_by"]).item() == "unverified"


def test_a_noisy_launch_marks_the_point(tmp_path: Path) -> None:
    campaign = Campaign(launches=3)
    campaign.add("one", outcome=lambda launch: {"noisy": launch == 1})
    dataset = built(campaign, tmp_path)["one"].to_dataset().squeeze()
    assert words(dataset["noisy"]).item() == "noisy"
    assert dataset["n_noisy"].item() == 1


def test_dropping_one_record_changes_the_cube(tmp_path: Path) -> None:
    campaign = quick()
    gone = campaign.records.pop(17)
    cube = built(campaign, tmp_path)
    assert cube.attrs["ok_points"] == 100  # 101 with it
    point = next(p for p in campaign.points if p["key"] == gone["key"])
    dataset = cube["tuning"].to_dataset().sel(point["factors"])
    assert words(dataset["status"]).item() == "not_run"
    assert dataset["n_ok"].item() == 4


def test_the_latest_attempt_of_a_launch_counts(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    point = campaign.add("one", outcome=failing("crashed", "signal 9"))
    again = Campaign(launches=1)
    again.add("one")
    campaign.records.append(
        again.records[0] | {"attempt": 2, "key": point["key"], "utc": "2026-01-31T13:00:00.000000Z"}
    )
    dataset = build_cube(campaign.write(tmp_path, attempts=2), root=tmp_path)["one"].to_dataset()
    assert words(dataset["status"]).item() == "ok"


def test_a_plan_without_any_record_is_a_cube_of_not_run(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("one", launches=())
    cube = built(campaign, tmp_path)
    assert cube.attrs["ok_points"] == 0
    assert words(cube["one"].to_dataset()["status"]).item() == "not_run"


def test_a_factor_beyond_the_usual_ones_becomes_an_axis(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for load in (0, 30):
        campaign.add("one", load=load)
    dataset = built(campaign, tmp_path)["one"].to_dataset()
    assert dataset["load"].values.tolist() == [0, 30]
    assert dataset["status"].dims[-1] == "load"


def test_the_provenance_leads_back_to_journals_and_sources(folder: Path, cube: xr.DataTree) -> None:
    found = json.loads(cube.attrs["provenance"])
    assert found["journal_digest"] == cube.attrs["journal_digest"]
    assert found["world"]["mpi_libraries"] == ["Open MPI v5.0.11 (fabricated)"]
    assert found["last_record_utc"] == cube.attrs["date_created"] == "2026-01-31T12:04:30.000000Z"
    assert found["hardware"] is None  # the records' host is not this machine: its hardware is not theirs
    assert open_cube(folder / "cube.nc").encoding["sha256"]


def test_the_state_of_the_sources_is_in_the_cube(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    campaign = Campaign(launches=1)
    campaign.add("one")
    assert json.loads(built(campaign, tmp_path).attrs["provenance"])["git"]["dirty"] is True


def test_hardware_is_that_of_the_batches_not_of_the_machine_that_builds_the_cube(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one")
    directory = campaign.write(tmp_path)
    observed = {"host": "node-a", "machine": {"cpu_model": "Fabricated 9000", "load_average": 3.0}, "git": None}
    write_json(directory / "batches/b0c0ffee/provenance.json", observed)
    found = json.loads(build_cube(directory, root=tmp_path).attrs["provenance"])
    assert found["hardware"] == {"cpu_model": "Fabricated 9000"}


def test_another_journal_gives_another_identity(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one")
    before = built(campaign, tmp_path / "a").attrs["id"]
    campaign.records[0]["elapsed_s"] = 0.5
    assert built(campaign, tmp_path / "b").attrs["id"] != before


def test_codes_of_a_status_never_change() -> None:
    # files that exist use them
    assert STATUS == {
        "ok": 0,
        "unsupported": 1,
        "invalid": 2,
        "failed": 3,
        "crashed": 4,
        "timed_out": 5,
        "out_of_memory": 6,
        "cancelled": 7,
        "node_failed": 8,
        "not_run": 9,
        "not_planned": 10,
    }


def test_a_code_without_a_meaning_is_refused() -> None:
    variable = xr.DataArray([0, 7], attrs={"flag_values": [0, 1], "flag_meanings": "a b"})
    assert meanings(variable) == {"a": 0, "b": 1}
    with pytest.raises(ValueError, match="7"):
        words(variable)


def test_a_missing_plan_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match=r"there is no plan[\s\S]*fix"):
        build_cube(tmp_path)


def test_a_failed_write_leaves_the_old_cube(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = quick().write(tmp_path)
    (directory / "cube.nc").write_bytes(b"old")

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.DataTree, "to_netcdf", full)
    with pytest.raises(CollpressError, match="No space left"):
        build_cube(directory)
    assert (directory / "cube.nc").read_bytes() == b"old"
    assert [p.name for p in directory.iterdir() if p.name.startswith(".")] == []


def test_a_point_whose_dataset_could_not_be_had_failed_and_says_so(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("tuning")
    campaign.add("tuning", dataset="colpex/theta", failed="the dataset colpex/theta could not be had")
    tuning = built(campaign, tmp_path)["tuning"].to_dataset()
    assert words(tuning["status"]).sel(dataset="colpex/theta").squeeze().item() == "failed"
    reason = tuning["reason_text"].values[int(one(tuning, "reason", dataset="colpex/theta"))]
    assert reason == "the dataset colpex/theta could not be had"
    assert words(tuning["status"]).sel(dataset="pattern").squeeze().item() == "ok"
