"""Error growth: a line for each point that feeds back, exactly the rounds of the cube, and words for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated_feedback import grows
from legible import legible
from matplotlib.colors import to_hex
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.drawing import Drawing
from collpress.figures.error_growth import draw

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta", "message_bytes": 64 * 1024, "feedback": 100}
ROUNDS = [1, 2, 4, 10, 30, 64, 100]


def fed(folder: Path, width: style.Width = "double", bounds: int = 2) -> Drawing:
    campaign = Campaign(launches=1)
    plain = {"algorithm": "library:default"}
    campaign.add("fed", **(RING | plain), outcome=grows(1e-7, 0))
    campaign.add("fed", **RING, outcome=grows(0, 0))
    campaign.add("fed", **RING, codec="int8", outcome=grows(1e-3, 0.5))
    for power in range(2, 2 + bounds):
        campaign.add("fed", **RING, codec="ours", error_bound=f"rel 1e-{power}", outcome=grows(10.0**-power, 1))
    campaign.add("fed", **RING, codec="zfp", error_bound="rel 1e-3", unsupported="zfp is not installed here")
    campaign.add("fed", **(RING | {"feedback": 0}), codec="bf16")
    campaign.add("other", dataset="colpex/theta")
    with style.house():
        return draw(unwritten(campaign, folder), width)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawing:
    return fed(tmp_path_factory.mktemp("growth"))


def rows(drawing: Drawing) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in drawing.table.rows:
        named = dict(zip(drawing.table.columns, row, strict=True))
        found.setdefault((named["algorithm"], named["codec"], named["error_bound"]), []).append(named)
    return found


def test_the_table_holds_every_round_of_every_point_that_feeds_back(drawn: Drawing) -> None:
    found = rows(drawn)
    assert len(found) == 6
    growing = found["compressed:ring", "ours", "rel 1e-2"]
    assert [row["round"] for row in growing] == ROUNDS
    assert [row["max_abs_error"] for row in growing] == pytest.approx([1e-2 * n for n in ROUNDS])
    assert [row["nrmse"] for row in growing] == pytest.approx([1e-2 * n / 8 for n in ROUNDS])
    assert [row["bias"] for row in growing] == pytest.approx([-1e-2 * n / 64 for n in ROUNDS], rel=1e-5)
    [lost] = found["compressed:ring", "zfp", "rel 1e-3"]
    assert (lost["status"], lost["round"], lost["nrmse"]) == ("unsupported", None, None)


def test_lines_are_the_rows_of_the_table_on_logarithmic_axes(drawn: Drawing) -> None:
    [panel] = [axes for axes in drawn.figure.axes if axes.get_yscale() == "log"]
    assert panel.get_xscale() == "log"
    lines = {tuple(np.asarray(line.get_ydata(), dtype=float).tolist()) for line in panel.lines}
    shown = [found for found in rows(drawn).values() if found[0]["nrmse"]]
    assert lines == {tuple(row["nrmse"] for row in found) for found in shown}
    assert len(lines) == 4
    assert panel.get_xlim()[1] > 100


def test_bounds_of_a_codec_share_a_colour_and_what_does_not_compress_is_black(drawn: Drawing) -> None:
    [panel] = [axes for axes in drawn.figure.axes if axes.get_yscale() == "log"]
    looks = [(to_hex(line.get_color()), str(line.get_linestyle())) for line in panel.lines]
    assert len(set(looks)) == len(looks) == 4
    assert len({colour for colour, _ in looks}) == 3
    assert looks[-1][0] == looks[-2][0]
    assert looks[0][0] == style.INK


def test_what_has_no_line_is_named_with_its_reason(drawn: Drawing) -> None:
    said = " ".join(text.get_text() for text in drawn.figure.findobj(Text))
    assert "no codec: exact in every round" in said
    assert "– zfp rel 1e-3: unsupported" in said
    assert "bf16" not in said
    assert "n = 4 of 6 points that feed back are drawn" in drawn.caption


@pytest.mark.parametrize("width", ["double", "single"])
@pytest.mark.parametrize("bounds", [2, 11])
def test_names_have_room_however_many_there_are(tmp_path: Path, width: style.Width, bounds: int) -> None:
    assert legible(fed(tmp_path, width, bounds).figure)


def test_a_campaign_that_feeds_nothing_back_says_so(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("other")
    with style.house():
        drawing = draw(unwritten(campaign, tmp_path))
    assert drawing.table.rows == ()
    assert "No point of this campaign feeds its result back" in " ".join(
        text.get_text() for text in drawing.figure.findobj(Text)
    )
