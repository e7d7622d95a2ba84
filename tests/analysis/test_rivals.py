"""The library's choice against its rivals: who may compete, who wins, and what is said where nothing compares."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_campaign import Campaign, failing, taking
from unwritten import unwritten

from collpress.analysis.rivals import Choice, choices

SLOW, FAST, BETWEEN = (10.0, 10.1, 10.2, 10.3, 10.4), (5.0, 5.1, 5.2, 5.3, 5.4), (4.0, 9.0, 10.0, 11.0, 20.0)


def only(campaign: Campaign, root: Path) -> Choice:
    found = choices(unwritten(campaign, root)["e"].to_dataset())
    assert len(found) == 1
    return found[0]


def contest(root: Path, default: tuple[float, ...], **rivals: tuple[float, ...]) -> Choice:
    campaign = Campaign(launches=len(default))
    campaign.add("e", outcome=taking(*default))
    for name, seconds in rivals.items():
        campaign.add("e", algorithm=name.replace("_", ":", 1), outcome=taking(*seconds))
    return only(campaign, root)


def test_the_fastest_rival_is_compared_and_the_choice_among_many_is_paid_for(tmp_path: Path) -> None:
    found = contest(tmp_path, SLOW, library_ring=BETWEEN, reference_ring=FAST)
    assert found.verdict == "rival faster"
    assert found.best is not None
    assert found.best.factors["algorithm"] == "reference:ring"
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(10.2 / 5.2)
    assert found.ratio.confidence == pytest.approx(1 - 0.05 / 2)


def test_a_default_that_beats_all_is_told_so(tmp_path: Path) -> None:
    found = contest(tmp_path, FAST, library_ring=SLOW)
    assert found.verdict == "default faster"
    assert found.ratio is not None
    assert found.ratio.value < 1


def test_where_launches_overlap_no_difference_is_shown(tmp_path: Path) -> None:
    assert contest(tmp_path, SLOW, library_ring=BETWEEN).verdict == "no difference"


def test_one_launch_shows_nothing(tmp_path: Path) -> None:
    found = contest(tmp_path, (10.0,), library_ring=(1.0,))
    assert found.verdict == "unknown"
    assert found.ratio is not None
    assert found.ratio.low is None


def test_compressing_algorithms_do_not_compete(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*SLOW))
    campaign.add("e", algorithm="compressed:ring", outcome=taking(*FAST))
    campaign.add("e", algorithm="compressed:ring", codec="bf16", outcome=taking(*FAST))
    found = only(campaign, tmp_path)
    assert (found.verdict, found.rivals, found.best) == ("no rival", (), None)


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        (None, "default missing"),
        ({"unsupported": "not here"}, "default unsupported"),
        ({"outcome": failing("crashed", "signal 11")}, "default failed"),
        ({"outcome": failing("timed_out", "no word", {3})}, "default failed"),
    ],
)
def test_a_default_without_a_time_is_told_by_what_became_of_it(
    tmp_path: Path, plan: dict[str, object] | None, verdict: str
) -> None:
    campaign = Campaign(launches=5)
    if plan is not None:
        campaign.add("e", **plan)  # type: ignore[arg-type]
    campaign.add("e", algorithm="library:ring", outcome=taking(*FAST))
    found = only(campaign, tmp_path)
    assert (found.verdict, found.ratio) == (verdict, None)
    assert found.best is not None


def test_rivals_that_all_failed_leave_nothing_to_compare(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*SLOW))
    campaign.add("e", algorithm="library:ring", outcome=failing("crashed", "signal 11"))
    found = only(campaign, tmp_path)
    assert (found.verdict, found.best, len(found.rivals)) == ("no rival ok", None, 1)


def test_a_rival_that_failed_still_counts_as_one_that_could_have_been_picked(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*SLOW))
    campaign.add("e", algorithm="library:ring", outcome=taking(*FAST))
    campaign.add("e", algorithm="library:basic_linear", outcome=failing("crashed", "signal 11"))
    ratio = only(campaign, tmp_path).ratio
    assert ratio is not None
    assert ratio.confidence == pytest.approx(1 - 0.05 / 2)


def test_cells_that_differ_in_any_other_factor_never_meet(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    for factor in ({"ranks": 2}, {"message_bytes": 8}, {"dtype": "float64"}, {"dataset": "colpex/theta"}, {"load": 30}):
        campaign.add("e", **{"load": 0, **factor}, outcome=taking(*SLOW))
        campaign.add("e", algorithm="library:ring", **{"load": 0, **factor}, outcome=taking(*FAST))
    found = choices(unwritten(campaign, tmp_path)["e"].to_dataset())
    assert len(found) == 5
    for choice in found:
        assert choice.default is not None
        assert choice.best is not None
        assert choice.default.without("algorithm") == choice.best.without("algorithm")


def test_a_library_algorithm_with_a_codec_does_not_compete(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*SLOW))
    campaign.add("e", algorithm="library:ring", outcome=taking(*BETWEEN))
    campaign.add("e", algorithm="library:ring", codec="zfp", error_bound="rel 1e-3", outcome=taking(*FAST))
    assert len(only(campaign, tmp_path).rivals) == 1


@pytest.mark.parametrize("useless", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rival_without_a_positive_finite_time_leaves_the_verdict_unknown(useless: float, tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", outcome=taking(*SLOW))
    campaign.add("e", algorithm="library:ring", outcome=taking(*FAST))
    group = unwritten(campaign, tmp_path)["e"].to_dataset()
    times, ring = group["latency_launch_median"], group["algorithm"] == "library:ring"
    (found,) = choices(group.assign(latency_launch_median=times.where(~ring, useless)))
    assert (found.verdict, found.best, found.ratio) == ("unknown", None, None)
    found, *_ = choices(group.assign(latency_launch_median=times.where(~ring | (group["launch"] > 0), useless)))
    assert found.best is not None
    assert len(found.best.times) == 4
