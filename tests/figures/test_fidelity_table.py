"""Fidelity table: numbers of the cube, the best of each column in bold, and a reason where there are none."""

from __future__ import annotations

from typing import Any

import pytest
from fabricated_fidelity import with_fidelity
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.drawing import Drawing
from collpress.figures.fidelity_table import COLUMNS, draw, written

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta", "message_bytes": 64 * 1024}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawing:
    campaign = Campaign(launches=2)
    campaign.add("squeezed", **(RING | {"algorithm": "library:default"}))
    for codec, bound in (("none", "none"), ("int8", "none"), ("zfp", "rel 1e-3"), ("zfp", "rel 1e-2")):
        campaign.add("squeezed", **RING, codec=codec, error_bound=bound)
    with style.house():
        return draw(with_fidelity(unwritten(campaign, tmp_path_factory.mktemp("fidelity"))))


def rows(drawing: Drawing) -> dict[tuple[str, str], dict[str, Any]]:
    found = [dict(zip(drawing.table.columns, row, strict=True)) for row in drawing.table.rows]
    return {(row["codec"], row["error_bound"]): row for row in found}


def test_only_points_that_compress_have_rows(drawn: Drawing) -> None:
    assert rows(drawn).keys() == {("none", "none"), ("int8", "none"), ("zfp", "rel 1e-3"), ("zfp", "rel 1e-2")}
    assert "4 of 4 points" in drawn.caption


def test_numbers_are_ratios_of_what_the_cube_holds(drawn: Drawing) -> None:
    row = rows(drawn)["zfp", "rel 1e-3"]
    assert row["max_error_over_bound"] == pytest.approx((row["ranks"] * 0.3e-3 + 1e-7) / (row["ranks"] * 1e-3 + 1e-6))
    assert row["ratio"] > 1
    assert row["ssim_off_1"] is None  # not measured: no column either
    said = {t.get_text() for t in drawn.figure.findobj(Text)}
    assert {"ratio", "max err\n/ bound"} <= said
    assert "MAE" in said
    assert not any("NRMSE" in text for text in said)  # in the table only: PSNR says the same
    assert row["nrmse"] == pytest.approx(0.00080829)
    assert "1 − SSIM" not in said


def test_the_best_of_a_column_is_bold_and_nothing_else(drawn: Drawing) -> None:
    bold = {t.get_text() for t in drawn.figure.findobj(Text) if t.get_fontweight() == "bold"} - {"squeezed"}
    best = max(row["ratio"] for row in rows(drawn).values())
    assert written(best) in bold
    assert written(rows(drawn)["zfp", "rel 1e-3"]["max_error_over_bound"]) not in bold


def test_a_cube_without_codecs_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    campaign = Campaign(launches=2)
    campaign.add("plain", **(RING | {"algorithm": "library:default"}))
    with style.house():
        drawing = draw(unwritten(campaign, tmp_path_factory.mktemp("plain")))
    assert any("No point of this campaign compresses" in t.get_text() for t in drawing.figure.findobj(Text))
    assert drawing.table.rows == ()


def test_every_column_has_a_name_of_its_own() -> None:
    heads = [c.head for c in COLUMNS if c.head]
    assert len({c.name for c in COLUMNS}) == len(COLUMNS)
    assert len(set(heads)) == len(heads)
