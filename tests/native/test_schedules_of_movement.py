"""Schedules of the algorithms that move data and reduce nothing, against the literature: steps, bytes, partners.

p: ranks; n: bytes of a block, or of a broadcast's vector.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from math import ceil
from typing import Any

import pytest
from native_core import Core

ELEMENT = 4
MOST_RANKS = 33
Call = dict[str, Any]

ALGORITHMS = [
    *(f"allgather/{name}" for name in ("ring", "recursive_doubling", "bruck", "k_bruck")),
    *(f"allgather/{name}" for name in ("neighbor_exchange", "sparbit", "bine")),
    *(f"allgatherv/{name}" for name in ("ring", "linear")),
    *(f"bcast/{name}" for name in ("linear", "chain", "pipeline", "binary", "bine")),
    *(f"bcast/{name}" for name in ("binomial_halving", "binomial_doubling", "scatter_allgather")),
    *(f"alltoall/{name}" for name in ("linear", "pairwise", "bruck", "rotation")),
    *(f"alltoallv/{name}" for name in ("linear", "pairwise")),
    *(f"{collective}/{name}" for collective in ("gather", "scatter") for name in ("linear", "binomial", "bine")),
    "pingpong/plain",
]
IN_PLACE = {"allgather", "allgatherv", "alltoall", "gather"}
ROOTED = {"bcast", "gather", "scatter"}


def floor_log2(number: int) -> int:
    return number.bit_length() - 1


def ceil_log2(number: int) -> int:
    return (number - 1).bit_length()


def ceil_log(radix: int, number: int) -> int:
    steps, reach = 0, 1
    while reach < number:
        steps, reach = steps + 1, reach * radix
    return steps


def surplus(p: int) -> int:
    return p - (1 << floor_log2(p))


def bits_of_all(p: int) -> int:
    """Ones in the binary numbers 0 ... p - 1: edges that the blocks of a binomial tree pass."""
    return sum(rank.bit_count() for rank in range(p))


@pytest.fixture(scope="module")
def calls_of(core: Core) -> Callable[[str], list[Call]]:
    """Every kind of call of an algorithm on 1 ... 33 ranks, judged by the core; each algorithm is run once."""
    known: dict[str, list[Call]] = {}

    def calls(name: str) -> list[Call]:
        if name not in known:
            known[name] = core.checked_calls(core.build / f"plugins/reference/{name}.so", MOST_RANKS)
        return known[name]

    return calls


def schedule(core: Core, name: str, ranks: int, count: int, *options: object) -> list[Call]:
    answer = core.schedule(core.build / f"plugins/reference/{name}.so", ranks, count, *options)
    assert answer["correct"], answer["fault"]
    return list(answer["operations"])


def sends(operations: list[Call]) -> list[Call]:
    return [operation for operation in operations if operation["kind"] == "send"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_rank_gets_its_blocks(calls_of: Callable[[str], list[Call]], name: str) -> None:
    collective = name.split("/")[0]
    calls = calls_of(name)
    assert [call for call in calls if not call["correct"] or not call["steps_agree"]] == []
    assert {call["ranks"] for call in calls} == set(range(1, MOST_RANKS + 1))
    assert {call["in_place"] for call in calls} == ({False, True} if collective in IN_PLACE else {False})
    for ranks in range(1, MOST_RANKS + 1):
        some = [call for call in calls if call["ranks"] == ranks]
        assert {call["count"] for call in some} == {0, 1, ranks - 1, ranks, 2 * ranks + 3}
        assert {call["root"] for call in some} == ({0, ranks // 2, ranks - 1} if collective in ROOTED else {0})


def segments_of(call: Call) -> int:
    return ceil(call["count"] / call["segment"]) if call["segment"] else 1


STEPS: dict[str, Callable[[int, Call], int]] = {
    "allgather/ring": lambda p, _: p - 1,
    "allgather/recursive_doubling": lambda p, _: floor_log2(p) + (2 if surplus(p) else 0),
    "allgather/bruck": lambda p, _: ceil_log2(p),
    "allgather/k_bruck": lambda p, call: ceil_log(call["fanout"] or 4, p),
    "allgather/neighbor_exchange": lambda p, _: p - 1 if p % 2 else p // 2,
    "allgather/sparbit": lambda p, _: ceil_log2(p),
    "allgather/bine": lambda p, _: floor_log2(p) + (2 if surplus(p) else 0),
    "allgatherv/ring": lambda p, _: p - 1,
    "allgatherv/linear": lambda p, _: 1,
    "bcast/linear": lambda p, _: 1,
    "bcast/chain": lambda p, call: segments_of(call) - 1 + ceil((p - 1) / min(call["fanout"] or 4, p - 1)),
    "bcast/pipeline": lambda p, call: segments_of(call) + p - 2,
    "bcast/binary": lambda p, call: segments_of(call) - 1 + floor_log2(p),
    "bcast/binomial_halving": lambda p, _: ceil_log2(p),
    "bcast/binomial_doubling": lambda p, _: ceil_log2(p),
    "bcast/scatter_allgather": lambda p, _: ceil_log2(p) + p - 1,
    "bcast/bine": lambda p, _: ceil_log2(p),
    "alltoall/linear": lambda p, _: 1,
    "alltoall/pairwise": lambda p, _: p - 1,
    "alltoall/bruck": lambda p, _: ceil_log2(p),
    "alltoall/rotation": lambda p, call: ceil((p - 1) / (call["fanout"] or 32)),
    "alltoallv/linear": lambda p, _: 1,
    "alltoallv/pairwise": lambda p, _: p - 1,
    "gather/linear": lambda p, _: 1,
    "gather/binomial": lambda p, _: ceil_log2(p),
    "gather/bine": lambda p, _: ceil_log2(p),
    "scatter/linear": lambda p, _: 1,
    "scatter/binomial": lambda p, _: ceil_log2(p),
    "scatter/bine": lambda p, _: ceil_log2(p),
    "pingpong/plain": lambda p, _: 2,
}


def of_evenly_filled_blocks(calls: list[Call]) -> list[Call]:
    """Calls in which every rank has something to send to others: no message of the literature's is empty."""
    filled = [call for call in calls if call["ranks"] > 1 and call["count"] >= call["ranks"]]
    return [call for call in filled if call["imbalance"] == "none"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_takes_as_many_steps_as_in_the_literature(
    calls_of: Callable[[str], list[Call]], name: str
) -> None:
    calls = of_evenly_filled_blocks(calls_of(name))
    wrong = [call for call in calls if call["steps"] != STEPS[name](call["ranks"], call)]
    assert wrong == []
    assert calls != []


EACH_SENDS_ALL_BUT_ONE_BLOCK = [
    *(f"allgather/{name}" for name in ("ring", "bruck", "k_bruck", "neighbor_exchange", "sparbit")),
    *("allgatherv/ring", "allgatherv/linear", "alltoall/linear", "alltoall/pairwise", "alltoall/rotation"),
    *("alltoallv/linear", "alltoallv/pairwise"),
]


@pytest.mark.parametrize("name", EACH_SENDS_ALL_BUT_ONE_BLOCK)
def test_every_rank_sends_p_minus_1_blocks(calls_of: Callable[[str], list[Call]], name: str) -> None:
    for call in of_evenly_filled_blocks(calls_of(name)):
        p, n = call["ranks"], call["count"] * ELEMENT
        assert call["sent_bytes"] == [(p - 1) * n] * p, call


@pytest.mark.parametrize("name", ["allgather/recursive_doubling", "allgather/bine"])
def test_surplus_ranks_cost_their_block_and_the_whole_result(calls_of: Callable[[str], list[Call]], name: str) -> None:
    for call in of_evenly_filled_blocks(calls_of(name)):
        p, n, r = call["ranks"], call["count"] * ELEMENT, surplus(call["ranks"])
        sent = call["sent_bytes"]
        assert [sent[rank] for rank in range(1, 2 * r, 2)] == [n] * r
        assert sum(sent) == (r + r * p + (p - r - 1) * p) * n
        if r == 0:
            assert sent == [(p - 1) * n] * p


def test_blocks_of_bruck_move_once_for_each_bit_of_their_distance(calls_of: Callable[[str], list[Call]]) -> None:
    for call in of_evenly_filled_blocks(calls_of("alltoall/bruck")):
        p, n = call["ranks"], call["count"] * ELEMENT
        assert call["sent_bytes"] == [bits_of_all(p) * n] * p


WHOLE_VECTORS: dict[str, Callable[[int, Call], int]] = {
    "bcast/linear": lambda p, _: p - 1,
    "bcast/chain": lambda p, call: min(call["fanout"] or 4, p - 1),
    "bcast/pipeline": lambda p, _: 1,
    "bcast/binary": lambda p, _: min(2, p - 1),
    "bcast/binomial_halving": lambda p, _: ceil_log2(p),
    "bcast/binomial_doubling": lambda p, _: ceil_log2(p),
    "bcast/bine": lambda p, _: ceil_log2(p),
}


@pytest.mark.parametrize("name", list(WHOLE_VECTORS))
def test_a_broadcast_sends_the_vector_once_to_each_rank_and_the_root_as_often_as_it_has_children(
    calls_of: Callable[[str], list[Call]], name: str
) -> None:
    for call in of_evenly_filled_blocks(calls_of(name)):
        p, n = call["ranks"], call["count"] * ELEMENT
        assert sum(call["sent_bytes"]) == (p - 1) * n
        assert call["sent_bytes"][call["root"]] == WHOLE_VECTORS[name](p, call) * n
        assert max(call["sent_bytes"]) == call["sent_bytes"][call["root"]]


def test_scatter_and_allgather_send_at_most_twice_the_vector(calls_of: Callable[[str], list[Call]]) -> None:
    for call in of_evenly_filled_blocks(calls_of("bcast/scatter_allgather")):
        p, count = call["ranks"], call["count"]
        sizes = [count // p + (block < count % p) for block in range(p)]
        scattered = sum(block.bit_count() * size for block, size in enumerate(sizes))
        assert sum(call["sent_bytes"]) == (scattered + (p - 1) * count) * ELEMENT
        assert call["sent_bytes"][call["root"]] == (2 * count - sizes[0] - sizes[1]) * ELEMENT
        assert max(call["sent_bytes"]) == call["sent_bytes"][call["root"]]


@pytest.mark.parametrize("name", ["linear", "binomial", "bine"])
def test_p_minus_1_blocks_leave_the_root_of_a_scatter_and_reach_that_of_a_gather(
    calls_of: Callable[[str], list[Call]], name: str
) -> None:
    passed = {"linear": lambda p: p - 1, "binomial": bits_of_all, "bine": bits_of_all}[name]
    for collective in ("scatter", "gather"):
        for call in of_evenly_filled_blocks(calls_of(f"{collective}/{name}")):
            p, n = call["ranks"], call["count"] * ELEMENT
            assert call["sent_bytes"][call["root"]] == ((p - 1) * n if collective == "scatter" else 0)
            if name != "bine" or surplus(p) == 0:
                assert sum(call["sent_bytes"]) == passed(p) * n


@pytest.mark.parametrize("name", ["bcast/chain", "bcast/pipeline", "bcast/binary"])
def test_no_message_is_longer_than_a_segment(core: Core, calls_of: Callable[[str], list[Call]], name: str) -> None:
    for call in calls_of(name):
        if call["segment"] and call["ranks"] > 1 and call["count"]:
            assert call["longest_message_bytes"] == min(call["segment"], call["count"]) * ELEMENT
    own_choice = sends(schedule(core, name, 2, 100_000))
    assert [operation["bytes"] for operation in own_choice] == [131_072, 131_072, 131_072, 6_784]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_receives_are_posted_before_sends(core: Core, name: str) -> None:
    """A message that finds its receive posted goes straight into its buffer."""
    sent = set()
    for operation in schedule(core, name, 7, 14):
        at = (operation["rank"], operation["step"])
        if operation["kind"] == "send":
            sent.add(at)
        assert not (operation["kind"] == "receive" and at in sent), operation
    assert sent


def distances(operations: list[Call], ranks: int) -> dict[int, set[int]]:
    """How far the messages of each step go, the shorter way round."""
    far = defaultdict(set)
    for operation in sends(operations):
        ahead = (operation["peer"] - operation["rank"]) % ranks
        far[operation["step"]].add(min(ahead, ranks - ahead))
    return dict(far)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("allgather/ring", [1] * 31),
        ("allgather/neighbor_exchange", [1] * 16),
        ("allgather/recursive_doubling", [1, 2, 4, 8, 16]),
        ("allgather/bruck", [1, 2, 4, 8, 16]),
        ("allgather/sparbit", [16, 8, 4, 2, 1]),
        ("allgather/bine", [11, 5, 3, 1, 1]),
        ("bcast/pipeline", [1] * 31),
        ("bcast/binomial_halving", [16, 8, 4, 2, 1]),
        ("bcast/binomial_doubling", [1, 2, 4, 8, 16]),
        ("bcast/scatter_allgather", [16, 8, 4, 2, 1] + [1] * 31),
        ("bcast/bine", [11, 5, 3, 1, 1]),
        ("alltoall/pairwise", [*range(1, 17), *range(15, 0, -1)]),
        ("alltoall/bruck", [1, 2, 4, 8, 16]),
        ("alltoallv/pairwise", [*range(1, 17), *range(15, 0, -1)]),
        ("gather/binomial", [1, 2, 4, 8, 16]),
        ("gather/bine", [1, 1, 3, 5, 11]),
        ("scatter/binomial", [16, 8, 4, 2, 1]),
        ("scatter/bine", [11, 5, 3, 1, 1]),
    ],
)
def test_messages_go_as_far_as_in_the_literature(core: Core, name: str, expected: list[int]) -> None:
    root = ("--root", 5) if name.split("/")[0] in ROOTED else ()
    assert distances(schedule(core, name, 32, 32, *root), 32) == {i + 1: {far} for i, far in enumerate(expected)}


