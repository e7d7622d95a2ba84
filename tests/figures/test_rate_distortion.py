"""Rate and distortion: bits per value and PSNR of the same message; nobody beats a member of the front."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from fabricated_fidelity import with_fidelity
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.drawing import Drawing
from collpress.figures.rate_distortion import Mark, draw, front

RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta", "message_bytes": 4096}
marks = st.lists(st.builds(Mark, st.just({}), st.floats(0.1, 64), st.floats(0, 300) | st.just(inf)), max_size=30)


def drawing(campaign: Campaign, folder: Path) -> Drawing:
    cube = with_fidelity(unwritten(campaign, folder))
    with style.house():
        return draw(cube)


def table(drawn: Drawing) -> dict[tuple[str, str], dict[str, Any]]:
    rows = [dict(zip(drawn.table.columns, row, strict=True)) for row in drawn.table.rows]
    return {(row["codec"], row["error_bound"]): row for row in rows}


@given(marks)
def test_the_front_is_what_no_other_mark_beats(found: list[Mark]) -> None:
    members = front(found)
    for member in members:
        better = [m for m in found if m.bits <= member.bits and m.psnr >= member.psnr]
        assert all((m.bits, m.psnr) == (member.bits, member.psnr) for m in better)
    for mark in found:
        assert any(m.bits <= mark.bits and m.psnr >= mark.psnr for m in members)
    assert [m.bits for m in members] == sorted({m.bits for m in members})


def test_bits_are_those_of_the_compressed_message_and_exact_messages_have_no_psnr(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for codec, bound in (("none", "none"), ("bf16", "none"), ("ours", "rel 1e-2"), ("ours", "rel 1e-4")):
        campaign.add("squeezed", **RING, codec=codec, error_bound=bound)
    found = table(drawing(campaign, tmp_path))
    assert found["none", "none"]["bits_per_value"] == 32
    assert found["bf16", "none"]["bits_per_value"] == 16
    assert found["ours", "rel 1e-2"]["bits_per_value"] == pytest.approx(32 / 7.9, rel=0.01)
    assert (found["none", "none"]["exact"], found["none", "none"]["message_psnr_db"]) == (1, None)
    assert {key: row["pareto"] for key, row in found.items()} == {
        ("none", "none"): 1,
        ("bf16", "none"): 0,
        ("ours", "rel 1e-2"): 1,
        ("ours", "rel 1e-4"): 1,
    }


def test_doubles_are_measured_against_64_bits(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("squeezed", **RING, codec="bf16", dtype="float64")
    drawn = drawing(campaign, tmp_path)
    assert table(drawn)["bf16", "none"]["bits_per_value"] == 32
    assert "float64: 64 bits" in {t.get_text() for t in drawn.figure.findobj(Text)}


def test_each_message_size_and_number_of_ranks_has_its_panel(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for size in (4096, 8192):
        for ranks in (2, 4):
            campaign.add("squeezed", **(RING | {"message_bytes": size}), codec="bf16", ranks=ranks)
    drawn = drawing(campaign, tmp_path)
    titles = [t.get_text() for t in drawn.figure.texts if "ranks" in t.get_text()]
    assert titles == ["4 KiB · 2 ranks", "4 KiB · 4 ranks", "8 KiB · 2 ranks", "8 KiB · 4 ranks"]


def test_a_psnr_that_is_missing_without_being_exact_is_not_drawn_as_exact(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("squeezed", **RING, codec="bf16")
    cube = with_fidelity(unwritten(campaign, tmp_path))
    cube["squeezed"]["message_psnr"] = xr.full_like(cube["squeezed"]["message_psnr"], float("nan"))
    with style.house():
        drawn = draw(cube)
    row = table(drawn)["bf16", "none"]
    assert (row["exact"], row["pareto"], row["bits_per_value"]) == (None, None, None)
    said = {t.get_text() for t in drawn.figure.findobj(Text)}
    assert "Not drawn: bf16: PSNR undefined" in said
    assert "exact" not in said
