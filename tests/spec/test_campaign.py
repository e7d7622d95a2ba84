"""Campaign files: what they hold, and what a mistake in them is told."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.errors import CollpressError
from collpress.spec import Campaign, campaign_text, load_campaign
from collpress.spec.factors import FACTORS, canonical_bound, canonical_number

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
title: A test
experiments:
  one:
    matrix:
      collective: allreduce
      algorithm: [library:*, compressed:ring]
      codec: zfp
      error_bound: rel 0.0010
      message_bytes: [8 .. 512 x8, 1.5Ki]
      ranks: 2 .. 4 +1
measure: {launches: 3, precision: 2%, at_most: 50 ms}
"""


def _changed(old: str, new: str) -> Campaign:
    assert old in GOOD
    return campaign_text(GOOD.replace(old, new))


def _complaint(old: str, new: str) -> str:
    with pytest.raises(CollpressError) as error:
        _changed(old, new)
    return str(error.value)


def test_values_come_out_canonical() -> None:
    campaign = campaign_text(GOOD, "dir/first.yaml")
    factors = campaign.experiments["one"].matrix.given()
    assert campaign.name == "first"
    assert factors["message_bytes"] == (8, 64, 512, 1536)
    assert factors["ranks"] == (2, 3, 4)
    assert factors["error_bound"] == ("rel 1e-3",)
    assert (campaign.measure.launches, campaign.measure.precision, campaign.measure.at_most) == (3, 0.02, 0.05)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "      ranks:",
            "      ranx:",
            ["campaign.yaml:10: experiments.one.matrix.ranx", 'did you mean "ranks"', "message_bytes"],
        ),
        ("launches: 3", "lanches: 3", ["campaign.yaml:11: measure.lanches", 'did you mean "launches"']),
        (
            "experiments:",
            "experimets:",
            ['unknown key "experimets"', 'did you mean "experiments"', 'the key "experiments" is missing'],
        ),
        ("launches: 3", "launches: 0", ["measure.launches", "greater than or equal to 1"]),
        ("launches: 3", "launches: many", ["measure.launches"]),
        (
            "launches: 3",
            f"launches: {10**18}",
            ["campaign.yaml:11: measure.launches", f'the number "{10**18}" is too large', "at most 18 digits"],
        ),
        ("2 .. 4 +1", f"-{10**18}", [f'the number "-{10**18}" is too large', "at most 18 digits"]),
        ("2 .. 4 +1", "0", ["0 ranks are impossible"]),
        ("2 .. 4 +1", "[2, -1]", ["campaign.yaml:10: experiments.one.matrix.ranks[1]", "-1 ranks are impossible"]),
        ("[8 .. 512 x8, 1.5Ki]", "0", ["0 bytes"]),
        ("[8 .. 512 x8, 1.5Ki]", "-4", ["-4 bytes is impossible"]),
        ("[8 .. 512 x8, 1.5Ki]", "99999999Ti", ["impossible"]),
        ("[8 .. 512 x8, 1.5Ki]", "[8, 8]", ["has the value 8 twice"]),
        ("[8 .. 512 x8, 1.5Ki]", "[]", ["has no values"]),
        ("[8 .. 512 x8, 1.5Ki]", "8 .. 1Mi x8", ["campaign.yaml:9", "256Ki and 2Mi"]),
        ("library:*", "ring", ["experiments.one.matrix.algorithm[0]", "library:ring or reference:ring"]),
        ("library:*", "libary:ring", ['did you mean "library"']),
        ("allreduce", "allredcue", ['unknown collective "allredcue"', 'did you mean "allreduce"']),
        ("rel 0.0010", "1e-3", ["is not an error bound", "rel 0.001"]),
        ("rel 0.0010", "rel 0", ["out of range"]),
        ("rel 0.0010", "rel nan", ["out of range"]),
        ("codec: zfp", "codec:", ["codec is empty", "none"]),
        ("codec: zfp", "codec: Z", ['"Z" cannot name a codec']),
        ("      codec: zfp\n", "", ["a compressed: algorithm needs a codec"]),
        ("      ranks: 2 .. 4 +1\n", "", ['the factor "ranks" is missing', "campaign.yaml:3: experiments.one"]),
        ("precision: 2%", "precision: 200%", ["out of range"]),
        ("at_most: 50 ms", "at_most: 0 s", ["above zero"]),
        ("launches: 3", "min_iterations: 9, max_iterations: 3", ["max_iterations 3 is below min_iterations 9"]),
        ("  one:", "  One:", ["experiments.One"]),
        ("title: A test", "title: A test\nfigures: [latency, latency]", ['figures[1]: "latency" stands twice']),
        ("title: A test", "title: A test\nmetrics: [psnr, psnr]", ['metrics[1]: "psnr" stands twice']),
        ("title: A test", "title: A test\nmetrics: [PSNR]", ["metrics"]),
        ("title: A test", "title: A test\nplugins: [nowhere]", ["the plugin directory nowhere does not exist"]),
        (
            "    matrix:",
            "    when: ranx == 2\n    matrix:",
            ["campaign.yaml:4: experiments.one.when", 'did you mean "ranks"'],
        ),
        (
            "    matrix:",
            "    exclude: [{when: ranks}]\n    matrix:",
            ["experiments.one.exclude[0].when", "neither true nor false"],
        ),
        ("    matrix:", "    zip: {nodes: [1, 2], op: [sum]}\n    matrix:", ["equally long: op has 1, nodes has 2"]),
        ("    matrix:", "    zip: {codec: [none]}\n    matrix:", ['the factor "codec" is set twice']),
        ("ranks:", "root: -1\n      ranks:", ["there is no rank -1"]),
        ("ranks:", "alignment: 96\n      ranks:", ["an alignment of 96 bytes is impossible", "a power of two from 64"]),
        ("ranks:", "alignment: 32\n      ranks:", ["an alignment of 32 bytes is impossible"]),
        ("ranks:", "segment_bytes: 0\n      ranks:", ["segment_bytes 0 is too small", "default, or 1 and more"]),
        ("ranks:", "fanout: [default, 1]\n      ranks:", ["matrix.fanout[1]", "fanout 1 is too small"]),
        ("ranks:", "fanout: default .. 8 x2\n      ranks:", ['"default" is no end of a range']),
        ("ranks:", "buffers: inplace\n      ranks:", ['unknown buffers "inplace"', 'did you mean "in-place"']),
        ("ranks:", "call: async\n      ranks:", ['unknown call "async"', "blocking, nonblocking"]),
        ("ranks:", "sync: windows\n      ranks:", ['did you mean "window"']),
        ("    matrix:", "    zip: [{nodez: 1}]\n    matrix:", ["experiments.one.zip[0].nodez", 'did you mean "nodes"']),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(old: str, new: str, told: list[str]) -> None:
    complaint = _complaint(old, new)
    for part in told:
        assert part in complaint