def test_k_bruck_has_k_minus_1_messages_under_way_and_a_rotation_its_window(core: Core) -> None:
    bruck = schedule(core, "allgather/k_bruck", 9, 1, "--fanout", 3)
    assert distances(bruck, 9) == {1: {1, 2}, 2: {3}}  # 3 before and, by 6, 3 after
    assert Counter(o["step"] for o in sends(bruck) if o["rank"] == 0) == {1: 2, 2: 2}
    rotation = schedule(core, "alltoall/rotation", 9, 1, "--fanout", 3)
    windows = {step: [] for step in (1, 2, 3)}
    for operation in sends(rotation):
        if operation["rank"] == 8:
            windows[operation["step"]].append(operation["peer"])
    assert windows == {1: [0, 1, 2], 2: [3, 4, 5], 3: [6, 7]}


def test_chains_are_as_long_as_each_other(core: Core) -> None:
    """11 ranks after root 3, in 4 chains of 3, 3, 2 and 2."""
    edges = [(o["rank"], o["peer"]) for o in sends(schedule(core, "bcast/chain", 11, 1, "--root", 3))]
    heads = [(3, 4), (3, 7), (3, 10), (3, 1)]
    assert sorted(edges) == sorted([*heads, (4, 5), (5, 6), (7, 8), (8, 9), (10, 0), (1, 2)])


