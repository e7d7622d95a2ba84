"""Blocks of the coverage: each with its own algorithms, and with every name whole, be it in two lines or in a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from legible import legible
from matplotlib.axes import Axes
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.coverage import MAX_PANELS, MAX_ROWS
from collpress.figures.drawing import Drawing
from collpress.figures.registry import load

OWN = {"allreduce": ("default", "ring", "rabenseifner"), "bcast": ("default", "binomial", "chain")}
LONG = ("llama/gradients-of-the-first-layer", "llama/gradients-of-the-last-layer")
NOT_HERE = {"unsupported": "not here"}


def drawing(campaign: Campaign, folder: Path, width: str = "") -> Drawing:
    with style.house():
        return load("coverage" + width)(unwritten(campaign, folder))


def table(drawn: Drawing) -> list[dict[str, Any]]:
    return [dict(zip(drawn.table.columns, row, strict=True)) for row in drawn.table.rows]


def panels(drawn: Drawing) -> list[Axes]:
    return drawn.figure.axes[1:]


def rows_of(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def columns_of(axes: Axes) -> list[str]:
    return [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()]


def two_collectives(ranks: tuple[int, ...]) -> Campaign:
    campaign = Campaign(launches=1)
    for collective, names in OWN.items():
        for name in names:
            for p in ranks:
                for size in (8, 512):
                    campaign.add(
                        "e", collective=collective, algorithm=f"library:{name}", ranks=p, message_bytes=size, **NOT_HERE
                    )
    return campaign


@pytest.mark.parametrize("ranks", [(2,), (2, 4)])
def test_a_block_lists_only_the_algorithms_of_its_collective(tmp_path: Path, ranks: tuple[int, ...]) -> None:
    drawn = drawing(two_collectives(ranks), tmp_path)
    named = [rows_of(axes) for axes in panels(drawn) if rows_of(axes)]
    assert named == [[f"{name} (lib.)" for name in sorted(names, key=as_in_a_cube)] for names in OWN.values()]
    assert all(row["planned"] for row in table(drawn)), "no cell of another collective's algorithm"
    assert "not planned" not in legible(drawn.figure)


def as_in_a_cube(name: str) -> tuple[bool, str]:
    """That of a cube: the default first."""
    return name != "default", name


def test_worlds_of_a_collective_share_their_rows_also_where_one_has_less(tmp_path: Path) -> None:
    campaign = two_collectives((2, 4))
    campaign.add("e", collective="bcast", algorithm="library:pipeline", ranks=2, message_bytes=8, **NOT_HERE)
    drawn = drawing(campaign, tmp_path)
    assert len([axes for axes in panels(drawn) if rows_of(axes)]) == 2
    dots = [(row["panel"], row["row"]) for row in table(drawn) if row["shown"] == "not_planned"]
    assert set(dots) == {("bcast · 2 ranks", "pipeline (lib.)"), ("bcast · 4 ranks", "pipeline (lib.)")}


def codecs_of(collectives: tuple[str, ...], algorithms: int) -> Campaign:
    """Two for each algorithm, and no algorithm in two collectives."""
    campaign = Campaign(launches=1)
    for collective in collectives:
        for i in range(algorithms):
            for codec in ("int8", "zfp"):
                for size in (8, 512):
                    name = f"compressed:{collective}_{i}"
                    campaign.add(
                        "e", collective=collective, algorithm=name, codec=codec, message_bytes=size, **NOT_HERE
                    )
    return campaign


def test_many_collectives_with_few_rows_each_are_not_folded(tmp_path: Path) -> None:
    found = table(drawing(codecs_of(("allreduce", "reduce", "bcast"), MAX_ROWS // 4), tmp_path))
    assert {row["planned"] for row in found} == {1}


def test_what_is_folded_because_of_too_many_rows_is_named(tmp_path: Path) -> None:
    drawn = drawing(codecs_of(("allreduce",), MAX_ROWS // 2 + 1), tmp_path)
    assert {(row["panel"], row["planned"]) for row in table(drawn)} == {("codec: counted together", 2)}
    assert "codec: counted together" in legible(drawn.figure)


@pytest.mark.parametrize("width", ["", "-single"])
def test_every_long_dataset_is_named_where_datasets_are_columns(tmp_path: Path, width: str) -> None:
    campaign = Campaign(launches=1)
    for dataset in LONG:
        for name in ("library:default", "library:ring"):
            campaign.add("tensors", algorithm=name, dataset=dataset, **NOT_HERE)
    drawn = drawing(campaign, tmp_path, width)
    said = " ".join(legible(drawn.figure)).replace("\n", " ")
    for dataset in LONG:
        assert f"data: {dataset}" in said
    (panel,) = panels(drawn)
    assert len(columns_of(panel)) == len(LONG)


@pytest.mark.parametrize("width", ["", "-single"])
def test_more_names_than_a_page_has_room_for_are_letters_with_a_key(tmp_path: Path, width: str) -> None:
    campaign = Campaign(launches=1)
    names = [f"synthetic/a-rather-long-name-{i}" for i in range(12)]
    for dataset in names:
        campaign.add("many", dataset=dataset, **NOT_HERE)
    drawn = drawing(campaign, tmp_path, width)
    said = " ".join(text for text in legible(drawn.figure))
    (panel,) = panels(drawn)
    assert columns_of(panel) == list("ABCDEFGHIJKL")
    for letter, dataset in zip("ABCDEFGHIJKL", sorted(names), strict=True):
        assert f"{letter} data: {dataset}" in said


@pytest.mark.parametrize("width", ["", "-single"])
def test_every_size_is_named_where_cells_take_two_lines(tmp_path: Path, width: str) -> None:
    campaign = Campaign(launches=1)
    for power in range(7):
        campaign.add("sizes", message_bytes=128 << power, **NOT_HERE)
    (panel,) = panels(drawing(campaign, tmp_path, width))
    assert columns_of(panel) == ["128 B", "256 B", "512 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB"]


@pytest.mark.parametrize("width", ["", "-single"])
def test_a_panel_with_a_long_title_has_it_in_lines(tmp_path: Path, width: str) -> None:
    campaign = Campaign(launches=1)
    for dataset in LONG:
        for call in ("blocking", "nonblocking"):
            for size in (8, 512):
                more = {"call": call} if call != "blocking" else {}
                campaign.add(
                    "e", algorithm="library:ring", dataset=dataset, message_bytes=size, ranks=2, **more, **NOT_HERE
                )
    figure = drawing(campaign, tmp_path, width).figure
    legible(figure)
    said = "".join(t.get_text() for t in figure.texts).replace(" ", "")
    for dataset in LONG:
        assert said.count(f"data:{dataset}") == 2
        assert f"data:{dataset}·nonblocking" in said


def test_facets_that_are_counted_together_are_named(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for ranks in range(2, MAX_PANELS + 3):
        for size in (8, 512):
            campaign.add("e", ranks=ranks, message_bytes=size, **NOT_HERE)
    drawn = drawing(campaign, tmp_path)
    assert {row["panel"] for row in table(drawn)} == {"ranks: counted together"}
    assert "ranks: counted together" in legible(drawn.figure)


def test_the_roots_of_a_collective_are_told_apart(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for root in (0, 1):
        for size in (8, 512):
            more = {"root": root} if root else {}
            campaign.add("e", collective="bcast", message_bytes=size, **more, **NOT_HERE)
    assert {row["panel"] for row in table(drawing(campaign, tmp_path))} == {"", "root 1"}
