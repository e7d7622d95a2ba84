"""Best over default and speed-up: every outcome has a look of its own, and no cube is too odd to draw."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr
from legible import legible
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from synthetic_campaign import SIZES, Campaign, KiB, failing, quick, taking
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.best_over_default import draw as draw_best
from collpress.figures.drawing import Drawing
from collpress.figures.keys import names_for
from collpress.figures.speed_up import draw as draw_speed_up

SLOW, FAST, BETWEEN = (10.0, 10.1, 10.2, 10.3, 10.4), (5.0, 5.1, 5.2, 5.3, 5.4), (4.0, 9.0, 10.0, 11.0, 20.0)
RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta"}
RIVAL = "reference:recursive_doubling"


def every_outcome(launches: int = 5) -> Campaign:
    """A size for each verdict at 2 ranks; at 4 ranks only the first."""
    campaign = Campaign(launches=launches)
    crash = failing("crashed", "signal 11")
    slow, fast, between = taking(*SLOW), taking(*FAST), taking(*BETWEEN)
    pairs = [
        ({"outcome": slow}, {"outcome": fast}),
        ({"outcome": fast}, {"outcome": slow}),
        ({"outcome": slow}, {"outcome": between}),
        ({"outcome": crash}, {"outcome": slow}),
        ({"unsupported": "not here"}, {"outcome": slow}),
        ({"outcome": slow}, {"outcome": crash}),
        (None, {"outcome": slow}),
        ({"outcome": slow}, None),
    ]
    for power, (default, rival) in enumerate(pairs):
        for algorithm, plan in (("library:default", default), (RIVAL, rival)):
            if plan is not None:
                campaign.add("tuning", algorithm=algorithm, ranks=2, message_bytes=8 << power, **plan)  # type: ignore[arg-type]
    for algorithm, outcome in (("library:default", slow), (RIVAL, fast)):
        campaign.add("tuning", algorithm=algorithm, ranks=4, message_bytes=8, outcome=outcome)
    return campaign


def odd_codecs() -> Campaign:
    """Codecs that failed, a reference that failed, a reference that was not planned, one that saves no bytes."""
    campaign = Campaign(launches=5)
    for size in (KiB, 2 * KiB):
        if size == KiB:
            campaign.add("e", **RING, message_bytes=size, outcome=failing("timed_out", "no word"))
        for codec, outcome in (("bf16", taking(*FAST)), ("int8", failing("crashed", "signal 11"))):
            campaign.add("e", **RING, message_bytes=size, codec=codec, outcome=outcome)
    campaign.add("f", **RING)
    sent = {"raw_bytes": 8, "compressed_bytes": 9, "ratio": 0.9, "wire_bytes": 9 << 20}
    campaign.add("f", **RING, codec="bf16", outcome=lambda n: {"codec": sent})
    return campaign


def only_a_codec() -> Campaign:
    campaign = Campaign(launches=1)
    campaign.add("e", **RING, codec="bf16", unsupported="this codec needs float64")
    return campaign


def without_the_default() -> Campaign:
    campaign = Campaign(launches=2)
    for size in SIZES:
        campaign.add("e", algorithm=RIVAL, message_bytes=size)
    return campaign


CASES = {
    "every outcome": every_outcome,
    "one launch": lambda: every_outcome(1),
    "odd codecs": odd_codecs,
    "only a codec": only_a_codec,
    "without the default": without_the_default,
    "quick": quick,
}


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.DataTree]:
    return {name: unwritten(make(), tmp_path_factory.mktemp("case")) for name, make in CASES.items()}


def drawn(figure: str, cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    with style.house():
        return {"best": draw_best, "speed-up": draw_speed_up}[figure](cube, width)


def texts(drawing: Drawing) -> list[str]:
    return [t.get_text() for t in drawing.figure.findobj(Text) if t.get_text()]


def column(drawing: Drawing, name: str) -> list[object]:
    at = drawing.table.columns.index(name)
    return [row[at] for row in drawing.table.rows]


@pytest.mark.parametrize(
    ("case", "width"),
    [*((case, "double") for case in CASES), *((case, "single") for case in ("every outcome", "odd codecs", "quick"))],
)
@pytest.mark.parametrize("figure", ["best", "speed-up"])
def test_no_text_lies_on_another_and_none_leaves_the_page(
    cubes: dict[str, xr.DataTree], figure: str, case: str, width: style.Width
) -> None:
    drawing = drawn(figure, cubes[case], width)
    assert drawing.figure.get_size_inches()[0] == style.inches(width)
    assert legible(drawing.figure)


def test_every_outcome_of_a_comparison_has_a_look_of_its_own(cubes: dict[str, xr.DataTree]) -> None:
    drawing = drawn("best", cubes["every outcome"])
    verdicts = column(drawing, "verdict")
    assert len(set(verdicts)) == 8
    said = texts(drawing)
    assert {"▲ 1.96", "▼ 0.51", "n.s.", "⚡", "–", "no", "rivals", "default"} <= set(said)
    boxes = [p for axes in drawing.figure.axes for p in axes.patches if isinstance(p, Rectangle)]
    looks = {(to_hex(b.get_facecolor()), b.get_hatch(), b.get_linestyle()) for b in boxes}
    assert len(looks) >= 6


def test_a_winner_is_named_only_where_the_difference_is_shown(cubes: dict[str, xr.DataTree]) -> None:
    drawing = drawn("best", cubes["every outcome"])
    faster = column(drawing, "verdict").count("rival faster")
    assert faster == 2
    assert texts(drawing).count("doubling (ref.)") == faster


def test_one_launch_claims_no_winner(cubes: dict[str, xr.DataTree]) -> None:
    drawing = drawn("best", cubes["one launch"])
    assert not any(t.startswith(("▲", "▼")) for t in texts(drawing))
    assert any("few: too few launches to judge" in t for t in texts(drawing))
    assert "no difference is shown" in drawing.caption


def test_without_the_default_nothing_is_compared_and_the_figure_says_so(cubes: dict[str, xr.DataTree]) -> None:
    said = texts(drawn("best", cubes["without the default"]))
    assert "Nothing is compared: the default and a rival are nowhere both ok." in said
    assert said.count("default") == len(SIZES)


def test_names_that_do_not_fit_become_letters_with_a_key(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    for size in SIZES:
        campaign.add("e", message_bytes=size, outcome=taking(*SLOW))
        campaign.add("e", algorithm=RIVAL, message_bytes=size, outcome=taking(*FAST))
    cube = unwritten(campaign, tmp_path)
    said = texts(drawn("best", cube, "single"))
    assert "A recursive doubling (ref.)" in said
    assert said.count("A") == len(SIZES)
    assert texts(drawn("best", cube)).count("doubling (ref.)") == len(SIZES)


def test_more_names_than_letters_still_differ() -> None:
    names = names_for([f"algorithm number {n}" for n in range(60)], 0.05, 6)
    assert len({tuple(names.text(name)) for name in names.letters}) == 60


def test_the_colours_are_symmetric_about_1(cubes: dict[str, xr.DataTree]) -> None:
    scale = drawn("best", cubes["every outcome"]).figure.axes[0]
    low, high = scale.get_xlim()
    assert low * high == pytest.approx(1)


@pytest.mark.parametrize(("ratio", "end"), [(1.2, 1.5), (1.6, 2), (2.5, 4), (1 / 5, 8)])
def test_the_colours_end_at_fixed_steps_so_that_maps_can_be_compared(tmp_path: Path, ratio: float, end: float) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*(ratio * t for t in FAST)))
    campaign.add("e", algorithm=RIVAL, outcome=taking(*FAST))
    drawing = drawn("best", unwritten(campaign, tmp_path))
    assert column(drawing, "verdict") in (["rival faster"], ["default faster"])
    assert drawing.figure.axes[0].get_xlim() == pytest.approx((1 / end, end))


def test_a_cell_without_a_time_says_what_is_lost_and_never_only_default(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    for name in ("library:default", RIVAL):
        campaign.add("e", algorithm=name, message_bytes=8, unsupported="not here")
        campaign.add("e", algorithm=name, message_bytes=512, outcome=taking(*SLOW))
    campaign.add("e", message_bytes=64, outcome=failing("crashed", "signal 11"))
    campaign.add("e", algorithm=RIVAL, message_bytes=64)
    said = texts(drawn("best", unwritten(campaign, tmp_path)))
    assert {"unsupported", "no default"} <= set(said)
    assert "default" not in said


def test_cells_that_are_not_drawn_are_not_in_the_csv(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("alone")
    for name in ("library:default", RIVAL):
        campaign.add("compared", algorithm=name)
    drawing = drawn("best", unwritten(campaign, tmp_path))
    assert column(drawing, "experiment") == ["compared"]
    assert "Left out: 1 cells" in drawing.caption


def test_codecs_without_a_time_are_listed_with_the_mark_of_their_status(cubes: dict[str, xr.DataTree]) -> None:
    said = texts(drawn("speed-up", cubes["odd codecs"]))
    assert said.count("⚡ crashed") == 2
    assert "T plain: timed out" in said
    assert "· plain: not planned" in said
    assert "never" in said


def test_a_figure_without_any_comparison_says_so(cubes: dict[str, xr.DataTree]) -> None:
    assert "No experiment plans a codec: there is no speed-up to show." in texts(
        drawn("speed-up", cubes["every outcome"])
    )
    assert any(t.startswith("No codec and its reference") for t in texts(drawn("speed-up", cubes["only a codec"])))
    assert "No experiment plans an algorithm without a codec." in texts(drawn("best", cubes["only a codec"]))


def test_the_speed_up_csv_holds_every_number_of_the_formula(cubes: dict[str, xr.DataTree]) -> None:
    drawing = drawn("speed-up", cubes["quick"])
    names = ("plain_wire_bytes", "wire_bytes", "compress_decompress_s", "break_even_byte_per_s", "over_plain")
    rows = list(zip(*(column(drawing, name) for name in names), strict=True))
    known = [row for row in rows if row[3] is not None]
    assert len(known) > 20
    for plain, sent, seconds, rate, _ in known:
        assert rate == pytest.approx((plain - sent) / seconds)  # type: ignore[operator]
    ratios = zip(column(drawing, "over_plain_median_s"), column(drawing, "median_s"), [r[4] for r in rows], strict=True)
    for reference, own, ratio in ratios:
        assert ratio == (None if reference is None or own is None else pytest.approx(reference / own))  # type: ignore[operator]


def test_the_captions_state_formula_statistic_and_machine(cubes: dict[str, xr.DataTree]) -> None:
    caption = drawn("speed-up", cubes["quick"]).caption
    for words in (
        "B* = (w_plain − w_codec) / (t_compress + t_decompress)",
        "n = 5 launches",
        "95 %",
        "lower estimate",
        "93.75 %",
    ):
        assert words in caption
    assert "Bonferroni" in drawn("best", cubes["quick"]).caption
    assert "campaign synthetic on platform fabricated" in caption
