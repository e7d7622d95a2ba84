"""Collectives beside allreduce in pictures: what a size is, what a rate is, and a barrier that has neither."""

from __future__ import annotations

import pytest
import xarray as xr
from legible import legible
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import labels, style
from collpress.figures.drawing import Drawing
from collpress.figures.registry import load

SHOWN = ("bcast", "alltoallv", "barrier", "pingpong")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    campaign = Campaign(launches=2)
    for collective in SHOWN:
        for algorithm in ("library:default", "reference:ring"):
            for size in [0] if collective == "barrier" else [8, 4096]:
                campaign.add("all", collective=collective, algorithm=algorithm, message_bytes=size)
    campaign.add("all", collective="bcast", root=1, algorithm="library:ring", message_bytes=8)
    return unwritten(campaign, tmp_path_factory.mktemp("all"))


def drawing(cube: xr.DataTree, name: str) -> Drawing:
    with style.house():
        return load(name)(cube)


def texts(drawn: Drawing) -> set[str]:
    return {t.get_text() for t in drawn.figure.findobj(Text)}


@pytest.mark.parametrize("name", ["latency", "latency-single", "coverage", "best-over-default"])
def test_every_collective_is_drawn_and_can_be_read(cube: xr.DataTree, name: str) -> None:
    assert legible(drawing(cube, name).figure)


def test_sizes_and_rates_are_named_for_what_they_are(cube: xr.DataTree) -> None:
    drawn = drawing(cube, "latency")
    said = texts(drawn)
    assert {"message size (the mean block)", "message size (one rank's vector)", "a barrier sends no data"} <= said
    assert {"barrier: no bus bandwidth", "pingpong: no bus bandwidth"} <= said
    assert any(text.endswith("root 1") for text in said), "what differs from the usual stands in the title"
    assert not any("bcast" in text and "sum" in text for text in said), "nothing is reduced there"
    for part in (
        "Message size: the mean block of alltoallv; one rank's vector of",
        "p × message bytes / time × (p − 1) / p for alltoallv; message bytes / time for bcast on p ranks.",
        "None for barrier, pingpong.",
    ):
        assert part in drawn.caption


def test_the_barrier_of_the_csv_still_has_no_bytes(cube: xr.DataTree) -> None:
    table = drawing(cube, "latency").table
    collective, size, rate = (table.columns.index(n) for n in ("collective", "message_bytes", "busbw_byte_per_s"))
    assert {(row[size], row[rate]) for row in table.rows if row[collective] == "barrier"} == {(0, None)}


def test_a_caption_of_allreduce_alone_says_what_it_always_said() -> None:
    assert labels.sizes_said(["allreduce"]) == ""
    told = "Bus bandwidth = message bytes / time × 2 (p − 1) / p for allreduce on p ranks."
    assert labels.rates_said(["allreduce"]) == told
    assert labels.rates_said(["barrier"]) == ""


@pytest.mark.parametrize(
    ("collectives", "told"),
    [
        ({"allreduce", "bcast"}, "message size (one rank's vector)"),
        ({"allgather", "alltoallv"}, "message size (one block)"),
        ({"alltoallv"}, "message size (the mean block)"),
        ({"allgather", "bcast"}, "message size"),
        ({"barrier"}, "a barrier sends no data"),
    ],
)
def test_the_axis_of_sizes_says_what_it_counts(collectives: set[str], told: str) -> None:
    assert labels.size_label(collectives) == told
