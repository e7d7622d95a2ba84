"""Breakdown: parts on parts, phase by phase; edges at the sums below them; shares of the same bars."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from fabricated_phases import tagged
from legible import legible
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from synthetic_campaign import Campaign, failing
from test_house_style import BLINDNESS, lightness, linear
from unwritten import unwritten

from collpress.cube.quantities import PHASES
from collpress.figures import style
from collpress.figures.breakdown import KINDS, LOOKS, draw
from collpress.figures.drawing import Drawing

MS = 1e-3
PARTS = {
    "reduce-scatter": {"send": 1 * MS, "wait": 2 * MS, "reduce": 4 * MS, "other": 1 * MS},
    "allgather": {"send": 3 * MS, "wait": 3 * MS, "copy": 2 * MS},
}
SIZES = (1024, 4096, 16384)


def drawing(campaign: Campaign, folder: Path, width: style.Width = "double") -> Drawing:
    with style.house():
        return draw(unwritten(campaign, folder), width)


def rows(drawn: Drawing) -> list[dict[str, Any]]:
    return [dict(zip(drawn.table.columns, row, strict=True)) for row in drawn.table.rows]


def texts(drawn: Drawing) -> set[str]:
    return {t.get_text() for t in drawn.figure.findobj(Text)}


def panels(drawn: Drawing) -> list[Axes]:
    """Times and shares of each block, one after the other."""
    return [axes for axes in drawn.figure.axes if axes.axison]


def boxes(axes: Axes, place: int) -> list[Rectangle]:
    """The coloured parts of the bar at a place, from the bottom up."""
    found = [
        p for p in axes.patches if isinstance(p, Rectangle) and p.get_fill() and abs(p.get_x() + 0.4 - place) < 0.1
    ]
    return sorted(found, key=Rectangle.get_y)


def one(parts: dict[str, dict[str, float]], **more: Any) -> Campaign:
    campaign = Campaign(launches=1)
    for size in SIZES:
        campaign.add("e", algorithm="reference:ring", message_bytes=size, outcome=tagged(parts), **more)
    return campaign


def test_every_phase_of_the_cube_is_of_one_kind_and_every_kind_has_a_look() -> None:
    assert sorted(phase for phases in KINDS.values() for phase in phases) == sorted(PHASES)
    assert list(KINDS) == list(LOOKS)


def test_kinds_differ_in_lightness_alone_for_hatches_tell_phases() -> None:
    for seen in [*BLINDNESS.values(), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]:
        greys = {kind: lightness(seen @ linear(look.colour)) for kind, look in LOOKS.items()}
        for a, b in combinations(greys, 2):
            assert abs(greys[a] - greys[b]) >= 8, f"{a} and {b} look alike"


def test_edges_of_times_are_the_sums_below_them_on_an_axis_of_powers(tmp_path: Path) -> None:
    time, share = panels(drawing(one(PARTS), tmp_path))
    assert time.get_yscale() == "log"
    edges = [box.get_y() + box.get_height() for box in boxes(time, 0)]
    assert edges == pytest.approx([3 * MS, 7 * MS, 8 * MS, 14 * MS, 16 * MS])
    shares = [box.get_height() for box in boxes(share, 0)]
    assert shares == pytest.approx([100 * part / 16 for part in (3, 4, 1, 6, 2)])


def test_colours_are_the_kinds_and_hatches_the_phases(tmp_path: Path) -> None:
    drawn = drawing(one(PARTS), tmp_path)
    share = panels(drawn)[1]
    kinds = ["network", "reduction", "other", "network", "movement"]
    assert [to_hex(box.get_facecolor()) for box in boxes(share, 0)] == [LOOKS[kind].colour for kind in kinds]
    hatched = [p for p in share.patches if p.get_hatch() and abs(p.get_x() + 0.4) < 0.1]
    assert [p.get_y() for p in sorted(hatched, key=Rectangle.get_y)] == pytest.approx([50, 87.5])
    assert {"reduce-scatter", "allgather"} <= texts(drawn)
    assert "outside" not in texts(drawn)


def test_the_table_has_a_row_for_each_part_and_they_make_the_whole(tmp_path: Path) -> None:
    found = [row for row in rows(drawing(one(PARTS), tmp_path)) if row["message_bytes"] == 1024 and row["seconds"]]
    assert [(row["tagged_phase"], row["kind"], row["seconds"]) for row in found] == [
        ("reduce-scatter", "network", pytest.approx(3 * MS)),
        ("reduce-scatter", "reduction", pytest.approx(4 * MS)),
        ("reduce-scatter", "other", pytest.approx(1 * MS)),
        ("allgather", "network", pytest.approx(6 * MS)),
        ("allgather", "movement", pytest.approx(2 * MS)),
    ]
    assert sum(row["share"] for row in found) == pytest.approx(1)
    assert [row["sum_s"] for row in found] == pytest.approx([16 * MS] * 5)


def test_an_algorithm_without_tags_is_one_stack_of_kinds(tmp_path: Path) -> None:
    drawn = drawing(one({"": {"compress": 1 * MS, "decompress": 1 * MS, "wait": 2 * MS}}), tmp_path)
    _, share = panels(drawn)
    assert [box.get_height() for box in boxes(share, 1)] == pytest.approx([50, 50])
    assert {row["tagged_phase"] for row in rows(drawn)} == {""}


def test_a_rest_below_zero_takes_nothing_from_a_bar(tmp_path: Path) -> None:
    drawn = drawing(one({"p": {"send": 2 * MS, "other": -1e-9}}), tmp_path)
    assert [box.get_height() for box in boxes(panels(drawn)[1], 0)] == pytest.approx([100])


def test_a_size_without_numbers_has_a_mark_and_the_caption_counts_it(tmp_path: Path) -> None:
    campaign = one(PARTS)
    campaign.add("e", algorithm="reference:ring", message_bytes=65536, outcome=failing("crashed", "signal 11"))
    campaign.add("e", algorithm="reference:ring", message_bytes=131072, outcome=lambda n: {"phases_s": None})
    drawn = drawing(campaign, tmp_path)
    assert {"⚡", "∅"} <= texts(drawn)
    assert "n = 3 of 5" in drawn.caption
    assert "⚡ 1 crashed, ∅ 1 without an instrumented pass" in drawn.caption
    lost = [row for row in rows(drawn) if row["seconds"] is None]
    assert [row["message_bytes"] for row in lost] == [65536, 131072]


def test_few_sizes_are_named_at_the_foot_beside_more_and_drawn_where_there_are_no_more(tmp_path: Path) -> None:
    campaign = one(PARTS)
    campaign.add("few", algorithm="reference:rabenseifner", outcome=tagged(PARTS))
    drawn = drawing(campaign, tmp_path / "both")
    assert len(panels(drawn)) == 2
    assert any("few, without a panel because fewer than 3 sizes" in text for text in texts(drawn))
    assert {row["experiment"] for row in rows(drawn)} == {"e", "few"}
    alone = Campaign(launches=1)
    alone.add("few", algorithm="reference:rabenseifner", outcome=tagged(PARTS))
    assert len(panels(drawing(alone, tmp_path / "alone"))) == 2


def test_the_caption_says_whose_times_these_are(tmp_path: Path) -> None:
    caption = drawing(one(PARTS), tmp_path).caption
    assert "Measured in an instrumented pass of its own" in caption
    assert "on the slowest rank" in caption
    assert "(at least 5, in the launch with the fewest)" in caption


@pytest.mark.parametrize("width", ["single", "double"])
def test_many_phases_at_many_sizes_are_legible(tmp_path: Path, width: style.Width) -> None:
    campaign = Campaign(launches=1)
    names = ["gather on the node", "fold", "reduce-scatter", "allgather", "unfold", "bcast on the node"]
    for size in (2**power for power in range(3, 25)):
        parts = {name: {"send": size * 1e-9, "reduce": 1e-6} for name in names}
        campaign.add("e", algorithm="reference:ring", message_bytes=size, outcome=tagged(parts, beyond=1e-7))
    said = legible(drawing(campaign, tmp_path, width).figure)
    assert {*names, "outside", "8 B"} <= said
