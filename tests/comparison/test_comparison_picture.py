"""The picture of a comparison: legible, honest about what it leaves out, and stamped."""

from __future__ import annotations

from pathlib import Path

import pytest
from legible import legible
from made_up_comparison import BASE, FAST, LATER, SLOW, told
from matplotlib.figure import Figure
from PIL import Image

from collpress.comparison.picture import write_pictures
from collpress.comparison.told import Told
from collpress.figures import comparison as picture
from collpress.figures import style
from collpress.figures.stamped import read_stamp

A = {8: BASE, 64: BASE, 512: BASE, 4096: BASE, 1_000_003: BASE}
B = {8: LATER, 64: SLOW, 512: FAST, 4096: SLOW[:3], 1_000_003: tuple(40 * time for time in BASE)}
WIDE = {**B, 8: (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)}
MANY = {8 + i: tuple((0.85 + i / 1000) * time for time in BASE) for i in range(300)}
CASES = {
    "every verdict": told(A, B, 0.05),
    "no threshold": told(A, B),
    "wide limits": told(A, WIDE, 0.05),
    "one point": told({8: BASE}, {8: LATER}, 0.001),
    "nothing": told({8: BASE}, {64: BASE}),
    "many": told(dict.fromkeys(MANY, BASE), MANY, 0.05, order="ratio"),
}


def drawn(of: Told, width: style.Width = "double") -> set[str]:
    with style.house():
        figure, _ = picture.compared(
            of.pairs, of.judgement, ("quick/one", "quick/two"), gated=bool(of.gate.rule), width=width
        )
        assert figure.get_size_inches()[0] == style.inches(width)
        return legible(figure)


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("case", CASES)
def test_no_text_lies_on_another_and_none_leaves_the_page(case: str, width: style.Width) -> None:
    assert drawn(CASES[case], width)


def test_each_point_has_its_name_its_ratio_and_its_verdict_in_the_legend() -> None:
    said = drawn(CASES["every verdict"])
    assert {"ring (lib.) · 64 B", "ring (lib.) · 4 KiB", "1.3", "0.7", "40", "time of B / time of A"} <= said
    legend = " ".join(said)
    for words in ("■ B slower", "● B faster", "○ B not shown to differ", "× B of too few launches", "dashed: 1.05",
                  "ringed: regression", "A: quick/one", "B: quick/two"):  # fmt: skip
        assert words in legend
    assert "dashed" not in " ".join(drawn(CASES["no threshold"]))


def test_rows_lie_in_the_order_that_was_asked_for() -> None:
    for order, sizes in (("factors", [8, 64, 512, 4096, 1_000_003]), ("ratio", [1_000_003, 64, 4096, 8, 512])):
        of = told(A, B, order=order)
        assert [pair.factors["message_bytes"] for pair in of.pairs] == sizes


def test_of_many_points_those_that_differ_least_are_left_out_and_that_is_told() -> None:
    of = CASES["many"]
    with style.house():
        figure, rows = picture.compared(of.pairs, of.judgement, ("A", "B"), gated=True)
    assert rows == picture.MOST
    shown = names(figure)
    assert len(shown) == picture.MOST
    assert {"ring (lib.) · 8 B", "ring (lib.) · 307 B"} <= shown
    assert "ring (lib.) · 158 B" not in shown
    assert f"… and {300 - rows} more points, which differ less than those shown" in [t.get_text() for t in figure.texts]


def test_points_that_are_shown_to_differ_come_before_larger_ratios_that_are_not() -> None:
    sizes = range(8, 308)
    b = {size: SLOW[:3] if size % 2 else tuple(0.9 * time for time in BASE) for size in sizes}
    of = told(dict.fromkeys(sizes, BASE), b)
    with style.house():
        figure, _ = picture.compared(of.pairs, of.judgement, ("A", "B"), gated=False)
    assert all(int(name.split()[-2]) % 2 == 0 for name in names(figure))


def names(figure: Figure) -> set[str]:
    """Of the rows that are drawn."""
    return {label.get_text() for axes in figure.axes for label in axes.get_yticklabels()}


def test_nothing_compared_is_said_and_not_left_white() -> None:
    assert "No point is ok in both: nothing is compared." in drawn(CASES["nothing"])


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png"])
def test_a_file_carries_its_provenance_and_a_second_one_has_the_same_bytes(suffix: str) -> None:
    one, other = Path(f"folder/one.{suffix}"), Path(f"two.{suffix}")
    assert write_pictures(CASES["every verdict"], [one, other]) == [one, other]
    assert one.read_bytes() == other.read_bytes()
    stamp = read_stamp(one)
    assert (stamp["figure"], stamp["command"]) == ("comparison", "./run it")
    assert (stamp["a"]["cube_sha256"], stamp["b"]["cube_sha256"]) == ("a" * 64, "b" * 64)
    assert stamp["b"]["world"]["hosts"] == ["node-a"]
    assert stamp["b"]["last_record_utc"] == "2026-01-31T12:07:30.000000Z"


def test_the_id_is_that_of_what_was_compared_and_asked() -> None:
    ids = set()
    for of in (told(A, B), told(A, B, 0.05), told(A, B, 0.06), told(A, B, order="ratio")):
        write_pictures(of, [Path("x.svg")])
        ids.add(read_stamp(Path("x.svg"))["id"])
    assert len(ids) == 4


def test_a_name_that_says_single_is_for_one_column() -> None:
    write_pictures(CASES["every verdict"], [Path("x.png"), Path("x-single.png")])
    widths = [Image.open(path).width for path in ("x.png", "x-single.png")]
    assert widths == [round(7.16 * 200), round(3.5 * 200)]


def test_the_caption_states_statistic_counts_and_what_makes_it_doubtful() -> None:
    write_pictures(told(A, B, 0.05, hardware={"cpu_model": "another"}), [Path("x.png")])
    with Image.open("x.png") as image:
        caption = image.text["Description"]
    for words in ("exact bootstrap limits of 95 %", "5 points compared, 5 shown", "slower > 5 % in 2 of 4 points",
                  "1 with too few launches", "8 launches a side",
                  "another machine: processor: A made up, B another"):  # fmt: skip
        assert words in caption
