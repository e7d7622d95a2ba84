"""Break-even: measured beside predicted, a row a link; a shared loopback is called one; links never mix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from legible import legible
from matplotlib.text import Text
from synthetic_campaign import Campaign, KiB, MiB, failing, taking
from unwritten import unwritten

from collpress.analysis.break_even import places
from collpress.cli import main
from collpress.cube.build import build_cube
from collpress.errors import CollpressError
from collpress.figures import files, style
from collpress.figures.break_even import draw, draw_several
from collpress.figures.drawing import Drawing
from collpress.figures.files import write_figure_of_several
from collpress.figures.stamped import read_stamp

GBIT = 10**9
BUS = "loopback, shared by both directions"
MEDIA = {"namespaces": "a link, its rate in each direction", "loopback": BUS}
# Of the fixture's records with 4 ranks: 1.5 (1 - 1/ratio) of a size are saved, 2 sizes pass through a codec of a speed.
OURS = 1.5 * (1 - 1 / 4.6) * 3.2e9 / 2
ZFP = 1.5 * (1 - 1 / 5.75) * 0.35e9 / 2
RING = {"algorithm": "compressed:ring", "dataset": "synthetic/power-law", "message_bytes": 4 * MiB}
PLAIN = 0.01


def campaign(platform: str, ours: Sequence[float], zfp: Sequence[float], nodes: int = 2) -> Campaign:
    """Two codecs beside the plain ring, which takes 10 ms; `ours`, `zfp`: seconds of their launches."""
    made = Campaign(name="slow", platform=platform, launches=6)
    for other in (1, 2):
        why = None if other == nodes else f"{other} nodes: not on this platform"
        at = {**RING, "nodes": other, "unsupported": why}
        made.add("squeezed", **{**at, "algorithm": "reference:ring"}, outcome=taking(PLAIN))
        made.add("squeezed", **at, codec="none", outcome=taking(2 * PLAIN))
        made.add("squeezed", **at, codec="ours", error_bound="rel 1e-3", outcome=taking(*ours))
        made.add("squeezed", **at, codec="zfp", error_bound="rel 1e-3", outcome=taking(*zfp))
    return made


def over(cube: xr.DataTree, kind: str, rate: int | None, found: Sequence[float] | None) -> xr.DataTree:
    told = {"kind": kind, "medium": MEDIA[kind], "rate": rate, "found": found, "met": 1, "missed": 0}
    content = json.loads(cube.attrs["provenance"]) | {"links": [told]}
    cube.attrs["provenance"] = json.dumps(content)
    return cube


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    made = campaign("throttled-1g", [0.002], [0.005])
    return over(unwritten(made, tmp_path_factory.mktemp("slow")), "namespaces", GBIT, [0.99 * GBIT, 1.01 * GBIT])


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    """zfp pays here, against what its speed predicts; whether ours does is not shown."""
    made = campaign("throttled-10g", [0.009, 0.011], [0.005])
    return over(unwritten(made, tmp_path_factory.mktemp("fast")), "namespaces", 10 * GBIT, [10 * GBIT] * 2)


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    made = campaign("throttled-loopback-1g", [0.002], [0.02], nodes=1)
    return over(unwritten(made, tmp_path_factory.mktemp("bus")), "loopback", GBIT, [GBIT, GBIT])


def drawing(*cubes: xr.DataTree, width: style.Width = "double") -> Drawing:
    with style.house():
        return draw_several(cubes, width)


def rows(drawn: Drawing) -> list[dict[str, Any]]:
    return [dict(zip(drawn.table.columns, row, strict=True)) for row in drawn.table.rows]


def texts(drawn: Drawing) -> list[str]:
    return [t.get_text() for t in drawn.figure.findobj(Text)]


def test_a_codec_is_predicted_to_pay_below_its_break_even_rate(slow: xr.DataTree, fast: xr.DataTree) -> None:
    told = {
        (p.platform, str(p.payoff.point.factors["codec"])): p
        for cube in (slow, fast)
        for p in places(cube)
        if p.payoff.point.ok
    }
    assert told["throttled-1g", "ours"].margin == pytest.approx(OURS / (GBIT / 8), rel=1e-6)
    assert told["throttled-10g", "zfp"].margin == pytest.approx(ZFP / (10 * GBIT / 8), rel=1e-6)
    verdicts = {key: (p.measured, p.predicted, p.agrees) for key, p in told.items()}
    assert verdicts == {
        ("throttled-1g", "ours"): ("pays", "pays", True),
        ("throttled-1g", "zfp"): ("pays", "pays", True),
        ("throttled-10g", "ours"): ("unknown", "pays", None),
        ("throttled-10g", "zfp"): ("pays", "does not pay", False),
    }


def test_on_a_shared_loopback_a_rank_has_its_part_of_the_rate(bus: xr.DataTree) -> None:
    [ours, zfp] = [p for p in places(bus) if p.payoff.point.ok]
    assert (ours.share, zfp.share) == (GBIT / 8 / 4, GBIT / 8 / 4)
    assert (zfp.measured, zfp.predicted, zfp.agrees) == ("does not pay", "pays", False)


def test_the_links_become_rows_from_slow_to_fast_within_each_codec(
    slow: xr.DataTree, fast: xr.DataTree, bus: xr.DataTree
) -> None:
    drawn = drawing(fast, slow, bus)
    said = dict.fromkeys(texts(drawn))  # a tick has two labels
    named = [text for text in said if text.startswith(("ours", "zfp"))]
    assert named == [
        f"{codec} · rel 1e-3 · {link}"
        for codec in ("ours", "zfp")
        for link in ("1 Gbit/s shared", "1 Gbit/s", "10 Gbit/s")
    ]
    measured = next(axes for axes in drawn.figure.axes if axes.get_yticklabels())
    assert [t.get_text() for t in measured.texts] == ["5", "5", "1", "0.5", "2", "2"]
    assert [t.get_fontweight() for t in measured.texts] == ["bold", "bold", "normal", "bold", "bold", "bold"]
    assert legible(drawn.figure)


@pytest.mark.parametrize("width", ["double", "single"])
def test_three_links_can_be_read_in_either_width(
    slow: xr.DataTree, fast: xr.DataTree, bus: xr.DataTree, width: style.Width
) -> None:
    drawn = drawing(slow, fast, bus, width=width)
    assert {"measured", "predicted B*", "4M"} <= legible(drawn.figure)
    assert drawn.figure.get_size_inches()[0] == style.inches(width)


def test_a_shared_loopback_is_called_that_in_picture_caption_and_csv(slow: xr.DataTree, bus: xr.DataTree) -> None:
    drawn = drawing(slow, bus)
    assert any(f"shared: {BUS}" in text for text in texts(drawn))
    assert f"over {BUS}: 1 Gbit/s asked for, 1 found" in drawn.caption
    assert "over a link, its rate in each direction: 1 Gbit/s asked for, 0.99 to 1.01 found" in drawn.caption
    assert "over the number of ranks where all send at once" in drawn.caption
    assert {(r["platform"], r["link"], r["link_shared"]) for r in rows(drawn)} == {
        ("throttled-1g", MEDIA["namespaces"], 0),
        ("throttled-loopback-1g", BUS, 1),
    }
    assert not any("shared" in text for text in texts(drawing(slow)))


def test_the_csv_has_both_verdicts_and_what_they_rest_on(fast: xr.DataTree) -> None:
    told = {r["codec"]: r for r in rows(drawing(fast)) if r["status"] == "ok"}
    zfp = told["zfp"]
    assert (zfp["measured"], zfp["predicted"], zfp["agrees"]) == ("pays", "does not pay", 0)
    assert zfp["over_plain"] == pytest.approx(2.0)
    assert zfp["break_even_byte_per_s"] == pytest.approx(ZFP, rel=1e-6)
    assert zfp["rank_share_byte_per_s"] == 10 * GBIT / 8
    assert (told["ours"]["measured"], told["ours"]["agrees"]) == ("unknown", None)
    assert "Of 1 cells with both verdicts 0 agree." in drawing(fast).caption


def test_without_a_link_of_known_rate_the_rate_is_told_and_not_judged(tmp_path: Path) -> None:
    with style.house():
        drawn = draw(unwritten(campaign("local", [0.002], [0.005]), tmp_path))
    assert "No link of known rate: B* is told and not judged." in drawn.caption
    assert {r["predicted"] for r in rows(drawn)} == {"unknown"}
    assert any(float(r["break_even_byte_per_s"] or 0) == pytest.approx(OURS, rel=1e-6) for r in rows(drawn))
    assert "15" in texts(drawn), "Gbit/s"


def test_points_that_a_link_made_invalid_have_their_glyph(tmp_path: Path) -> None:
    made = Campaign(name="slow", platform="throttled-1g", launches=6)
    for codec, bound in (("none", "none"), ("ours", "rel 1e-3")):
        outcome = failing("invalid", "the throttled link gives 500 Mbit/s")
        made.add(
            "squeezed", **RING, codec=codec, error_bound=bound, outcome=lambda n, o=outcome: {**o(n), "time_s": None}
        )
        made.add("squeezed", **{**RING, "message_bytes": 64 * KiB}, codec=codec, error_bound=bound)
    drawn = drawing(unwritten(made, tmp_path))
    assert {"≠", "≠ invalid"} <= {word for text in texts(drawn) for word in (text, text[-9:])}


def test_files_over_several_cubes_say_which_and_come_out_alike(tmp_path: Path) -> None:
    paths = []
    for platform in ("throttled-1g", "throttled-10g"):
        folder = campaign(platform, [0.002], [0.005]).write(tmp_path / "results")
        (folder / "batches/b0c0ffee/provenance-1.json").write_text(json.dumps(attempt(platform)), encoding="utf-8")
        build_cube(folder, root=folder)
        paths.append(folder / "cube.nc")
    asked = [f"slow/{path.parent.name}" for path in paths]
    first, second = (
        write_figure_of_several("break-even", paths, asked, tmp_path / n, tmp_path) for n in ("one", "two")
    )
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    stamp = read_stamp(tmp_path / "one/break-even.png")
    assert stamp["command"] == "./run collpress figure break-even slow/throttled-1g slow/throttled-10g"
    assert [(cube["campaign"], cube["platform"]) for cube in stamp["cubes"]] == [
        ("slow", "throttled-1g"),
        ("slow", "throttled-10g"),
    ]
    assert (
        "10 Gbit/s asked for, 9.9 found" in json.loads((tmp_path / "one/break-even.json").read_text("utf-8"))["caption"]
    )


def attempt(platform: str) -> dict[str, Any]:
    rate = GBIT if platform == "throttled-1g" else 10 * GBIT
    link = {"rate": rate, "measured": 0.99 * rate, "message_bytes": 1, "median_s": 1.0, "verdict": "met"}
    hosts = {"kind": "namespaces", "medium": MEDIA["namespaces"], "rate": rate, "link": link}
    return {"host": "a", "machine": {}, "git": None, "launch": {"hosts": hosts}}


def test_the_foot_of_every_figure_over_a_shared_loopback_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(files, "foot", lambda figure, start, end: seen.append(start))
    for kind in MEDIA:
        folder = campaign(kind, [0.002], [0.02]).write(tmp_path)
        provenance = attempt("throttled-1g")
        provenance["launch"]["hosts"] |= {"kind": kind, "medium": MEDIA[kind]}
        (folder / "batches/b0c0ffee/provenance-1.json").write_text(json.dumps(provenance), encoding="utf-8")
        build_cube(folder, root=folder)
        files.write_figure("coverage", folder / "cube.nc", tmp_path, tmp_path)
    assert seen == ["slow on namespaces", f"slow on loopback, {BUS}"]


def test_only_some_figures_are_drawn_over_several_cubes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figure", "latency", "slow/one", "slow/two"]) == 2
    said = capsys.readouterr().err
    assert 'the figure "latency" is drawn from one cube' in said
    assert "allowed: break-even" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["figure", "break-even", "slow"], '"slow" names no cube'),
        (["figure", "break-even", "slow/one", "--campaign", "slow"], "which figure of which campaign?"),
        (["figure", "latency", "--campaign", "slow", "--into", "here"], "only a figure of CUBEs goes elsewhere"),
    ],
)
def test_a_mistake_in_the_command_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_a_cube_without_codecs_says_so(tmp_path: Path) -> None:
    made = Campaign(launches=1)
    made.add("bare")
    assert "No experiment plans a codec: there is nothing to pay off." in " ".join(
        texts(drawing(unwritten(made, tmp_path)))
    )


def test_a_cube_that_tells_no_phases_is_refused(slow: xr.DataTree) -> None:
    bare = slow.copy()
    bare["squeezed"] = bare["squeezed"].to_dataset().drop_vars("phase_time_launch")
    with pytest.raises(CollpressError, match="no phases of each launch"):
        places(bare)
