"""Each rule says what the numbers of a fabricated cube say, and something else once the numbers are others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from synthetic_campaign import Campaign, Point, failing, taking
from unwritten import unwritten

from collpress.findings import compression, coverage, default, results
from collpress.findings.finding import Finding
from collpress.findings.rules import RULES, Find

SLOW, FAST, BETWEEN = (10.0, 10.1, 10.2, 10.3, 10.4), (5.0, 5.1, 5.2, 5.3, 5.4), (4.0, 9.0, 10.0, 11.0, 20.0)
RING = {"algorithm": "compressed:ring", "dataset": "colpex/theta"}
COPY = "the ring with an identity codec, which copies"
CODEC = {"raw_bytes": 1000, "compressed_bytes": 500, "ratio": 2.0}


def told(find: Find, campaign: Campaign, root: Path) -> list[Finding]:
    cube = unwritten(campaign, root)
    return find([child.to_dataset() for child in cube.children.values()])


def contest(default_s: Sequence[float], rival_s: Sequence[float]) -> tuple[Campaign, Point, Point]:
    campaign = Campaign(launches=len(default_s))
    plain = campaign.add("e", outcome=taking(*default_s), message_bytes=4096)
    rival = campaign.add("e", algorithm="reference:ring", outcome=taking(*rival_s), message_bytes=4096)
    return campaign, plain, rival


@pytest.mark.parametrize(
    ("default_s", "rival_s", "verdict", "together", "cell"),
    [
        (SLOW, FAST, "rival faster", "is faster than the library's choice in 1 of 1 case;"
         " the largest ratio is 1.96 (1.89",
         "ring (reference), the best of 1 rival, is 1.96 times as fast as the library's choice (1.89 to"),
        (FAST, SLOW, "default faster", "is faster than the best rival in 1 of 1 case; the nearest takes 1.96 times",
         "ring (reference), the best of 1 rival, takes 1.96 times as long as the library's choice (1.89 to 2.04, with"),
        (SLOW, BETWEEN, "no difference", "no algorithm is shown to be faster than the library's choice in 1 case",
         "no difference shown between the library's choice and ring (reference), the best of 1 rival; ratio 1.02 ("),
        ((10.0,), (1.0,), "unknown", "too few launches to show a difference to the library's choice",
         "too few launches to show a difference between the library's choice and ring (reference), the best of 1"),
    ],
)  # fmt: skip
def test_the_librarys_choice_against_the_best_rival(
    tmp_path: Path, default_s: Sequence[float], rival_s: Sequence[float], verdict: str, together: str, cell: str
) -> None:
    campaign, plain, rival = contest(default_s, rival_s)
    first, second = told(default.best_over_default, campaign, tmp_path)
    assert (first.verdict, second.verdict) == (verdict, verdict)
    assert together in first.text
    assert second.text.startswith(f"allreduce, 4 KiB, 4 ranks: {cell}")
    for finding in (first, second):
        assert [p.id for p in finding.points] == [rival["id"], plain["id"]]
        assert (finding.low is None) == (finding.confidence is None) == (len(default_s) == 1)


@pytest.mark.parametrize(
    ("plan", "verdict", "words"),
    [
        ({"outcome": failing("crashed", "signal 11")}, "default failed", "the library's choice is crashed: signal 11"),
        ({"unsupported": "not here"}, "default unsupported", "the library's choice is unsupported: not here"),
    ],
)
def test_a_choice_that_has_no_time_is_told_with_its_reason(
    tmp_path: Path, plan: dict[str, Any], verdict: str, words: str
) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e", **plan)
    campaign.add("e", algorithm="library:ring")
    first, second = told(default.best_over_default, campaign, tmp_path)
    assert (first.verdict, first.value) == ("nothing compared", None)
    assert second.verdict == verdict
    assert words in second.text


def test_cases_that_cannot_be_compared_for_one_reason_are_told_in_one_line(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    for size in (8, 64, 512):
        campaign.add("e", message_bytes=size, unsupported="4 CPUs are needed")
        campaign.add("e", message_bytes=size, algorithm="reference:ring", unsupported="4 CPUs are needed")
    _, line = told(default.best_over_default, campaign, tmp_path)
    assert line.text == (
        "3 cases: the library's choice is unsupported: 4 CPUs are needed (allreduce, 8 B, 4 ranks, ...)"
    )
    assert len(line.points) == 3


def test_an_experiment_without_rivals_has_no_line(tmp_path: Path) -> None:
    campaign = Campaign(launches=5)
    campaign.add("e")
    assert [f.verdict for f in told(default.best_over_default, campaign, tmp_path)] == ["nothing compared"]


def coded(plain_s: Sequence[float], codec_s: Sequence[float], wire: int = 4000) -> tuple[Campaign, Point, Point]:
    """A plain ring and two codecs in it; the second is slower than all."""
    campaign = Campaign(launches=len(plain_s))
    plain = campaign.add("e", **RING, outcome=taking(*plain_s, codec=CODEC | {"wire_bytes": 9000}))
    sent = {"codec": CODEC | {"wire_bytes": wire}}
    best = campaign.add("e", **RING, codec="bf16", outcome=taking(*codec_s, **sent))
    campaign.add("e", **RING, codec="int8", outcome=taking(*(90.0 + s for s in codec_s), **sent))
    return campaign, plain, best


@pytest.mark.parametrize(
    ("plain_s", "codec_s", "verdict", "together", "cell"),
    [
        (SLOW, FAST, "pays", f"a codec is faster than {COPY} in 1 of 1 case; the largest ratio is 1.96 (",
         f"bf16 in the ring, the fastest of 2 codec settings, is 1.96 times as fast as {COPY} ("),
        (FAST, SLOW, "does not pay", "no codec pays in 1 case; the nearest takes 1.96 times as long",
         f"bf16 in the ring, the fastest of 2 codec settings, takes 1.96 times as long as {COPY} ("),
        (SLOW, BETWEEN, "no difference", "no codec is shown to pay in 1 case; the nearest has 1.02 times the speed",
         "no difference shown: bf16 in the ring, the fastest of 2 codec settings, has 1.02 times the speed of the"),
        ((10.0,), (1.0,), "unknown", "too few launches to show whether a codec pays in 1 case",
         "too few launches to show a difference: bf16 in the ring, the fastest of 2 codec settings, has 10.0 times"),
    ],
)  # fmt: skip
def test_where_a_codec_pays(
    tmp_path: Path, plain_s: Sequence[float], codec_s: Sequence[float], verdict: str, together: str, cell: str
) -> None:
    campaign, plain, best = coded(plain_s, codec_s)
    first, second = told(compression.codec_over_none, campaign, tmp_path)
    assert (first.verdict, second.verdict) == (verdict, verdict)
    assert together in first.text
    assert second.text.startswith(f"allreduce, colpex/theta, 1 MiB, 4 ranks: {cell}")
    assert [p.id for p in second.points] == [best["id"], plain["id"]]
    if len(plain_s) > 1:
        assert (second.confidence, second.choices) == (pytest.approx(1 - 0.05 / 2), 2)
        assert "95 % after the choice of the best of 2)" in second.text


def test_over_the_librarys_choice_another_reference_decides(tmp_path: Path) -> None:
    campaign, _, best = coded(SLOW, FAST)
    rule = compression.codec_over_default
    assert [f.verdict for f in told(rule, campaign, tmp_path / "a")] == ["nothing compared", "not compared"]
    reference = campaign.add("e", dataset="colpex/theta", outcome=taking(*(0.1 * s for s in FAST)))
    first, second = told(rule, campaign, tmp_path / "b")
    assert (first.verdict, second.verdict) == ("does not pay", "does not pay")
    assert [p.id for p in second.points] == [best["id"], reference["id"]]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (None, "the library's choice was not planned"),
        ({"outcome": failing("timed_out", "no word for 9 s")}, "the library's choice is timed out: no word for 9 s"),
        ({"unsupported": "not here"}, "the library's choice is unsupported: not here"),
    ],
)
def test_a_codec_whose_reference_has_no_time_is_told_with_the_reason(
    tmp_path: Path, plan: dict[str, Any] | None, words: str
) -> None:
    campaign, _, _ = coded(SLOW, FAST)
    if plan is not None:
        campaign.add("e", dataset="colpex/theta", **plan)
    _, cell = told(compression.codec_over_default, campaign, tmp_path)
    assert cell.text == f"allreduce, colpex/theta, 1 MiB, 4 ranks: {words}"


def test_codecs_that_all_failed_are_told(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e", **RING)
    coded_point = campaign.add("e", **RING, codec="bf16", outcome=failing("crashed", "signal 11"))
    _, cell = told(compression.codec_over_none, campaign, tmp_path)
    assert (cell.verdict, cell.value) == ("not compared", None)
    assert "none of 1 codec setting is ok, crashed: signal 11 (bf16 in the ring)" in cell.text
    assert coded_point["id"] in [p.id for p in cell.points]


def test_of_several_reasons_the_commonest_is_told_with_its_points(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    for codec, why in (("bf16", "no float32"), ("int8", "too slow"), ("zfp", "no float32")):
        campaign.add("e", **RING, codec=codec, unsupported=why)
    first, cell = told(compression.codec_over_none, campaign, tmp_path)
    assert first.text == "nowhere are a codec and the same algorithm without compressing both ok"
    assert cell.text.endswith(
        "none of 3 codec settings is ok, most often, 2 times, unsupported: no float32 "
        "(bf16 in the ring, zfp in the ring)"
    )
    assert len(cell.points) == 3


def test_rivals_that_all_failed_are_named_with_their_reason(tmp_path: Path) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e")
    rival = campaign.add("e", algorithm="reference:ring", outcome=failing("crashed", "signal 11"))
    _, cell = told(default.best_over_default, campaign, tmp_path)
    assert cell.text.endswith("none of 1 rival is ok, crashed: signal 11 (ring (reference))")
    assert [p.id for p in cell.points] == [rival["id"]]


def test_a_campaign_without_codecs_says_nothing_of_them(tmp_path: Path) -> None:
    campaign, _, _ = contest(SLOW, FAST)
    for find in (compression.codec_over_none, compression.codec_over_default, compression.break_even):
        assert told(find, campaign, tmp_path) == []


R40, R64 = (f"{rate} Gbit/s per rank ({rate} to {rate})" for rate in ("4.0e-05", "6.4e-05"))


def priced(*wires: int) -> Campaign:
    """One codec at two sizes, a second in it at each; `wires` are the bytes that it sends, 9000 are sent without it."""
    campaign = Campaign(launches=2)
    for power, wire in enumerate(wires):
        size = 1024 << power
        campaign.add("e", **RING, message_bytes=size, outcome=lambda n: {"codec": CODEC | {"wire_bytes": 9000}})
        phases = {"iterations": 5, "total": 2.0, "compress": 0.75, "decompress": 0.25}
        phases |= dict.fromkeys(("send", "reduce", "wait", "other"), 0.1)
        fields = {"phases_s": phases, "codec": CODEC | {"wire_bytes": wire}}
        campaign.add("e", **RING, codec="bf16", message_bytes=size, outcome=lambda n, f=fields: f)
    return campaign


@pytest.mark.parametrize(
    ("wires", "verdict", "value", "words"),
    [
        ((4000, 1000), "rate", 5000.0,
         f"would pay below {R40} at worst, at 1 KiB, 4 ranks; below {R64} at best, at 2 KiB, 4 ranks"),
        ((4000, 4000), "rate", 5000.0, f"would pay below {R40}, at 1 KiB, 4 ranks"),
        ((9000, 1000), "no bytes saved", 0.0, f"saves no bytes at worst, at 1 KiB, 4 ranks; below {R64} at best"),
        ((9000, 9900), "no bytes saved", 0.0, "saves no bytes, so it would pay at no link rate"),
    ],
)  # fmt: skip
def test_break_even_rates_are_told_by_their_extremes_and_never_averaged(
    tmp_path: Path, wires: tuple[int, ...], verdict: str, value: float, words: str
) -> None:
    (finding,) = told(compression.break_even, priced(*wires), tmp_path)
    assert (finding.verdict, finding.value, finding.unit) == (verdict, value, "byte/s")
    assert f"bf16 in the ring, allreduce, colpex/theta: {words}" in finding.text
    limits = (5000.0, 5000.0, 0.5) if value else (None, None, None)
    assert (finding.low, finding.high, finding.confidence) == limits


def test_a_codec_whose_phases_are_unknown_has_no_rate(tmp_path: Path) -> None:
    campaign = priced(4000)
    for record in campaign.records:
        record["phases_s"] = None
    (finding,) = told(compression.break_even, campaign, tmp_path)
    assert (finding.verdict, finding.value) == ("unknown", None)


def checked(error: float, bound: float, rounding: float) -> dict[str, Any]:
    other = dict.fromkeys(("mean_error", "value_range", "psnr_db", "worst"))
    return {"check": other | {"max_abs_error": error, "bound": bound, "rounding_bound": rounding}}


def test_errors_are_measured_against_codec_and_rounding_bound_together(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", outcome=lambda n: checked(0.25, 0.0, 1.0))
    campaign.add("e", **RING, codec="bf16", outcome=lambda n: checked(0.1, 1.0, 0.0))
    worst = campaign.add("e", **RING, codec="int8", outcome=lambda n: checked(0.5, 0.75, 0.25))
    lossy, plain = told(results.error_over_bound, campaign, tmp_path)
    assert (lossy.verdict, lossy.value, [p.id for p in lossy.points]) == ("within", 0.5, [worst["id"]])
    assert lossy.text.startswith("2 points with a codec's bound checked in every launch, none above the bound;")
    assert (plain.verdict, plain.value) == ("within", 0.25)
    assert plain.text.startswith("1 point without a codec's bound")


def test_a_result_above_its_bound_is_a_finding_of_its_own(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    broken = {"status": "invalid", "reason": "error 3 above the bound 1"} | checked(3.0, 0.75, 0.25)
    point = campaign.add("e", **RING, codec="int8", outcome=lambda n: broken)
    campaign.add("e", **RING, codec="bf16", outcome=lambda n: checked(0.1, 1.0, 0.0))
    summary, violation = told(results.error_over_bound, campaign, tmp_path)
    assert (summary.verdict, summary.value) == ("violated", 3.0)
    assert "1 result above the bound" in summary.text
    assert [p.id for p in violation.points] == [point["id"]]
    assert violation.text.endswith("error 3.00 of what is allowed; status invalid: error 3 above the bound 1")


def test_an_inexact_result_where_nothing_is_allowed_is_a_violation(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", outcome=lambda n: {"status": "invalid", "reason": "wrong"} | checked(1.0, 0.0, 0.0))
    summary, violation = told(results.error_over_bound, campaign, tmp_path)
    assert (summary.verdict, violation.verdict) == ("violated", "violated")
    assert "where none is allowed" in violation.text


def test_nothing_checked_is_told(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", outcome=failing("crashed", "signal 11"))
    assert [f.verdict for f in told(results.error_over_bound, campaign, tmp_path)] == ["nothing checked"]


def test_metrics_without_a_value_are_told_by_their_reason(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    lost = [campaign.add("e", **RING, codec=codec) for codec in ("bf16", "int8")]
    campaign.add("e", **RING, codec="zfp")
    group = unwritten(campaign, tmp_path)["e"].to_dataset().drop_vars(
        ["fidelity_problem", "fidelity_problem_text"], errors="ignore"
    )  # fmt: skip
    assert results.metric_without_value([group]) == []
    codes = xr.zeros_like(group["status"], dtype="int32").drop_attrs()
    codes.loc[{"codec": ["bf16", "int8"]}] = 1
    texts = xr.DataArray(["no problem", "psnr: the reference has no range"], dims=["problem_index"])
    (finding,) = results.metric_without_value([group.assign(fidelity_problem=codes, fidelity_problem_text=texts)])
    assert (finding.verdict, finding.value) == ("missing", 2.0)
    assert finding.text == "e: psnr: the reference has no range (2 points)"
    assert {p.id for p in finding.points} == {p["id"] for p in lost}
    (none,) = results.metric_without_value([group.assign(fidelity_problem=0 * codes, fidelity_problem_text=texts)])
    assert none.verdict == "none"


def test_noisy_points_are_counted_and_the_widest_is_named(tmp_path: Path) -> None:
    campaign = Campaign(launches=3)
    campaign.add("e", outcome=taking(1.0, 1.0, 1.0))
    campaign.add("e", algorithm="library:ring", outcome=taking(1.0, 1.0, 1.1, noisy=True))
    wide = campaign.add("e", algorithm="reference:ring", outcome=taking(0.5, 1.0, 3.0, noisy=True))
    first, finding = told(coverage.noisy, campaign, tmp_path)
    assert (first.verdict, first.value) == ("many noisy", 2.0)
    assert first.text == "2 of 3 ok points (66.7 %) missed the asked precision in some launch"
    assert (finding.verdict, finding.value, finding.points[0].id) == ("noisy", 2.0, wide["id"])
    assert "2 of 3 ok points missed the asked precision" in finding.text
    assert "0.500 to 3.00 of their median, at ring (reference)" in finding.text


@pytest.mark.parametrize(("quiet", "headline"), [(2, True), (3, False)])
def test_noise_is_a_headline_above_a_quarter_of_the_ok_points(tmp_path: Path, quiet: int, headline: bool) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", outcome=taking(1.0, noisy=True))
    for n in range(quiet):
        campaign.add("e", message_bytes=8 << n, outcome=taking(1.0))
    groups = [child.to_dataset() for child in unwritten(campaign, tmp_path).children.values()]
    rule = next(rule for rule in RULES if rule.find is coverage.noisy)
    assert rule.headline(rule.find(groups)[0]) is headline


def test_how_many_cases_chance_would_show_is_told_for_the_judged_ones_only(tmp_path: Path) -> None:
    campaign, _, _ = contest(SLOW, FAST)
    campaign.add("e", message_bytes=8, outcome=failing("crashed", "signal 11"))
    campaign.add("e", message_bytes=8, algorithm="reference:ring")
    rule = RULES[0]
    assert rule.extent(told(rule.find, campaign, tmp_path)).endswith("in about 0.050 of the 1 case.")


def test_quiet_points_are_told_too(tmp_path: Path) -> None:
    campaign = Campaign(launches=3)
    campaign.add("e", outcome=taking(1.0, 1.0, 1.0))
    (finding,) = told(coverage.noisy, campaign, tmp_path)
    assert (finding.verdict, finding.text) == ("none", "e: all 1 point reached the precision")


def test_unsupported_and_failed_points_are_told_by_reason(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    cannot = [campaign.add("e", message_bytes=8 << n, unsupported="4 CPUs are needed") for n in range(3)]
    campaign.add("e", message_bytes=4096, outcome=failing("crashed", "signal 11"))
    campaign.add("e", message_bytes=8192, outcome=failing("timed_out", "no word for 10 s"))
    campaign.add("e", algorithm="library:ring", failed="the dataset could not be had")
    (unsupported,) = told(coverage.unsupported, campaign, tmp_path)
    assert (unsupported.verdict, unsupported.value) == ("unsupported", 3.0)
    assert unsupported.text.startswith(
        "e: 3 points unsupported: 4 CPUs are needed (the library's choice, allreduce, 8 B"
    )
    assert [p.id for p in unsupported.points] == [p["id"] for p in cannot]
    lost = told(coverage.failed, campaign, tmp_path)
    assert [(f.verdict, f.value) for f in lost] == [("crashed", 1.0), ("timed_out", 1.0), ("failed", 1.0)]
    assert lost[2].points[0].key is None


def test_a_campaign_that_is_all_ok_says_so(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e")
    for find in (coverage.unsupported, coverage.failed):
        assert [f.verdict for f in told(find, campaign, tmp_path)] == ["none"]


@pytest.mark.parametrize("plan", [{"unsupported": "not here"}, {"outcome": failing("crashed", "signal 11")}])
def test_without_an_ok_point_no_rule_claims_a_number(tmp_path: Path, plan: dict[str, Any]) -> None:
    campaign = Campaign(launches=2)
    campaign.add("e", **plan)
    campaign.add("e", **RING, codec="bf16", **plan)
    for rule in RULES:
        for finding in told(rule.find, campaign, tmp_path):
            assert finding.verdict not in {"rival faster", "default faster", "pays", "does not pay", "within"}
            assert (finding.low, finding.high, finding.confidence, finding.choices) == (None,) * 4
    (last, *_) = told(coverage.failed, campaign, tmp_path)
    assert last.verdict in {"no point", "crashed"}


def test_one_launch_never_shows_a_difference(tmp_path: Path) -> None:
    campaign, _, _ = contest((10.0,), (1.0,))
    campaign.add("e", **RING, outcome=taking(10.0))
    campaign.add("e", **RING, codec="bf16", outcome=taking(1.0))
    verdicts = {f.verdict for rule in RULES for f in told(rule.find, campaign, tmp_path)}
    assert not verdicts & {"rival faster", "default faster", "pays", "does not pay", "no difference"}
    assert "unknown" in verdicts


def test_an_ok_result_above_its_bound_is_a_violation_all_the_same(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    point = campaign.add("e", **RING, codec="int8", outcome=lambda n: checked(3.0, 0.75, 0.25))
    summary, violation = told(results.error_over_bound, campaign, tmp_path)
    assert (summary.verdict, violation.verdict, violation.value) == ("violated", "violated", 3.0)
    assert [p.id for p in violation.points] == [point["id"]]


def test_control_characters_of_a_reason_do_not_reach_the_cube(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e", outcome=failing("crashed", "\x1b[31mred\nline"))
    texts = unwritten(campaign, tmp_path)["e"]["reason_text"].values.tolist()
    assert any("[31mred line" in text for text in texts)
    assert all(text.isprintable() for text in texts)
