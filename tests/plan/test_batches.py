"""Shards and batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collpress.plan.batches import Member, Start, assign_shards, gather
from collpress.plan.launch import Launch

_points = st.lists(
    st.tuples(st.sampled_from(["1x2", "1x4"]), st.text("abcdef", min_size=1, max_size=3)), unique=True, max_size=40
)


@given(_points, _points, st.integers(1, 5))
def test_a_point_stays_in_its_shard_and_no_shard_overflows(
    old: list[tuple[str, str]], new: list[tuple[str, str]], capacity: int
) -> None:
    before = assign_shards({}, old, capacity)
    after = assign_shards(before, new, capacity)
    assert all(
        after[shape][identity] == shard for shape, places in before.items() for identity, shard in places.items()
    )
    assert all(identity in after[shape] for shape, identity in new)
    for places in after.values():
        numbers = list(places.values())
        assert all(numbers.count(n) <= capacity for n in numbers)
        assert set(numbers) == set(range(len(set(numbers))))


@given(_points, st.integers(1, 5))
def test_planning_again_changes_nothing(points: list[tuple[str, str]], capacity: int) -> None:
    once = assign_shards({}, points, capacity)
    assert assign_shards(once, reversed(points), capacity) == once


def test_a_full_shard_opens_a_new_one() -> None:
    assert assign_shards({}, [("1x2", name) for name in "abcde"], 2) == {
        "1x2": {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2}
    }


def _member(identity: str) -> Member:
    return Member(f"key-{identity}", identity, "e", {}, 1.0)


def test_batches_differ_by_shape_launch_build_and_shard() -> None:
    two, four, spread, knobs = Start(1, 2), Start(1, 4), Start(2, 4), Start(1, 2, "eager")
    starts = (two, four, spread, knobs)
    launches = {start: Launch({}, "core", False) for start in starts}
    members = [
        (_member("a"), two),
        (_member("b"), four),
        (_member("c"), two),
        (_member("d"), two),
        (_member("e"), spread),
        (_member("f"), knobs),
    ]
    shards = {"1x2": {"a": 0, "c": 0, "d": 1, "f": 0}, "1x4": {"b": 0}, "2x4": {"e": 0}}
    shared = {start: {"build": "one", "knobs": start.knobs} for start in starts}
    batches = gather(members, launches, shared, shards)
    assert [[m.id for m in b.members] for b in batches] == [["a", "c"], ["b"], ["d"], ["e"], ["f"]]
    assert len({b.id for b in batches}) == 5
    assert all(len(b.id) >= 12 and b.seed >= 0 for b in batches)
    rebuilt = gather(members, launches, {start: {"build": "two"} for start in starts}, shards)
    assert not {b.id for b in rebuilt} & {b.id for b in batches}
    assert [b.id for b in gather(members, launches, shared, shards)] == [b.id for b in batches]
