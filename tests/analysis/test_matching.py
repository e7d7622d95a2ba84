"""Which point of one campaign is which of another."""

from __future__ import annotations

from collpress.analysis.matching import Match, matches
from collpress.analysis.measured import Entry


def entry(experiment: str = "e", id: str | None = None, **factors: int | str) -> Entry:
    return Entry(experiment, id, None, dict(factors), "ok", "", {"latency_median": (1.0,)})


def alone(match: Match) -> bool:
    return match.a is None or match.b is None


def test_the_same_question_is_the_same_point_whatever_factors_were_invented_since() -> None:
    old, new = entry(id="1f", algorithm="x"), entry(id="1f", algorithm="x", wrap="none")
    (match,) = matches([old], [new])
    assert (match.a, match.b) == (old, new)
    assert match.differs == "only B tells wrap none"


def test_in_an_experiment_equal_factors_are_the_same_point_where_ids_are_not_told() -> None:
    a, b = [entry(size=8), entry(size=64)], [entry(size=64), entry(size=8)]
    found = matches(a, b)
    assert [(m.a, m.b, m.differs) for m in found] == [(a[0], b[1], ""), (a[1], b[0], "")]


def test_another_campaign_calls_its_experiments_otherwise_and_that_is_told() -> None:
    for identity in ("1f", None):
        (match,) = matches([entry("tuning", identity, size=8)], [entry("sizes", identity, size=8)])
        assert match.differs == "experiment tuning in A, sizes in B"


def test_what_only_one_side_tells_does_not_part_points_that_agree_in_all_else() -> None:
    (match,) = matches([entry(size=8)], [entry(size=8, load=30)])
    assert not alone(match)
    assert match.differs == "only B tells load 30"


def test_of_several_points_that_agree_in_all_else_none_is_taken() -> None:
    found = matches([entry(size=8)], [entry(size=8, load=0), entry(size=8, load=30)])
    assert all(alone(match) for match in found)
    assert [match.rivals for match in found] == [2, 1, 1]


def test_where_only_one_side_knows_a_factor_the_id_says_which_point_was_asked_for() -> None:
    new = [entry("e", "1f", size=8, wrap="none"), entry("e", "2e", size=8, wrap="mirror")]
    for experiment in ("e", "renamed"):
        found = matches([entry(experiment, "1f", size=8)], new)
        assert [match.b for match in found if not alone(match)] == new[:1]


def test_an_id_that_two_experiments_have_is_told_apart_by_the_experiment() -> None:
    old = [entry(experiment, "1f", size=8) for experiment in ("one", "two")]
    new = [
        entry(experiment, identity, size=8, wrap=wrap)
        for experiment in ("one", "two")
        for identity, wrap in (("1f", "none"), ("2e", "mirror"))
    ]
    assert [(m.a, m.b) for m in matches(old, new) if not alone(m)] == [(old[0], new[0]), (old[1], new[2])]


def test_a_point_twice_in_a_campaign_stays_within_its_experiment() -> None:
    a = [entry("one", "1f", size=8), entry("two", "1f", size=8)]
    b = [entry("two", "1f", size=8), entry("three", "1f", size=8)]
    found = matches(a, b)
    assert [(m.a, m.b) for m in found if not alone(m)] == [(a[1], b[0])]
    assert sorted(m.entry.experiment for m in found if alone(m)) == ["one", "three"]


def test_points_that_differ_in_a_factor_of_both_are_never_the_same() -> None:
    found = matches([entry(size=8, ranks=2)], [entry(size=8, ranks=4)])
    assert [(m.a is None, m.b is None, m.rivals) for m in found] == [(False, True, 0), (True, False, 0)]


def test_experiments_come_in_the_order_of_a_and_then_those_that_only_b_has() -> None:
    found = matches([entry("b", size=1), entry("a", size=1)], [entry("c", size=9), entry("a", size=2)])
    assert [match.entry.experiment for match in found] == ["b", "a", "a", "c"]
