"""What a codec buys: its two references, and the break-even link rate with its edge cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_campaign import PHASES, Campaign, failing, taking
from unwritten import unwritten

from collpress.analysis.payoff import Payoff, Rate, baseline, break_even_rate, payoffs
from collpress.analysis.points import points
from collpress.errors import CollpressError

SLOW, FAST = (10.0, 10.1, 10.2, 10.3, 10.4), (5.0, 5.1, 5.2, 5.3, 5.4)
RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta"}


def sent(wire: int, compress: float, decompress: float) -> dict[str, Any]:
    """Fields of a record: bytes on the wire and seconds in the codec."""
    phases = dict.fromkeys(PHASES, 0.1) | {"compress": compress, "decompress": decompress}
    codec = {"raw_bytes": 1000, "compressed_bytes": 500, "ratio": 2.0, "wire_bytes": wire}
    return {"phases_s": {"iterations": 5, "total": 1.0, **phases}, "codec": codec}


def paid(root: Path, campaign: Campaign) -> Payoff:
    (found,) = payoffs(unwritten(campaign, root)["e"].to_dataset())
    return found


def with_references() -> Campaign:
    campaign = Campaign(launches=5)
    campaign.add("e", dataset="colpex/theta", outcome=taking(*FAST))
    campaign.add("e", **RING, outcome=taking(*SLOW, **sent(9000, 0.0, 0.0)))
    return campaign


def test_a_codec_is_measured_against_the_same_algorithm_and_against_the_librarys_choice(tmp_path: Path) -> None:
    campaign = with_references()
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST, **sent(4000, 2.0, 0.5)))
    found = paid(tmp_path, campaign)
    assert found.over_plain is not None
    assert (found.over_plain.value, found.over_plain.shown) == (pytest.approx(10.2 / 5.2), "greater")
    assert found.over_default is not None
    assert (found.over_default.value, found.over_default.shown) == (pytest.approx(1.0), "no difference")


def test_the_break_even_rate_is_bytes_saved_over_codec_time(tmp_path: Path) -> None:
    campaign = with_references()
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST, **sent(4000, 2.0, 0.5)))
    assert rate_of(paid(tmp_path, campaign)) == (9000 - 4000) / (2.0 + 0.5)


def rate_of(found: Payoff) -> float | None:
    return found.break_even.value if found.break_even else None


def test_the_rate_is_that_of_the_median_launch_with_the_extremes_of_five_as_limits(tmp_path: Path) -> None:
    campaign = with_references()
    seconds = [1.0, 2.0, 4.0, 5.0, 10.0]
    campaign.add("e", **RING, codec="bf16", outcome=lambda n: taking(*FAST)(n) | sent(4000, seconds[n] - 0.5, 0.5))
    rate = paid(tmp_path, campaign).break_even
    assert rate is not None
    assert (rate.value, rate.low, rate.high, rate.confidence) == (1250.0, 500.0, 5000.0, 0.9375)


def test_one_launch_gives_a_rate_without_limits(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", **RING, outcome=taking(10.0, **sent(9000, 0.0, 0.0)))
    campaign.add("e", **RING, codec="bf16", outcome=taking(5.0, **sent(4000, 2.0, 0.5)))
    assert paid(tmp_path, campaign).break_even == Rate(2000.0)


@pytest.mark.parametrize(
    ("reference", "algorithm", "words"),
    [
        (taking(*FAST), "reference:ring", "the plain ring"),
        (failing("crashed", "signal 11"), "compressed:ring", "the ring with an identity codec, which copies"),
        (None, "compressed:ring", "the ring with an identity codec, which copies"),
    ],
)
def test_the_plain_algorithm_is_the_reference_where_it_is_ok_and_else_the_identity_codec(
    tmp_path: Path, reference: Any, algorithm: str, words: str
) -> None:
    campaign = with_references()
    if reference is not None:
        campaign.add("e", **RING | {"algorithm": "reference:ring"}, outcome=reference)
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST, **sent(4000, 2.0, 0.5)))
    found = paid(tmp_path, campaign)
    assert found.plain is not None
    assert (found.plain.factors["algorithm"], baseline(found.plain)) == (algorithm, words)
    assert rate_of(found) == 2000.0
    assert found.over_plain is not None
    assert found.over_plain.value == pytest.approx(1.0 if algorithm == "reference:ring" else 10.2 / 5.2)


def test_a_reference_alone_tells_no_wire_bytes(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", **RING | {"algorithm": "reference:ring"}, outcome=taking(*FAST))
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST, **sent(4000, 2.0, 0.5)))
    found = paid(tmp_path, campaign)
    assert found.over_plain is not None
    assert found.break_even is None


def test_a_cube_without_the_phases_of_each_launch_is_refused_with_what_to_do(tmp_path: Path) -> None:
    group = unwritten(with_references(), tmp_path)["e"].to_dataset()
    with pytest.raises(CollpressError, match=r"no phases of each launch[\s\S]*collpress cube"):
        payoffs(group.drop_vars("phase_time_launch"))


def test_a_codec_that_saves_no_bytes_pays_at_no_rate(tmp_path: Path) -> None:
    campaign = with_references()
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST, **sent(9500, 2.0, 0.5)))
    assert paid(tmp_path, campaign).break_even == Rate(0.0)


@pytest.mark.parametrize(
    "outcome",
    [
        failing("crashed", "signal 11"),
        taking(*FAST, **sent(4000, 0.0, 0.0)),
        taking(*FAST, **sent(4000, 1.0, 1.0) | {"phases_s": None}),
        taking(*FAST, **sent(4000, 1.0, 1.0) | {"codec": None}),
    ],
)
def test_without_bytes_or_codec_time_there_is_no_rate(tmp_path: Path, outcome: Any) -> None:
    campaign = with_references()
    campaign.add("e", **RING, codec="bf16", outcome=outcome)
    assert paid(tmp_path, campaign).break_even is None


def test_a_launch_that_lacks_one_phase_of_the_codec_gives_no_rate(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e", **RING, outcome=taking(10.0, 10.0, **sent(9000, 0.0, 0.0)))
    campaign.add("e", **RING, codec="bf16", outcome=taking(5.0, 5.0, **sent(4000, 2.0, 0.5)))
    group = unwritten(campaign, tmp_path)["e"].to_dataset()
    lost = (group["launch"] == 0) & (group["phase"] == "decompress")
    (found,) = payoffs(group.assign(phase_time_launch=group["phase_time_launch"].where(~lost)))
    assert found.break_even == Rate(2000.0), "a single launch, and not another whose codec seems to be faster"


def test_without_references_nothing_is_compared(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST))
    found = paid(tmp_path, campaign)
    assert (found.plain, found.default, found.over_plain, found.over_default, found.break_even) == (None,) * 5


def test_a_bound_of_the_result_has_the_references_of_a_bound_of_the_message(tmp_path: Path) -> None:
    campaign = with_references()
    for target in ("message", "result"):
        campaign.add("e", **RING, codec="zfp", error_bound="abs 1", target=target, outcome=taking(*FAST))
    found = payoffs(unwritten(campaign, tmp_path)["e"].to_dataset())
    assert len(found) == 2
    assert found[1].point.factors["target"] == "result"
    assert [one.plain for one in found] == [found[0].plain] * 2
    assert found[0].plain is not None
    assert found[1].default is not None


def test_a_reference_that_failed_is_there_but_not_compared(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", **RING, outcome=failing("timed_out", "no word"))
    campaign.add("e", **RING, codec="bf16", outcome=taking(*FAST))
    found = paid(tmp_path, campaign)
    assert found.plain is not None
    assert (found.plain.status, found.over_plain) == ("timed_out", None)


@given(st.floats(1, 1e12), st.floats(0, 1), st.floats(1e-9, 10))
def test_at_the_break_even_rate_the_codec_takes_as_long_as_it_saves(plain: float, kept: float, seconds: float) -> None:
    rate = break_even_rate(plain, plain * kept, seconds)
    if rate > 0:
        assert plain / rate == pytest.approx(plain * kept / rate + seconds, rel=1e-6)


def test_a_cube_without_point_names_is_refused_with_what_to_do(tmp_path: Path) -> None:
    group = unwritten(with_references(), tmp_path)["e"].to_dataset()
    with pytest.raises(CollpressError, match=r"does not name its points[\s\S]*collpress cube"):
        points(group.drop_vars("point"))


def test_a_point_that_is_not_ok_has_no_time(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e", outcome=failing("crashed", "signal 11", {1}))
    (point,) = points(unwritten(campaign, tmp_path)["e"].to_dataset())
    assert point.times == ()
    with pytest.raises(ValueError, match="crashed"):
        _ = point.time
