"""What runs again after which edit: on the real workflow, with the real core."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray
from checkout import CAMPAIGN, Checkout

SUFFIXES = ("pdf", "svg", "png", "csv", "json")


@pytest.fixture
def checkout(copy_checkout: Checkout) -> Checkout:
    """The copied checkout, brought up to date by one run before the test edits it."""
    copy_checkout.campaign(CAMPAIGN)
    done = copy_checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return copy_checkout


def test_the_campaign_ends_with_a_cube_and_figures_and_every_point_ok(checkout: Checkout) -> None:
    results = checkout.results()
    with xarray.open_datatree(results / "cube.nc") as cube:
        assert {"plain", "squeezed"} <= set(cube.children)
    for suffix in SUFFIXES:
        assert (results / "figures" / f"coverage.{suffix}").stat().st_size > 0
    for suffix in ("json", "pdf", "svg", "png"):
        assert (checkout.root / "results/cards/synthetic" / f"normal.{suffix}").stat().st_size > 0
    assert json.loads((results / "summary.json").read_text(encoding="utf-8"))["counts"]["planned"] == 6
    assert {row["status"] for row in checkout.records()} == {"ok"}


def test_a_second_run_changes_nothing(checkout: Checkout) -> None:
    before = checkout.times()
    assert checkout.run().returncode == 0
    assert checkout.times() == before


def test_touching_sources_files_and_the_frozen_plan_reruns_nothing(checkout: Checkout) -> None:
    touched = [*(checkout.root / "native/src/codecs").glob("*.cpp"), *(checkout.root / "config").rglob("*.yaml")]
    touched += [*(checkout.root / "workflow" / "collpress").rglob("*.py"), *checkout.results().glob("plan/*.json")]
    touched += [checkout.root / "results/native/local/build.json", *(checkout.root / "results/data").rglob("*.*")]
    for path in touched:
        path.touch()
    before = checkout.times()
    assert checkout.run().returncode == 0
    assert checkout.times() == before


def test_editing_a_figure_module_redraws_that_figure_in_both_widths_only(checkout: Checkout) -> None:
    checkout.campaign(CAMPAIGN.replace("[coverage]", "[coverage, latency, latency-single]"))
    assert checkout.run().returncode == 0
    before = checkout.times()
    module = checkout.root / "workflow/collpress/figures/latency.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n# an edit\n", encoding="utf-8")
    assert checkout.run().returncode == 0
    changed = {name for name, time in checkout.times().items() if before.get(name) != time}
    figures = {Path(name).name for name in changed if "/figures/" in name}
    assert figures == {f"{name}.{suffix}" for name in ("latency", "latency-single") for suffix in SUFFIXES}
    assert not any(name.endswith(("cube.nc", "receipt.json", "build.json", ".jsonl")) for name in changed)


def test_editing_a_module_of_the_cards_makes_the_cards_anew_and_nothing_else(checkout: Checkout) -> None:
    before = checkout.times()
    checkout.edit("workflow/collpress/cards/channels.py", "OUTLIER = 4.0", "OUTLIER = 5.0")
    assert checkout.run().returncode == 0
    changed = {name for name, time in checkout.times().items() if before.get(name) != time}
    assert changed == {f"results/cards/synthetic/normal.{suffix}" for suffix in ("json", "pdf", "svg", "png")}
    checkout.edit("workflow/collpress/cards/channels.py", "OUTLIER = 5.0", "OUTLIER = 4.0")


def test_a_new_message_size_runs_only_the_new_points(checkout: Checkout) -> None:
    before = checkout.measured()
    checkout.campaign(CAMPAIGN.replace("[64, 4096]", "[64, 512, 4096]"))
    assert checkout.run().returncode == 0
    new = checkout.measured() - before
    sizes = {point["key"]: point["factors"]["message_bytes"] for point in checkout.points()}
    assert {sizes[key] for key, _ in new} == {512}
    assert len(new) == 2 * 2
    assert set(checkout.measured().values()) == {1}


def test_more_launches_run_only_the_missing_launches(checkout: Checkout) -> None:
    before = checkout.measured()
    checkout.campaign(CAMPAIGN.replace("launches: 2", "launches: 3"))
    assert checkout.run().returncode == 0
    new = checkout.measured() - before
    assert {launch for _, launch in new} == {2}
    assert len(new) == len(checkout.points())


def test_editing_one_codec_rebuilds_that_plugin_and_reruns_only_its_points(checkout: Checkout) -> None:
    before, built = checkout.measured(), checkout.build_hashes()
    source = checkout.root / "native/src/codecs/int8.cpp"
    text = source.read_text(encoding="utf-8")
    assert '"' in text
    # Another summary is another plugin: its bytes change, nothing else does.
    source.write_text(
        text + '\nextern "C" __attribute__((visibility("default"))) const int edited = 1;\n', encoding="utf-8"
    )
    done = checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    changed = {name for name, sha256 in checkout.build_hashes().items() if built[name] != sha256}
    assert changed == {"codec int8"}
    new = checkout.measured() - before
    codecs = {point["key"]: point["factors"]["codec"] for point in checkout.points()}
    assert {codecs[key] for key, _ in new} == {"int8"}
    source.write_text(text, encoding="utf-8")