def test_a_complete_binary_tree(core: Core) -> None:
    edges = [(o["rank"], o["peer"]) for o in sends(schedule(core, "bcast/binary", 6, 1))]
    assert sorted(edges) == [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]


def test_odd_numbers_of_ranks_have_a_ring_in_place_of_a_neighbour_exchange(core: Core) -> None:
    assert schedule(core, "allgather/neighbor_exchange", 7, 2) == schedule(core, "allgather/ring", 7, 2)
    assert schedule(core, "allgather/neighbor_exchange", 8, 2) != schedule(core, "allgather/ring", 8, 2)


def test_only_the_first_and_the_last_rank_play_ping_pong(core: Core) -> None:
    game = [(o["step"], o["rank"], o["peer"], o["bytes"]) for o in sends(schedule(core, "pingpong/plain", 5, 6))]
    assert sorted(game) == [(1, 0, 4, 24), (2, 4, 0, 24)]


# Blocks that rank 0 and the rank that copies most copy on 8 ranks with root 0: own blocks, and what cannot be avoided.
COPIES = {
    "allgather/ring": (1, 1),
    "allgather/recursive_doubling": (1, 1),
    "allgather/bruck": (1, 1 + 8),
    "allgather/k_bruck": (1, 1 + 8),
    "allgather/neighbor_exchange": (1, 1),
    "allgather/sparbit": (1, 1),
    "allgather/bine": (1, 1),
    "allgatherv/ring": (1, 1),
    "allgatherv/linear": (1, 1),
    "alltoall/linear": (1, 1),
    "alltoall/pairwise": (1, 1),
    "alltoall/rotation": (1, 1),
    "alltoall/bruck": (1 + 2 * 3 * 4, 1 + 2 * 3 * 4),
    "alltoallv/linear": (1, 1),
    "alltoallv/pairwise": (1, 1),
    "gather/linear": (1, 1),
    "gather/binomial": (1, 1),
    "gather/bine": (1, 1),
    "scatter/linear": (1, 1),
    "scatter/binomial": (1, 1),
    "scatter/bine": (1, 1),
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_is_copied_without_need(core: Core, name: str) -> None:
    copied = Counter[int]()
    for operation in schedule(core, name, 8, 100):
        if operation["kind"] == "copy":
            copied[operation["rank"]] += operation["bytes"]
    from_0, most = COPIES.get(name, (0, 0))
    assert copied[0] == from_0 * 100 * ELEMENT
    assert max(copied.values(), default=0) == most * 100 * ELEMENT


@pytest.mark.parametrize(
    ("name", "blocks"),
    [("allgather/ring", 0), ("allgather/bine", 0), ("allgatherv/linear", 0), ("gather/binomial", 0)]
    + [(f"alltoall/{name}", 8) for name in ("linear", "pairwise", "rotation")],
)
def test_calls_in_place_copy_no_own_block_and_an_alltoall_what_it_sends(core: Core, name: str, blocks: int) -> None:
    operations = schedule(core, name, 8, 100, "--in-place")
    copied = sum(o["bytes"] for o in operations if o["kind"] == "copy" and o["rank"] == 0)
    assert copied == blocks * 100 * ELEMENT


@pytest.mark.parametrize("name", ["gather/binomial", "gather/bine", "scatter/binomial", "scatter/bine"])
def test_a_root_copies_the_one_run_of_blocks_that_goes_over_the_end_of_its_vector(core: Core, name: str) -> None:
    """Below root 5 of 8, one subtree has both rank 7 and rank 0."""
    operations = schedule(core, name, 8, 100, "--root", 5)
    copied = sum(o["bytes"] for o in operations if o["kind"] == "copy" and o["rank"] == 5)
    assert copied == (1 + {"binomial": 2, "bine": 4}[name.split("/")[1]]) * 100 * ELEMENT
