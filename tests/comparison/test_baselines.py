"""Baselines: what is kept comes back, and a file that is none is a message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_comparison import BASE, FAST, PROVENANCE, SLOW, entry, side

from collpress.analysis.circumstances import differences, provenance
from collpress.analysis.comparison import compare
from collpress.comparison.baseline import load, save
from collpress.errors import CollpressError

SOURCE = side([entry(8), entry(64, FAST), entry(512, "crashed"), entry(8, "unsupported", "other")], "c" * 64)
FILE = Path("results/baselines/main.json")


def test_all_that_a_comparison_needs_comes_back() -> None:
    assert save("main", SOURCE, "quick/one") == FILE
    kept = load(FILE)
    assert kept.entries == SOURCE.entries
    assert kept.sha256 == "c" * 64
    assert provenance(kept) == PROVENANCE
    assert differences(SOURCE, kept) == []
    other = side([entry(8, SLOW), entry(64, SLOW)])
    assert compare(kept, other) == compare(SOURCE, other)


def test_equal_sources_give_equal_bytes() -> None:
    first = save("main", SOURCE, "quick/one").read_bytes()
    assert save("main", SOURCE, "quick/one", force=True).read_bytes() == first


def test_a_baseline_is_never_written_over_unless_that_is_asked_for() -> None:
    save("main", SOURCE, "quick/one")
    other = side([entry(8, SLOW)])
    with pytest.raises(CollpressError, match="there is a baseline of this name already"):
        save("main", other, "quick/two")
    assert load(FILE).entries == SOURCE.entries
    save("main", other, "quick/two", force=True)
    assert load(FILE).entries == other.entries


@pytest.mark.parametrize("name", ["", "Main", "../main", "a b", "main.json"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(CollpressError, match="cannot name a baseline"):
        save(name, SOURCE, "quick/one")
    assert not Path("results").exists()


def test_what_could_be_compared_with_nothing_is_not_kept() -> None:
    with pytest.raises(CollpressError, match="no point is ok"):
        save("main", side([entry(8, "crashed")]), "quick/one")
    assert not FILE.exists()


def test_a_point_that_is_not_ok_has_no_launches_whatever_the_file_says() -> None:
    content = document()
    content["points"][0]["status"] = "crashed"
    assert load(written(content)).entries[0].launches == {"latency_median": (), "latency_p99": ()}


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (["schema"], 2, "main.json: schema: this is no baseline"),
        (
            ["points", 0, "launches", "latency_median", 1],
            -1.0,
            "points.0.launches.latency_median.1: this is no baseline",
        ),
        (["points", 0, "launches", "latency_median", 1], None, "latency_median.1: this is no baseline"),
        (["points", 0, "launches", "latency_median", 1], "1e-6", "latency_median.1: this is no baseline"),
        (["points", 0, "factors", "ranks"], 2.5, "points.0.factors.ranks"),
        (["points", 0, "color"], "red", "points.0.color: this is no baseline"),
        (["provenance"], [], "provenance: this is no baseline"),
        (["provenance", "datasets"], "none", "provenance.datasets: this is no baseline"),
        (["provenance", "measure"], {"warmup": 5}, "provenance.measure.warmup: this is no baseline"),
        (["provenance", "world"], {"hosts": 2}, "provenance.world.hosts: this is no baseline"),
        (["provenance", "load"], {"load_average": [1.0]}, "provenance.load.load_average: this is no baseline"),
    ],
)
def test_a_damaged_file_is_told_with_the_place(place: list[str | int], value: Any, said: str) -> None:
    content = document()
    parent: Any = content
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = value
    with pytest.raises(CollpressError) as caught:
        load(written(content))
    assert said in str(caught.value)
    assert "collpress baseline save" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "there is no baseline"), (b"{", "this is no baseline"), (b"\xff", "not UTF-8"),
     (b"[]", "this is no baseline"), (b'{"schema": NaN}', "this is no baseline")],
)  # fmt: skip
def test_a_file_that_is_none_is_a_message(content: bytes | None, said: str) -> None:
    if content is not None:
        FILE.parent.mkdir(parents=True)
        FILE.write_bytes(content)
    with pytest.raises(CollpressError, match=said):
        load(FILE)


def document() -> dict[str, Any]:
    save("main", side([entry(8, BASE)]), "quick/one", force=True)
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def written(content: dict[str, Any]) -> Path:
    FILE.write_text(json.dumps(content), encoding="utf-8")
    return FILE
