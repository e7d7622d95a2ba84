"""The page of the figure latency: many facets stand in two columns, whole names below them."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr
from legible import legible
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.registry import load

ALGORITHMS = ("library:default", "library:recursive_doubling", "reference:recursive_doubling", "reference:ring")


def facets(experiments: int, worlds: int) -> Campaign:
    """One for each number of ranks of each experiment."""
    campaign = Campaign(launches=2)
    for experiment in range(experiments):
        for ranks in range(2, 2 + worlds):
            for algorithm in ALGORITHMS:
                for size in (8, 512, 4096):
                    campaign.add(f"e{experiment}", algorithm=algorithm, ranks=ranks, message_bytes=size)
    return campaign


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    return unwritten(facets(1, 6), tmp_path_factory.mktemp("six"))


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    return unwritten(facets(2, 5), tmp_path_factory.mktemp("ten"))


def drawn(cube: xr.DataTree, name: str = "latency") -> Figure:
    with style.house():
        return load(name)(cube).figure


def corners(figure: Figure) -> list[tuple[float, float]]:
    """Where the name of each facet's experiment stands: from the left and from the top, in inches."""
    width, height = figure.get_size_inches()
    names = [t for t in figure.texts if t.get_weight() == "bold"]
    return [(round(t.get_position()[0] * width, 2), round((1 - t.get_position()[1]) * height, 2)) for t in names]


def test_up_to_six_facets_stand_below_each_other(six: xr.DataTree) -> None:
    found = corners(drawn(six))
    assert len(found) == 6
    assert {left for left, _ in found} == {0.1}


def test_more_stand_in_two_columns_those_of_an_experiment_from_the_left(ten: xr.DataTree) -> None:
    figure = drawn(ten)
    found = corners(figure)
    assert [left for left, _ in found] == [0.1, 3.76, 0.1, 3.76, 0.1] * 2
    assert all(found[i][1] == found[i + 1][1] for i in (0, 2, 5, 7))
    assert figure.get_size_inches()[1] < 6 * 2.8, "a shelf is not much taller than a facet of its own was"


def test_one_column_of_a_page_stays_one_column(ten: xr.DataTree) -> None:
    assert {left for left, _ in corners(drawn(ten, "latency-single"))} == {0.1}


@pytest.mark.parametrize("name", ["latency", "latency-single"])
def test_many_facets_are_legible_with_letters_of_a_size_that_can_be_read_and_nothing_is_cut(
    ten: xr.DataTree, name: str
) -> None:
    figure = drawn(ten, name)
    said = legible(figure)
    assert not [text for text in said if "…" in text]
    assert min(t.get_fontsize() for t in figure.findobj(Text) if t.get_text() in said) >= 5.6


@pytest.mark.parametrize(("shortest", "longest"), [(60e-6, 5e-3), (60e-6, 2e-3), (15e-6, 7e-4)])
def test_numbers_at_the_axes_of_low_panels_do_not_touch(tmp_path: Path, shortest: float, longest: float) -> None:
    names = ("median", "ci_low", "ci_high", "min", "p05", "p25", "p75", "p95", "p99", "max", "mean", "sd", "mad")
    campaign = Campaign(launches=1)
    for ranks in range(2, 9):
        for size, seconds in ((8, shortest), (4096, longest)):
            times = {"time_s": dict.fromkeys(names, seconds)}
            campaign.add("e", ranks=ranks, message_bytes=size, outcome=lambda n, times=times: times)
    assert legible(drawn(unwritten(campaign, tmp_path), "latency-single"))


def test_a_title_that_is_longer_than_its_column_goes_on_in_the_next_line(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for i in range(7):
        campaign.add(
            "e",
            dataset=f"synthetic/a-long-name-of-a-dataset-{i}",
            dtype="float64",
            cache="cold",
            sync="none",
            ranks=128,
        )
    said = " ".join(t.get_text() for t in drawn(unwritten(campaign, tmp_path)).texts)
    for i in range(7):
        assert (
            f"allreduce · data: synthetic/a-long-name-of-a-dataset-{i} · float64 · sum · 128 ranks · 1 node · "
            "start: none · cold cache" in said
        )
