"""Messages longer than their data are told wherever their numbers are: in findings, captions and titles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr
from synthetic_campaign import Campaign, MiB

from collpress.cube.build import build_cube
from collpress.figures import captions, labels
from collpress.findings import words
from collpress.findings.coverage import wrapped_data
from collpress.findings.report import write_findings


def cube_of(campaign: Campaign, folder: Path) -> xr.DataTree:
    directory = campaign.write(folder)
    return build_cube(directory, root=directory)


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    """Four ranks and 1 MiB a message: 4 MiB are sent."""
    campaign = Campaign(launches=1)
    for wrap, unique in (("mirror", 3), ("none", 4)):
        dataset = "colpex/theta" if wrap == "mirror" else "isabel/u"
        campaign.add("long", dataset=dataset, wrap=wrap, outcome=lambda _, n=unique: {"unique_bytes": n * MiB})
    campaign.add("longer", dataset="colpex/theta", wrap="mirror", message_bytes=2 * MiB,
                 outcome=lambda _: {"unique_bytes": 3 * MiB})  # fmt: skip
    campaign.add("longer", dataset="made/tiles", message_bytes=MiB, outcome=lambda _: {"unique_bytes": MiB // 2})
    return cube_of(campaign, tmp_path_factory.mktemp("wrapped"))


MIRRORED = (
    "colpex/theta goes on backwards behind its end (wrap: mirror); of the bytes sent 37.5 % to 75 % are different ones"
)
TILED = "made/tiles repeats itself; of the bytes sent 12.5 % are different ones"


def test_findings_tell_which_data_are_stretched_and_how_far(cube: xr.DataTree) -> None:
    found = wrapped_data(cube[name].to_dataset() for name in ("long", "longer"))
    assert [f.text for f in found] == [MIRRORED, TILED]
    assert [f.value for f in found] == [0.375, 0.125]
    assert [len(f.points) for f in found] == [2, 1]
    assert words.place(found[0].points[0].factors).endswith("wrap mirror")


def test_every_caption_says_it(cube: xr.DataTree) -> None:
    assert captions.machine(cube).startswith(f"Wrapped data: {MIRRORED}; {TILED}. Measured by campaign")
    told = labels.factors({"dataset": "colpex/theta", "op": "sum", "ranks": 2, "wrap": "mirror"})
    assert told == "data: colpex/theta · wrapped: mirror · sum · 2 ranks", "where a title that is cut still shows it"


def test_a_point_that_might_wrap_but_does_not_reach_the_end_of_its_data_is_not_called_wrapped(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("short", dataset="isabel/u", wrap="mirror", algorithm="reference:ring", failed="made up")
    campaign.add("short", dataset="isabel/u", wrap="mirror")
    directory = campaign.write(tmp_path)
    build_cube(directory, root=directory)
    write_findings(directory / "cube.nc", tmp_path / "findings.json", tmp_path / "findings.md")
    told = (tmp_path / "findings.md").read_text(encoding="utf-8")
    assert "isabel/u, 1 MiB, 4 ranks, wrap mirror" in told
    assert "wrapped" not in told.lower()


def test_nothing_is_said_where_all_bytes_are_different(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("short", dataset="isabel/u", wrap="repeat")
    campaign.add("short", outcome=lambda _: {"unique_bytes": None})
    cube = cube_of(campaign, tmp_path)
    assert wrapped_data([cube["short"].to_dataset()]) == []
    assert captions.machine(cube).startswith("Measured by")


def test_a_plan_of_an_earlier_version_wraps_nothing(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("old", dataset="isabel/u")
    directory = campaign.write(tmp_path)
    path = directory / "plan/points.json"
    plan = json.loads(path.read_text(encoding="utf-8"))
    del plan["points"][0]["factors"]["wrap"]
    path.write_text(json.dumps(plan), encoding="utf-8")
    assert build_cube(directory, root=directory)["old"]["wrap"].values.tolist() == ["none"]
