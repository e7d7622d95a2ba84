"""A cube that readers cannot use is refused when it is opened: in words, by its own path, with what helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.cube import file
from collpress.cube.file import open_cube
from collpress.cube.soundness import check
from collpress.errors import CollpressError

PATH = Path("somewhere/cube.nc")


def attribute(name: str, value: object) -> Callable[[xr.DataTree], None]:
    def change(cube: xr.DataTree) -> None:
        if value is None:
            del cube.attrs[name]
        else:
            cube.attrs[name] = value

    return change


def without(name: str) -> Callable[[xr.DataTree], None]:
    def change(cube: xr.DataTree) -> None:
        cube["one"].dataset = cube["one"].to_dataset().drop_vars(name)

    return change


def filled(name: str, value: object) -> Callable[[xr.DataTree], None]:
    def change(cube: xr.DataTree) -> None:
        group = cube["one"].to_dataset()
        cube["one"].dataset = group.assign({name: group[name].copy(data=np.full(group[name].shape, value))})

    return change


def unflagged(name: str, attr: str) -> Callable[[xr.DataTree], None]:
    def change(cube: xr.DataTree) -> None:
        del cube["one"][name].attrs[attr]

    return change


@pytest.fixture
def cube(tmp_path: Path) -> xr.DataTree:
    campaign = Campaign(launches=2)
    campaign.add("one")
    return unwritten(campaign, tmp_path)


def test_a_cube_as_it_is_made_is_sound(cube: xr.DataTree) -> None:
    check(cube, PATH)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        *(
            (without(name), f"experiment one: the variable {name} is missing")
            for name in (
                "status",
                "reason",
                "reason_text",
                "latency_launch_median",
                "point",
                "wire_bytes",
                "phase_time",
            )
        ),
        (without("algorithm"), "the variable algorithm is missing"),
        (filled("status", 77), "status holds 77, a code without a meaning"),
        (filled("known_by", 77), "known_by holds 77"),
        (filled("reason", 9), "reason points outside of reason_text"),
        (filled("reason", -1), "reason points outside"),
        (filled("point", 9), "point points outside of point_id"),
        (filled("point", -1), "a planned cell names no point"),
        (filled("latency_median", "slow"), "the variable latency_median has the type"),
        (unflagged("status", "flag_meanings"), "status lacks flag_values or flag_meanings"),
        (unflagged("noisy", "flag_values"), "noisy lacks flag_values or flag_meanings"),
        (attribute("experiments", None), "its attribute experiments is missing"),
        (attribute("experiments", "one two"), 'names the experiments "one two" and has the groups one'),
        (attribute("launches", None), "its attribute launches is missing"),
        (attribute("launches", 5), "it has 2 launches, the cube 5"),
        (attribute("campaign", 7), "its attribute campaign is missing or no text"),
        (attribute("provenance", None), "provenance is missing or no JSON"),
        (attribute("provenance", "{"), "provenance is missing or no JSON"),
        (attribute("provenance", '{"x": NaN}'), "provenance is missing or no JSON"),
        (attribute("provenance", "[]"), "its provenance: the whole"),
        (attribute("provenance", '{"world": {"hosts": 3}}'), "its provenance: world.hosts"),
        (attribute("provenance", '{"hardware": "fast"}'), "its provenance: hardware"),
        (attribute("provenance", '{"measure": {"warmup": 5}}'), "its provenance: measure.warmup"),
        (attribute("schema_version", None), "this is no cube of collpress"),
        (attribute("schema_version", 2), "this cube has the schema 2; this collpress reads 1"),
    ],
)
def test_a_mutilated_cube_is_refused_in_words(
    change: Callable[[xr.DataTree], None], told: str, cube: xr.DataTree
) -> None:
    change(cube)
    with pytest.raises(CollpressError) as caught:
        check(cube, PATH)
    assert told in caught.value.what
    assert caught.value.where == str(PATH)
    assert caught.value.fix.startswith("make it again: collpress cube ")


def test_the_fix_names_campaign_and_platform(cube: xr.DataTree) -> None:
    cube.attrs["schema_version"] = 2
    with pytest.raises(CollpressError, match="collpress cube synthetic --platform fabricated"):
        check(cube, PATH)


@pytest.mark.parametrize("attrs", [{}, {"schema_version": 1}])
def test_a_netcdf_file_of_somebody_else_is_refused(attrs: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "foreign.nc"
    xr.Dataset({"x": ("time", [1.0])}, attrs=attrs).to_netcdf(path, engine="netcdf4")
    with pytest.raises(CollpressError, match=r"foreign\.nc: "):
        open_cube(path)


def test_a_torn_file_is_told_by_its_own_path(tmp_path: Path) -> None:
    path = tmp_path / "torn.nc"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(CollpressError, match="the cube cannot be read") as caught:
        open_cube(path)
    assert "collpress-" not in str(caught.value)
    assert caught.value.where == str(path)


def test_a_full_temporary_directory_is_not_a_damaged_cube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cube.nc"
    path.write_bytes(json.dumps({}).encode("utf-8"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file.tempfile, "TemporaryDirectory", full)
    with pytest.raises(CollpressError, match="temporary directory: No space left on device") as caught:
        open_cube(path)
    assert "TMPDIR" in caught.value.fix
