"""Error histogram: shares of all values, and what lies outside the bound is counted in words."""

from __future__ import annotations

from typing import Any

import pytest
from fabricated_fidelity import HISTOGRAM, OUTSIDE, with_fidelity
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.drawing import Drawing
from collpress.figures.error_histogram import BINS, draw

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta", "message_bytes": 64 * 1024}
VALUES = 64 * 1024 // 4


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawing:
    campaign = Campaign(launches=2)
    campaign.add("squeezed", **(RING | {"algorithm": "library:default"}))
    for codec, bound in (("none", "none"), ("int8", "none"), ("zfp", "rel 1e-3")):
        campaign.add("squeezed", **RING, codec=codec, error_bound=bound)
    folder = tmp_path_factory.mktemp("errors")
    cube = with_fidelity(unwritten(campaign, folder))
    with style.house():
        return draw(cube)


def rows(drawing: Drawing) -> dict[str, dict[str, Any]]:
    found = [dict(zip(drawing.table.columns, row, strict=True)) for row in drawing.table.rows]
    return {row["codec"]: row for row in found}


def test_the_bins_are_those_of_the_contract() -> None:
    assert ("below", *BINS, "above") == HISTOGRAM


def test_shares_are_of_all_values_and_sum_to_one(drawn: Drawing) -> None:
    assert rows(drawn).keys() == {"none", "int8", "zfp"}
    for row in rows(drawn).values():
        assert row["values"] == VALUES
        assert sum(row[f"share_{name}"] for name in HISTOGRAM) == pytest.approx(1)


def test_values_outside_are_counted_in_the_table_and_in_the_picture(drawn: Drawing) -> None:
    row = rows(drawn)["int8"]
    assert row["outside"] == 2 * OUTSIDE
    assert row["share_below"] == row["share_above"] == OUTSIDE / VALUES
    said = [t.get_text() for t in drawn.figure.findobj(Text)]
    assert "6 outside\n0.04 %" in said
    assert said.count("0 outside") == 2
    assert "1 of 3 rows have any" in drawn.caption


def test_a_codec_without_a_bound_of_the_user_is_said_to_state_its_own(drawn: Drawing) -> None:
    said = {t.get_text() for t in drawn.figure.findobj(Text)}
    assert {"int8, own bound", "no codec", "zfp rel 1e-3"} <= said
    assert "the one that it states itself" in drawn.caption


def test_the_bounds_are_lines_and_the_axis_of_shares_is_logarithmic_and_the_same_in_every_row(drawn: Drawing) -> None:
    panels = [axes for axes in drawn.figure.axes if axes.get_yscale() == "log"]
    assert len(panels) == 3
    assert len({axes.get_ylim() for axes in panels}) == 1
    for axes in panels:
        ends = {
            float(segment[0][0]) for lines in axes.collections for segment in getattr(lines, "get_segments", list)()
        }
        assert {-1.0, 1.0} <= ends
    assert "logarithmic" in drawn.caption
