"""Headings say once what all blocks of an experiment have in common; titles say what tells them apart, uncut."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabricated_phases import tagged
from legible import legible
from matplotlib.text import Text
from synthetic_campaign import Campaign
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.blocks import wrapped
from collpress.figures.headings import parted
from collpress.figures.registry import load

LONG = "synthetic/a-name-that-is-longer-than-most-and-would-not-fit-a-column-of-a-page-together-with-an-algorithm"


def factors(collective: str, **more: object) -> dict[str, object]:
    return {"collective": collective, "codec": "none", "dataset": "pattern", "op": "sum", "nodes": 1, "root": 0} | more


def test_what_varies_is_in_the_titles_and_the_rest_in_the_heading_the_collective_first_in_either() -> None:
    blocks = [factors("allreduce", ranks=ranks, algorithm="reference:ring") for ranks in (2, 4)]
    assert parted(blocks) == ("allreduce · ring (ref.) · no codec · data: pattern · sum", ["2 ranks", "4 ranks"])
    blocks = [factors(c, ranks=2, algorithm="reference:ring") for c in ("bcast", "allgather")]
    assert parted(blocks) == ("ring (ref.) · no codec · data: pattern · 2 ranks", ["bcast", "allgather"])


def test_a_block_that_is_alone_needs_no_title() -> None:
    assert parted([factors("allreduce")]) == ("allreduce · no codec · data: pattern · sum", [""])


def test_a_factor_that_means_something_for_some_collectives_only_is_said_of_those() -> None:
    assert parted([factors("allreduce"), factors("bcast")])[1] == ["allreduce · sum", "bcast"]


def test_the_roots_of_one_collective_are_told_apart() -> None:
    assert parted([factors("bcast", root=root) for root in (0, 1)])[1] == ["", "root 1"]


def test_nodes_are_said_where_there_are_several() -> None:
    assert parted([factors("bcast", nodes=n) for n in (1, 2)])[1] == ["1 node", "2 nodes"]
    assert "2 nodes" in parted([factors("bcast", nodes=2)])[0]


def test_a_word_that_is_longer_than_the_room_is_broken_and_not_cut() -> None:
    with style.house():
        lines = wrapped(f"data: {LONG}", 6.3, 1.5)
        assert all(style.length_of(line, 6.3) <= 1.5 for line in lines)
    assert "".join(lines) == f"data:{LONG}"


@pytest.mark.parametrize("width", ["", "-single"])
def test_a_breakdown_cuts_no_title_and_says_what_is_common_once(tmp_path: Path, width: str) -> None:
    campaign = Campaign(launches=1)
    for collective in ("allgather", "bcast"):
        for algorithm in ("reference:recursive_doubling", "reference:segmented_ring"):
            for dataset in (LONG, LONG + "-too"):
                for size in (8, 64, 512):
                    campaign.add(
                        "moves",
                        collective=collective,
                        algorithm=algorithm,
                        dataset=dataset,
                        message_bytes=size,
                        outcome=tagged({"exchange": {"send": 1e-6}}),
                    )
    with style.house():
        figure = load("breakdown" + width)(unwritten(campaign, tmp_path)).figure
    said = legible(figure)
    assert not [text for text in said if "…" in text]
    told = "".join(t.get_text() for t in figure.texts).replace(" ", "")
    assert f"allgather·recursivedoubling(ref.)·data:{LONG}" in told
    assert told.count("nocodec·4ranks·float32") == 1
    assert [t.get_text() for t in figure.findobj(Text)].count("moves") == 1
