"""Phases: the parts make the whole, in the order of the legend; a bar that dwarfs the others is cut and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from synthetic_campaign import Campaign, failing
from unwritten import unwritten

from collpress.cube.quantities import PHASES
from collpress.figures import style
from collpress.figures.drawing import Drawing
from collpress.figures.phases import FILLS, draw, limit

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta"}


def drawing(campaign: Campaign, folder: Path) -> Drawing:
    with style.house():
        return draw(unwritten(campaign, folder))


def rows(drawn: Drawing) -> list[dict[str, Any]]:
    return [dict(zip(drawn.table.columns, row, strict=True)) for row in drawn.table.rows]


def texts(drawn: Drawing) -> set[str]:
    return {t.get_text() for t in drawn.figure.findobj(Text)}


def time_axes(drawn: Drawing) -> list[Axes]:
    """Those whose bars have numbers, in seconds."""
    return [axes for axes in drawn.figure.axes if axes.axison and axes.get_yticklabels()]


def phases(**given: float) -> dict[str, Any]:
    return {"phases_s": {"iterations": 5, "total": sum(given.values())} | dict.fromkeys(PHASES, 0.0) | given}


def test_every_phase_of_the_cube_has_a_look() -> None:
    assert tuple(FILLS) == PHASES


def test_the_table_has_phases_their_sum_and_their_shares_but_no_library_algorithm(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("plain")
    campaign.add("plain", algorithm="reference:ring", outcome=lambda n: phases(send=1e-3, reduce=2e-3, wait=5e-3))
    (row,) = rows(drawing(campaign, tmp_path))
    assert row["algorithm"] == "reference:ring"
    assert (row["send_s"], row["wait_s"], row["compress_s"]) == (1e-3, 5e-3, 0.0)
    assert row["sum_s"] == pytest.approx(8e-3)
    assert [row[f"{p}_share"] for p in PHASES] == pytest.approx([0, 0.125, 0, 0.25, 0.625, 0, 0])


def test_a_bar_without_numbers_says_why(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("plain", algorithm="reference:ring", outcome=failing("crashed", "signal 11"))
    campaign.add("plain", algorithm="reference:rabenseifner", outcome=lambda n: {"phases_s": None})
    drawn = drawing(campaign, tmp_path)
    assert {"⚡ crashed", "no instrumented pass"} <= texts(drawn)
    assert [row["sum_s"] for row in rows(drawn)] == [None, None]
    assert "n = 0 of 2" in drawn.caption


def test_a_world_without_any_number_is_named_at_the_foot_instead_of_drawn_empty(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("plain", algorithm="reference:ring", ranks=2)
    campaign.add("plain", algorithm="reference:ring", ranks=4, unsupported="2 CPUs for 4 ranks")
    drawn = drawing(campaign, tmp_path)
    assert len(time_axes(drawn)) == 1
    assert any("(1 unsupported): allreduce · data: pattern · 1 MiB · 4 ranks" in text for text in texts(drawn))
    assert [row["status"] for row in rows(drawn)] == ["ok", "unsupported"]


def test_a_bar_that_dwarfs_the_others_is_cut_and_its_number_is_whole(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for codec, seconds in (("none", 1e-3), ("int8", 2e-3), ("zfp", 0.4)):
        campaign.add("squeezed", **RING, codec=codec, outcome=lambda n, s=seconds: phases(compress=s / 2, wait=s / 2))
    drawn = drawing(campaign, tmp_path)
    assert {"1 ms", "2 ms", "400 ms"} <= texts(drawn)
    assert "Bars with a gap are drawn shorter, in their own proportions" in drawn.caption
    (time,) = time_axes(drawn)
    assert time.get_xlim()[1] == pytest.approx(2e-3 * 1.3 * 1.02)


def test_a_cut_bar_keeps_its_own_proportions(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for codec, seconds in (("none", 1e-3), ("int8", 1e-3), ("zfp", 0.4)):
        shares = phases(compress=seconds / 4, wait=3 * seconds / 4)
        campaign.add("squeezed", **RING, codec=codec, outcome=lambda n, shares=shares: shares)
    (time,) = time_axes(drawing(campaign, tmp_path))
    boxes = [p for p in time.patches if isinstance(p, Rectangle) and p.get_y() > 2 and p.get_fill()]
    assert [box.get_width() for box in boxes] == pytest.approx([1.3e-3 / 4, 3.9e-3 / 4])
    assert [to_hex(box.get_facecolor()) for box in boxes] == [FILLS["compress"].colour, FILLS["wait"].colour]


def test_the_caption_says_how_many_iterations_are_instrumented(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("plain", algorithm="reference:ring")
    few = [phases(send=1e-3), phases(send=1e-3)]
    few[1]["phases_s"]["iterations"] = 2
    campaign.add("plain", algorithm="reference:rabenseifner", outcome=lambda n: few[n - 1])
    drawn = drawing(campaign, tmp_path)
    assert "at least 2 to 5, by point" in drawn.caption
    assert [row["iterations"] for row in rows(drawn)] == [2, 5]


@given(st.lists(st.floats(1e-7, 10), min_size=1, max_size=20))
def test_the_axis_holds_at_least_half_of_the_bars_whole(totals: list[float]) -> None:
    end = limit(totals)
    assert end <= max(totals) * 1.3
    assert sum(total <= end for total in totals) * 2 >= len(totals)
    assert limit([totals[0]] * 3) == totals[0]