def test_how_calls_are_made_comes_out_canonical() -> None:
    given = (
        _changed(
            "ranks:",
            "segment_bytes: [default, 1Ki .. 4Ki x2]\n      fanout: ['2', 4]\n      alignment: 4Ki\n"
            "      root: 0 .. 2 +1\n      ranks:",
        )
        .experiments["one"]
        .matrix.given()
    )
    assert given["segment_bytes"] == ("default", 1024, 2048, 4096)
    assert (given["fanout"], given["alignment"], given["root"]) == ((2, 4), (4096,), (0, 1, 2))


def test_metrics_are_all_that_are_offered_unless_told_otherwise() -> None:
    assert campaign_text(GOOD).metrics == ("*",)
    assert _changed("title: A test", "title: A test\nmetrics: []").metrics == ()
    assert _changed("title: A test", "title: A test\nmetrics: [psnr, 'error_*']").metrics == ("psnr", "error_*")


def test_all_mistakes_are_told_at_once() -> None:
    broken = GOOD.replace("ranks:", "ranx:").replace("launches", "lanches").replace("1.5Ki", "1.5")
    with pytest.raises(CollpressError, match="3 mistakes in campaign") as error:
        campaign_text(broken)
    for line in ("campaign.yaml:9:", "campaign.yaml:10:", "campaign.yaml:11:"):
        assert line in str(error.value)


def test_a_mistake_keeps_all_that_it_says_on_its_way_to_another_process() -> None:
    error = CollpressError("wrong", where="a.yaml:1", allowed="right", fix="mend it", at=("ranks", 1))
    sent = pickle.loads(pickle.dumps(error))
    assert vars(sent) == vars(error) == {"what": "wrong", "where": "a.yaml:1", "allowed": "right", "fix": "mend it",
                                         "at": ("ranks", 1)}  # fmt: skip


def test_zip_is_one_group_or_several() -> None:
    body = "title: t\nexperiments:\n  e:\n    matrix: {collective: allreduce, algorithm: library:default}\n    zip: "
    one = campaign_text(body + "{ranks: [1, 2], message_bytes: [8, 16]}\n")
    two = campaign_text(body + "[{ranks: [1, 2], message_bytes: [8, 16]}, {nodes: [1, 2], op: [sum, max]}]\n")
    assert [len(c.experiments["e"].zip) for c in (one, two)] == [1, 2]


def test_a_campaign_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/campaigns").mkdir(parents=True)
    (tmp_path / "config/campaigns/mine.yaml").write_text(GOOD, encoding="utf-8")
    assert load_campaign("mine").name == load_campaign("config/campaigns/mine.yaml").name == "mine"
    with pytest.raises(CollpressError, match='did you mean "mine"'):
        load_campaign("mime")
    with pytest.raises(CollpressError, match='"My Own" cannot name a campaign'):
        load_campaign("My Own.yaml")


@pytest.mark.parametrize("path", sorted((ROOT / "config/campaigns").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_campaigns_of_the_house_are_right(path: Path) -> None:
    assert load_campaign(path).title


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_number_has_one_spelling_that_reads_back(number: float) -> None:
    text = canonical_number(number)
    assert float(text) == number
    assert canonical_number(float(text)) == text
    assert canonical_bound(f"abs {number!r}") == canonical_bound(f"abs {text}") == f"abs {text}"


@given(
    st.sampled_from(sorted(FACTORS)),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.lists(st.text(max_size=5)),
)
def test_any_value_of_a_factor_is_read_or_refused_clearly(name: str, written: object) -> None:
    factor = FACTORS[name]
    with suppress(CollpressError):
        values = factor.axis(written)
        assert values == factor.axis([factor.text(v) for v in values])
