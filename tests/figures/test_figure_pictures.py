"""What a picture shows: no text over another, statuses told apart without colour, sense from odd cubes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_fidelity import with_fidelity
from legible import legible
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from synthetic_campaign import Campaign, KiB, failing, quick, small
from unwritten import unwritten

from collpress.figures import style
from collpress.figures.drawing import Drawing, Table
from collpress.figures.marks import MARKS
from collpress.figures.registry import ONE_COLUMN, figure_names, load, width_of
from collpress.records import Status


def crowded() -> Campaign:
    """Five algorithms at so many sizes that labels have no room; one line and one size are lost."""
    campaign = Campaign(launches=1)
    names = [
        "library:default",
        "library:basic_linear",
        "library:ring",
        "reference:ring",
        "reference:recursive_doubling",
    ]
    for name in names:
        for power in range(3, 24):
            lost = () if name == "library:ring" or power == 9 else None
            campaign.add("many", algorithm=name, message_bytes=2**power, launches=lost)
    return campaign


def one_size() -> Campaign:
    campaign = Campaign(launches=1)
    for name in ("library:default", "library:ring"):
        campaign.add("single", algorithm=name, message_bytes=4 * KiB)
    return campaign


def one_rank() -> Campaign:
    """Nothing is sent: times without a bus bandwidth."""
    campaign = Campaign(launches=2)
    for name in ("library:default", "library:ring", "reference:ring"):
        for size in (8, 512, 4 * KiB):
            campaign.add("alone", algorithm=name, message_bytes=size, ranks=1)
    return campaign


def nothing_ok() -> Campaign:
    campaign = Campaign(launches=2)
    campaign.add("broken", outcome=failing("crashed", "signal 11"))
    campaign.add("broken", algorithm="library:ring", unsupported="the library does not offer it")
    return campaign


def every_status() -> Campaign:
    campaign = Campaign(launches=1)
    for i, status in enumerate(Status):
        if status not in (Status.OK, Status.UNSUPPORTED, Status.NOT_RUN):
            campaign.add("statuses", message_bytes=8 << i, outcome=failing(status.value, f"because of {status.value}"))
    campaign.add("statuses", message_bytes=8 << 20)
    campaign.add("statuses", message_bytes=8 << 21, launches=())
    campaign.add("statuses", message_bytes=8 << 22, unsupported="not offered")
    return campaign


def no_codec_runs() -> Campaign:
    campaign = Campaign(launches=2)
    campaign.add("squeezed", algorithm="library:default", dataset="colpex/theta")
    for codec in ("ours", "zfp"):
        reason = f"{codec} is not installed here"
        campaign.add("squeezed", **COMPRESSED, codec=codec, error_bound="rel 1e-3", unsupported=reason)
    return campaign


def one_launch() -> Campaign:
    campaign = Campaign(launches=1)
    for codec, bound in (("none", "none"), ("int8", "none"), ("ours", "rel 1e-2"), ("ours", "rel 1e-4")):
        campaign.add("squeezed", **COMPRESSED, codec=codec, error_bound=bound)
    return campaign


def many_bounds() -> Campaign:
    """So many bounds, with such long names, that neither labels nor rows have room."""
    campaign = Campaign(launches=2)
    for codec in ("none", "int8", "bf16", "zfp", "ours"):
        for power in range(1, 12):
            bound = "none" if codec in ("none", "int8", "bf16") else f"rel 1.2345678e-{power}"
            if bound != "none" or power == 1:
                campaign.add("many", **COMPRESSED, codec=codec, error_bound=bound, ranks=1024, nodes=128)
    return campaign


def half_lost() -> Campaign:
    """A facet with times beside one without any, and algorithms with long names."""
    campaign = Campaign(launches=1)
    for name in ("library:default", "reference:recursive_doubling", LONG):
        for ranks in (2, 4):
            reason = "not here" if ranks == 4 or name == LONG else None
            for size in (8, 512):
                campaign.add("long", algorithm=name, ranks=ranks, message_bytes=size, unsupported=reason)
    return campaign


def all_lost() -> Campaign:
    campaign = Campaign(launches=1)
    for name in ("reference:recursive_doubling", LONG):
        campaign.add("long", algorithm=name, unsupported="4 ranks on a node with 2 CPUs")
        campaign.add("long", algorithm=name, message_bytes=8, unsupported="4 ranks on a node with 2 CPUs")
    return campaign


LONG = "reference:a_name_that_is_longer_than_the_margin_has"
COMPRESSED = {"algorithm": "compressed:ring", "dataset": "synthetic/power-law"}
CASES = {
    "small": small,
    "crowded": crowded,
    "one size": one_size,
    "one rank": one_rank,
    "nothing ok": nothing_ok,
    "every status": every_status,
    "no codec runs": no_codec_runs,
    "one launch": one_launch,
    "many bounds": many_bounds,
    "half lost": half_lost,
    "all lost": all_lost,
    "no number": one_launch,
    "no fidelity": one_launch,
}
"""The last two: every metric is NaN; the cube is of a time that had no metrics."""
CROWDED = ("small", "crowded", "one rank", "many bounds", "half lost", "all lost")
"""Where one column may be too narrow."""
OF_METRICS = ("rate-distortion", "error-histogram", "fidelity-table")
PICTURES = [
    (name + width, case)
    for name in figure_names()
    for case in CASES
    for width in ("", ONE_COLUMN)
    if (not width or case in CROWDED) and (name in OF_METRICS or case not in ("no number", "no fidelity"))
    if case != "one rank" or name == "latency"
]


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.DataTree]:
    out = {}
    for name, make in CASES.items():
        root = tmp_path_factory.mktemp("case")
        out[name] = with_fidelity(unwritten(make(), root))
    for node in out["no number"].children.values():
        for variable in fidelity_of(node):
            node[variable] = node[variable] * np.nan
    for path, node in out["no fidelity"].children.items():
        out["no fidelity"][path].dataset = node.to_dataset().drop_vars(fidelity_of(node))
    return out


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    """A campaign of the size of config/campaigns/quick.yaml."""
    return with_fidelity(unwritten(quick(launches=2), tmp_path_factory.mktemp("usual")))


def fidelity_of(node: xr.DataTree) -> list[str]:
    return [str(v) for v in node.data_vars if str(v).startswith(("message_", "result_"))]


def draw(name: str, cube: xr.DataTree) -> Drawing:
    with style.house():
        return load(name)(cube)


Pictures = Callable[[str, str], Drawing]


@pytest.fixture(scope="module")
def drawn(cubes: dict[str, xr.DataTree]) -> Pictures:
    """The drawing of a figure for a case; each is drawn once."""
    return cache(lambda name, case: draw(name, cubes[case]))


def words(figure: Figure) -> set[str]:
    return {t.get_text() for t in figure.findobj(Text)}


@pytest.mark.parametrize(("name", "case"), PICTURES)
def test_no_text_lies_on_another_and_none_leaves_the_page(drawn: Pictures, name: str, case: str) -> None:
    figure = drawn(name, case).figure
    assert figure.get_size_inches()[0] == style.inches(width_of(name))
    assert legible(figure)


@pytest.mark.parametrize("case", CASES)
def test_coverage_counts_are_those_of_the_cube(drawn: Pictures, cubes: dict[str, xr.DataTree], case: str) -> None:
    table = drawn("coverage", case).table
    planned, ok = (sum(row[table.columns.index(n)] for row in table.rows) for n in ("planned", "ok"))
    assert (planned, ok) == (cubes[case].attrs["planned_points"], cubes[case].attrs["ok_points"])


def test_every_status_has_a_mark_and_no_two_look_alike_without_colour() -> None:
    assert set(MARKS) == {s.value for s in Status}
    assert len({(m.glyph, m.hatch) for m in MARKS.values()}) == len(MARKS)
    assert len({m.glyph for m in MARKS.values()}) == len(MARKS)


@pytest.mark.parametrize(
    ("name", "case", "said"),
    [
        ("rate-distortion", "nothing ok", "no point of this campaign compresses"),
        ("rate-distortion", "no codec runs", "– ours rel 1e-3: unsupported; – zfp rel 1e-3: unsupported"),
        ("rate-distortion", "no codec runs", "nothing to draw"),
        ("rate-distortion", "no number", "ours rel 1e-4: PSNR undefined"),
        ("rate-distortion", "no fidelity", "the cube has no PSNR of messages"),
        ("error-histogram", "nothing ok", "no point of this campaign compresses"),
        ("error-histogram", "no codec runs", "– unsupported"),
        ("error-histogram", "no number", "no histogram in the cube"),
        ("error-histogram", "no fidelity", "no histogram in the cube"),
        ("error-histogram", "no fidelity", "add error_histogram to the campaign's metrics: and run it again"),
        ("fidelity-table", "nothing ok", "no point of this campaign compresses"),
        ("fidelity-table", "no codec runs", "– unsupported"),
        ("phases", "nothing ok", "only the library's algorithms are planned"),
        ("phases", "no codec runs", "– unsupported"),
    ],
)
def test_a_figure_that_lacks_its_numbers_says_why(drawn: Pictures, name: str, case: str, said: str) -> None:
    assert said.lower() in " ".join(words(drawn(name, case).figure)).lower()


@pytest.mark.parametrize("width", ["", ONE_COLUMN])
def test_a_facet_without_any_time_is_named_at_the_foot_and_its_points_stay_in_the_csv(
    drawn: Pictures, width: str
) -> None:
    drawing = drawn("latency" + width, "half lost")
    assert len(drawing.figure.axes) - (1 if width else 0) == 2  # the names of one column have axes of their own
    said = " ".join(sorted(words(drawing.figure)))
    assert "no point is ok" not in said
    assert {"(6", "unsupported):"} <= set(said.split())
    assert len(drawing.table.rows) == 12


@pytest.mark.parametrize("width", ["", ONE_COLUMN])
def test_one_rank_has_times_and_no_bandwidth_and_no_line_leads_to_it(drawn: Pictures, width: str) -> None:
    drawing = drawn("latency" + width, "one rank")
    assert "one rank: no bus bandwidth" in words(drawing.figure)
    assert {"ring (lib.)", "ring (ref.)"} <= {text.partition("  ")[0] for text in words(drawing.figure)}
    assert not [a for a in drawing.figure.findobj(Annotation) if isinstance(a, Annotation) and a.arrow_patch]
    columns = drawing.table.columns
    for row in drawing.table.rows:
        assert row[columns.index("latency_median_s")] > 0
        assert row[columns.index("busbw_byte_per_s")] is None


@pytest.mark.parametrize("name", figure_names())
def test_one_column_of_a_campaign_like_quick_fits_a_page(usual: xr.DataTree, name: str) -> None:
    height = draw(name + ONE_COLUMN, usual).figure.get_size_inches()[1]
    assert height <= style.TALLEST + 0.2


def test_what_there_is_many_of_shrinks_as_far_as_the_page_asks_and_not_beyond_what_can_be_read() -> None:
    assert style.fitted(0.2, 0.1, lambda row: 20 * row + 1) == 0.2
    assert style.fitted(0.2, 0.1, lambda row: 50 * row + 1) == pytest.approx((style.TALLEST - 1) / 50)
    assert style.fitted(0.2, 0.1, lambda row: 90 * row + 1) == 0.1
    assert style.fitted(0.2, 0.1, lambda row: 20.0) == 0.2


def test_of_a_lost_line_the_name_is_cut_and_not_the_reason(drawn: Pictures) -> None:
    said = words(drawn("latency", "all lost").figure)
    assert sum(text.endswith("…: unsupported") for text in said) == 2
    assert "no point is ok" in said


def test_panels_stand_side_by_side_where_narrower_cells_allow_it(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for ranks in (2, 4):
        for power in range(7):
            campaign.add("wide", ranks=ranks, message_bytes=8 << power, unsupported="not here")
    panels = draw("coverage", unwritten(campaign, tmp_path)).figure.axes[1:]
    assert len(panels) == 2
    assert len({axes.get_position().y1 for axes in panels}) == 1


@pytest.mark.parametrize("name", figure_names())
def test_one_column_shows_the_same_numbers_as_two(drawn: Pictures, name: str) -> None:
    assert drawn(name + ONE_COLUMN, "small").table == drawn(name, "small").table


def test_reasons_are_listed_in_the_picture(drawn: Pictures) -> None:
    figure = drawn("coverage", "every status").figure
    said = {t.get_text() for t in figure.findobj(Text)}
    assert "1 crashed: because of crashed" in said
    assert "1 unsupported: not offered" in said
    assert "1 not run: never started" in said


def test_a_cube_without_an_ok_point_still_gives_a_latency_figure_that_says_so(drawn: Pictures) -> None:
    drawing = drawn("latency", "nothing ok")
    said = {t.get_text() for t in drawing.figure.findobj(Text)}
    assert "no point is ok" in said
    assert any("ring (lib.): unsupported" in t for t in said)
    assert "No point is ok" in drawing.caption


def test_one_launch_claims_no_confidence(drawn: Pictures) -> None:
    assert "one launch gives no confidence limits" in drawn("latency", "one size").caption


def test_six_launches_claim_their_exact_confidence(tmp_path: Path) -> None:
    campaign = Campaign(launches=6)
    campaign.add("one")
    assert "96.9 %" in draw("latency", unwritten(campaign, tmp_path)).caption


def test_a_dropped_record_shows_in_the_coverage(tmp_path: Path) -> None:
    tables = []
    for drop in (0, 1):
        campaign = small()
        del campaign.records[17 : 17 + drop]
        tables.append(draw("coverage", unwritten(campaign, tmp_path / str(drop))).table)
    changed = [(a, b) for a, b in zip(tables[0].rows, tables[1].rows, strict=True) if a != b]
    assert len(changed) == 1
    assert [row[tables[0].columns.index("shown")] for row in changed[0]] == ["ok", "not_run"]


def test_too_many_rows_are_folded_into_counted_cells(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for bound in range(1, 60):
        campaign.add(
            "wide", algorithm="compressed:ring", codec="zfp", error_bound=f"rel {bound}e-3", outcome=lambda n: {}
        )
    table = draw("coverage", unwritten(campaign, tmp_path)).table
    assert sum(row[table.columns.index("planned")] for row in table.rows) == 59


def test_a_table_writes_missing_numbers_as_nothing_and_floats_exactly() -> None:
    table = Table.of(["a", "b"], [{"a": 0.1, "b": None, "c": 1}, {"a": 3, "b": 'x,"y'}])
    assert table.csv() == 'a,b\n0.1,\n3,"x,""y"\n'
