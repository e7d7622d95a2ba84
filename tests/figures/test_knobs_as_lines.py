"""Sets of a library's variables (knobs) stand beside each other: lines of one panel, each with a look of its own."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import xarray as xr
from legible import legible
from matplotlib.text import Text
from synthetic_campaign import Campaign, KiB
from unwritten import unwritten

from collpress.analysis.table import rows
from collpress.figures import style
from collpress.figures.captions import experiments
from collpress.figures.drawing import Drawing
from collpress.figures.lines import Facet, facets
from collpress.figures.registry import load

ALGORITHMS = ("library:default", "library:ring", "reference:ring")
SETS = ("none", "without-han", "eager-256k")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    """Three sets of variables at each algorithm, and an experiment that sets none."""
    campaign = Campaign(launches=2)
    for name in ALGORITHMS:
        for size in (8, 4 * KiB, 32 * KiB):
            campaign.add("plain", algorithm=name, message_bytes=size)
            for knobs in SETS:
                set_ones = {"knobs": knobs} if knobs != "none" else {}
                campaign.add("tuned", algorithm=name, message_bytes=size, **set_ones)
    return unwritten(campaign, tmp_path_factory.mktemp("knobs"))


def drawing(cube: xr.DataTree, name: str) -> Drawing:
    with style.house():
        return load(name)(cube)


def texts(drawn: Drawing) -> set[str]:
    """Without what stands behind the name of a line that wins."""
    return {t.get_text().partition("  ")[0] for t in drawn.figure.findobj(Text)}


def tuned(cube: xr.DataTree) -> list[Facet]:
    group = experiments(cube)["tuned"]
    with_rates = rows(group, ("latency_median", "busbw"))
    return facets("tuned", with_rates, [str(d) for d in group["status"].dims])


def test_sets_of_knobs_are_lines_of_one_panel_named_behind_the_algorithm(cube: xr.DataTree) -> None:
    (facet,) = tuned(cube)
    assert {line.name for line in facet.lines} == {
        f"{name}{knobs}"
        for name in ("default (lib.)", "ring (lib.)", "ring (ref.)")
        for knobs in ("", ", without-han", ", eager-256k")
    }
    assert "knobs" not in facet.title


def test_no_two_lines_look_alike_and_only_the_untouched_default_is_the_base(cube: xr.DataTree) -> None:
    (facet,) = tuned(cube)
    looks = {line.name: line.look for line in facet.lines}
    for a, b in combinations(looks, 2):
        one, other = looks[a], looks[b]
        assert (one.colour, one.dashes) != (other.colour, other.dashes), f"{a} and {b}"
        assert (one.dashes, one.marker, one.face) != (other.dashes, other.marker, other.face), f"{a} and {b}, grey"
    assert [name for name, look in looks.items() if look.base] == ["default (lib.)"]


@pytest.mark.parametrize("name", ["latency", "latency-single", "coverage"])
def test_a_figure_with_knobs_names_them_and_can_be_read(cube: xr.DataTree, name: str) -> None:
    drawn = drawing(cube, name)
    legible(drawn.figure)
    assert any("without-han" in text for text in texts(drawn))


def test_sets_of_knobs_are_rows_of_one_block_in_the_coverage(cube: xr.DataTree) -> None:
    table = drawing(cube, "coverage").table
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert {row["panel"] for row in found} == {""}
    assert {row["row"] for row in found if row["experiment"] == "tuned"} == {
        f"{name}{knobs}"
        for name in ("default (lib.)", "ring (lib.)", "ring (ref.)")
        for knobs in ("", " · knobs: without-han", " · knobs: eager-256k")
    }


def test_the_fastest_of_a_size_is_that_of_all_sets(cube: xr.DataTree) -> None:
    table = drawing(cube, "latency").table
    fastest = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert sum(row["fastest"] for row in fastest if row["experiment"] == "tuned") == 3


def test_the_caption_says_what_the_names_of_sets_are_and_nothing_where_none_is_set(
    cube: xr.DataTree, tmp_path: Path
) -> None:
    told = "(eager-256k, without-han): the knobs, variables of the library that the platform sets"
    assert told in drawing(cube, "latency").caption
    alone = Campaign(launches=1)
    alone.add("plain")
    assert "knobs" not in drawing(unwritten(alone, tmp_path), "latency").caption
