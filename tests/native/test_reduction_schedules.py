"""Schedules of reductions and barriers on 1 to 33 ranks, against the literature's steps and volumes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from math import ceil, log2
from typing import Any

import pytest
from native_core import Core

ELEMENT = 4
MOST_RANKS = 33
Call = dict[str, Any]

ALGORITHMS = {
    "allreduce": [
        "linear",
        "recursive_doubling",
        "ring",
        "segmented_ring",
        "rabenseifner",
        "swing",
        "bine",
        "tree",
        "hierarchical",
    ],
    "reduce": ["linear", "binomial", "bine_tree", "rabenseifner", "bine", "pipeline"],
    "reduce_scatter": ["ring", "recursive_halving", "pairwise", "butterfly", "bine"],
    "barrier": ["dissemination", "recursive_doubling", "tree"],
}
ALL = [f"{collective}/{name}" for collective, names in ALGORITHMS.items() for name in names]


@cache
def calls_of(core: Core, name: str) -> list[Call]:
    return core.checked_calls(core.build / f"plugins/reference/{name}.so", MOST_RANKS)


def calls_with_data(core: Core, name: str) -> list[Call]:
    """Those in which every rank has an element at least: an empty message is not sent, and takes no step."""
    found = [call for call in calls_of(core, name) if call["ranks"] > 1 and call["count"] >= call["ranks"]]
    assert {call["ranks"] for call in found} == set(range(2, MOST_RANKS + 1))
    return found


def schedule(core: Core, name: str, ranks: int, count: int, *options: object) -> Call:
    answer = core.schedule(core.build / f"plugins/reference/{name}.so", ranks, count, *options)
    assert answer["correct"], answer["fault"]
    return answer


def sent(call: Call) -> list[int]:
    """Elements that each rank sends."""
    return [bytes_sent // ELEMENT for bytes_sent in call["sent_bytes"]]


def doublings(ranks: int) -> int:
    return ceil(log2(ranks))


def power(ranks: int) -> int:
    """Largest power of two."""
    return int(2 ** int(log2(ranks)))


def surplus(ranks: int) -> int:
    return ranks - power(ranks)


def block(count: int, ranks: int, rank: int) -> int:
    return count // ranks + (rank < count % ranks)


def test_the_algorithms_are_these(core: Core) -> None:
    for collective, names in ALGORITHMS.items():
        found = (core.build / "plugins/reference" / collective).glob("*.so")
        assert sorted(plugin.stem for plugin in found) == sorted(names)


@pytest.mark.parametrize("name", ALL)
def test_every_call_is_right_on_any_number_of_ranks(core: Core, name: str) -> None:
    calls = calls_of(core, name)
    assert {call["ranks"] for call in calls} == set(range(1, MOST_RANKS + 1))
    assert [call for call in calls if not call["correct"]] == []


@pytest.mark.parametrize("name", ALL)
def test_each_message_is_received_in_the_step_in_which_it_is_sent(core: Core, name: str) -> None:
    assert [call for call in calls_of(core, name) if not call["steps_agree"]] == []


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("barrier")])
def test_reductions_take_few_and_many_elements_any_root_and_calls_in_place(core: Core, name: str) -> None:
    for ranks in range(1, MOST_RANKS + 1):
        calls = [call for call in calls_of(core, name) if call["ranks"] == ranks]
        assert {call["count"] for call in calls} == {0, 1, ranks - 1, ranks, 2 * ranks + 3}
        assert {call["in_place"] for call in calls} == {False, True}
        roots = {0, ranks // 2, ranks - 1} if name.startswith("reduce/") else {0}
        assert {call["root"] for call in calls} == roots


@pytest.mark.parametrize("name", ["allreduce/segmented_ring", "reduce/pipeline"])
def test_no_message_is_longer_than_a_segment(core: Core, name: str) -> None:
    segmented = [call for call in calls_of(core, name) if call["segment"] != 0]
    assert {call["segment"] for call in segmented} == {1, 4, 1000}
    for call in segmented:
        assert call["longest_message_bytes"] <= call["segment"] * ELEMENT, call


def steps_of_halving_allreduce(ranks: int) -> int:
    return 2 * int(log2(power(ranks))) + 2 * (surplus(ranks) > 0)


def steps_of_hierarchy(call: Call) -> int:
    machine = min(call["ranks_per_node"], call["ranks"])
    machines = ceil(call["ranks"] / machine)
    return 2 * doublings(machine) + (steps_of_halving_allreduce(machines) if machines > 1 else 0)


STEPS: dict[str, Callable[[int, Call], int]] = {
    "allreduce/linear": lambda p, _: 2,
    "allreduce/recursive_doubling": lambda p, _: int(log2(power(p))) + 2 * (surplus(p) > 0),
    "allreduce/ring": lambda p, _: 2 * (p - 1),
    "allreduce/segmented_ring": lambda p, _: 2 * (p - 1),
    "allreduce/rabenseifner": lambda p, _: steps_of_halving_allreduce(p),
    "allreduce/bine": lambda p, _: steps_of_halving_allreduce(p),
    "allreduce/swing": lambda p, _: 2 * doublings(p - p % 2),
    "allreduce/tree": lambda p, _: 2 * doublings(p),
    "allreduce/hierarchical": lambda _, call: steps_of_hierarchy(call),
    "reduce/linear": lambda p, _: 1,
    "reduce/binomial": lambda p, _: doublings(p),
    "reduce/bine_tree": lambda p, _: int(log2(power(p))) + (surplus(p) > 0),
    "reduce/rabenseifner": lambda p, _: 2 * int(log2(power(p))) + (surplus(p) > 0),
    "reduce/bine": lambda p, _: 2 * int(log2(power(p))) + (surplus(p) > 0),
    "reduce/pipeline": lambda p, call: ceil(call["count"] / (call["segment"] or call["count"])) + p - 2,
    "reduce_scatter/ring": lambda p, _: p - 1,
    "reduce_scatter/pairwise": lambda p, _: p - 1,
    "reduce_scatter/recursive_halving": lambda p, _: int(log2(power(p))) + 2 * (surplus(p) > 0),
    # Two ranks end with their own blocks: there is nothing left to send in the last step.
    "reduce_scatter/butterfly": lambda p, _: int(log2(power(p))) + (p > 2) + (surplus(p) > 0),
    "reduce_scatter/bine": lambda p, _: int(log2(power(p))) + (p > 2) + (surplus(p) > 0),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps(core: Core, name: str) -> None:
    for call in calls_with_data(core, name):
        assert call["steps"] == STEPS[name](call["ranks"], call), call


def all_but_root(call: Call) -> list[int]:
    return [0 if rank == call["root"] else call["count"] for rank in range(call["ranks"])]


def all_but_own_block(call: Call) -> list[int]:
    return [call["count"] - block(call["count"], call["ranks"], rank) for rank in range(call["ranks"])]


def whole_vectors(call: Call) -> list[int]:
    """Recursive doubling: log2 p, one more for the neighbours of surplus ranks, one for these."""
    paired, exchanges = 2 * surplus(call["ranks"]), int(log2(power(call["ranks"])))
    vectors = [exchanges if rank >= paired else exchanges + 1 if rank % 2 == 0 else 1 for rank in range(call["ranks"])]
    return [count * call["count"] for count in vectors]


SENT_BY_EACH: dict[str, Callable[[Call], list[int]]] = {
    "allreduce/linear": lambda call: [(call["ranks"] - 1) * call["count"]] + [call["count"]] * (call["ranks"] - 1),
    "allreduce/recursive_doubling": whole_vectors,
    "reduce/linear": all_but_root,
    "reduce/binomial": all_but_root,
    "reduce/bine_tree": all_but_root,
    "reduce/pipeline": all_but_root,
    "reduce_scatter/ring": all_but_own_block,
    "reduce_scatter/pairwise": all_but_own_block,
}


@pytest.mark.parametrize("name", SENT_BY_EACH)
def test_each_rank_sends_what_the_literature_says(core: Core, name: str) -> None:
    for call in calls_of(core, name):
        if call["ranks"] > 1:
            assert sent(call) == SENT_BY_EACH[name](call), call


def sent_in_hierarchy(call: Call) -> int:
    machines = ceil(call["ranks"] / call["ranks_per_node"])
    between = 2 * (power(machines) - 1) + 2 * surplus(machines)
    return int(2 * (call["ranks"] - machines) + between) * int(call["count"])


SENT_BY_ALL: dict[str, Callable[[int, int, Call], int]] = {
    "allreduce/ring": lambda p, n, _: 2 * (p - 1) * n,
    "allreduce/segmented_ring": lambda p, n, _: 2 * (p - 1) * n,
    "allreduce/rabenseifner": lambda p, n, _: 2 * (power(p) - 1) * n + 2 * surplus(p) * n,
    "allreduce/bine": lambda p, n, _: 2 * (power(p) - 1) * n + 2 * surplus(p) * n,
    "allreduce/swing": lambda p, n, _: 2 * (p - p % 2 - 1) * n + 2 * (p % 2) * n,
    "allreduce/tree": lambda p, n, _: 2 * (p - 1) * n,
    "allreduce/hierarchical": lambda p, n, call: sent_in_hierarchy(call),
    # Halving, and the blocks of the surplus ranks, each the second one of its pair.
    "reduce_scatter/recursive_halving": lambda p, n, _: (
        (power(p) - 1) * n + surplus(p) * n + sum(block(n, p, 2 * pair + 1) for pair in range(surplus(p)))
    ),
}


@pytest.mark.parametrize("name", SENT_BY_ALL)
def test_all_ranks_together_send_what_the_literature_says(core: Core, name: str) -> None:
    for call in calls_of(core, name):
        if call["ranks"] > 1:
            assert sum(sent(call)) == SENT_BY_ALL[name](call["ranks"], call["count"], call), call


@pytest.mark.parametrize("name", ["ring", "segmented_ring", "rabenseifner", "bine", "swing"])
def test_an_allreduce_of_large_vectors_sends_as_little_as_possible_and_each_rank_the_same(
    core: Core, name: str
) -> None:
    """2 (p - 1) / p n elements: the ring and swing for any even p, the halving ones for powers of two."""
    any_even = name not in ("rabenseifner", "bine")
    calls = [
        call for call in calls_of(core, f"allreduce/{name}") if call["ranks"] > 1 and call["count"] == call["ranks"]
    ]
    checked = set()
    for call in calls:
        ranks = call["ranks"]
        if ranks % 2 == 0 if any_even else surplus(ranks) == 0:
            checked.add(ranks)
            assert sent(call) == [2 * (ranks - 1)] * ranks, call
    assert checked == ({*range(2, 33, 2)} if any_even else {2, 4, 8, 16, 32})


@pytest.mark.parametrize("name", ["rabenseifner", "bine"])
def test_a_reduce_of_large_vectors_halves_them_and_gathers_the_parts(core: Core, name: str) -> None:
    """For powers of two: (p - 1) / p n by each rank; then half a vector in each of log2 p steps, by all together."""
    checked = set()
    for call in calls_of(core, f"reduce/{name}"):
        ranks, count = call["ranks"], call["count"]
        if ranks > 1 and surplus(ranks) == 0 and count == ranks:
            checked.add(ranks)
            assert sent(call)[call["root"]] == ranks - 1
            assert max(sent(call)) == ranks - 1 + ranks // 2
            assert sum(sent(call)) == ranks * (ranks - 1) + log2(ranks) * count / 2
    assert checked == {2, 4, 8, 16, 32}


@pytest.mark.parametrize("name", ["butterfly", "bine"])
def test_a_butterfly_sends_no_more_than_the_vector_on_powers_of_two(core: Core, name: str) -> None:
    for call in calls_of(core, f"reduce_scatter/{name}"):
        ranks, count = call["ranks"], call["count"]
        halving = (power(ranks) - 1) * count + surplus(ranks) * count
        if ranks > 1:
            assert halving <= sum(sent(call)) <= halving + count, call
        if surplus(ranks) == 0:
            assert max(sent(call)) <= count, call


def distances(call: Call) -> dict[int, set[int]]:
    """How far messages go around the ring of ranks, in each step."""
    found = defaultdict(set)
    for operation in call["operations"]:
        if operation["kind"] == "send":
            apart = abs(operation["rank"] - operation["peer"])
            found[operation["step"]].add(min(apart, call["ranks"] - apart))
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("allreduce/recursive_doubling", [1, 2, 4, 8]),
        ("allreduce/rabenseifner", [1, 2, 4, 8, 8, 4, 2, 1]),
        ("allreduce/bine", [1, 1, 3, 5, 5, 3, 1, 1]),
        ("allreduce/swing", [1, 1, 3, 5, 5, 3, 1, 1]),
        ("allreduce/tree", [1, 2, 4, 8, 8, 4, 2, 1]),
        ("reduce/binomial", [1, 2, 4, 8]),
        ("reduce/bine_tree", [1, 1, 3, 5]),
        ("reduce/rabenseifner", [1, 2, 4, 8, 8, 4, 2, 1]),
        ("reduce/bine", [1, 1, 3, 5, 5, 3, 1, 1]),
        ("reduce_scatter/recursive_halving", [8, 4, 2, 1]),
        ("reduce_scatter/pairwise", [1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("reduce_scatter/ring", [1] * 15),
        ("allreduce/ring", [1] * 30),
        ("allreduce/segmented_ring", [1] * 30),
        ("reduce/pipeline", [1] * 15),
        ("barrier/recursive_doubling", [1, 2, 4, 8]),
        ("barrier/dissemination", [1, 2, 4, 8]),
        ("barrier/tree", [1, 2, 4, 8, 8, 4, 2, 1]),
    ],
)
def test_on_sixteen_ranks_messages_go_so_far(core: Core, name: str, expected: list[int]) -> None:
    count = 0 if name.startswith("barrier") else 64
    assert distances(schedule(core, name, 16, count)) == {step: {far} for step, far in enumerate(expected, start=1)}


@pytest.mark.parametrize("name", ["butterfly", "bine"])
def test_a_butterfly_gives_most_of_the_data_to_the_nearest_rank(core: Core, name: str) -> None:
    far = [1, 2, 4, 8] if name == "butterfly" else [1, 1, 3, 5]
    answer = schedule(core, f"reduce_scatter/{name}", 16, 64)
    found = distances(answer)
    assert [found[step] for step in range(1, 5)] == [{distance} for distance in far]
    sizes = {(o["step"], o["bytes"] // ELEMENT) for o in answer["operations"] if o["kind"] == "send"}
    assert sizes == {(1, 32), (2, 16), (3, 8), (4, 4), (5, 4)}


def test_only_leaders_send_between_machines(core: Core) -> None:
    """Of 10 ranks, 4 to a machine: ranks 0, 4 and 8; as much as three ranks alone would send."""
    answer = schedule(core, "allreduce/hierarchical", 10, 12, "--ranks-per-node", 4)
    between: Counter[tuple[int, int]] = Counter()
    for operation in answer["operations"]:
        if operation["kind"] == "send" and operation["rank"] // 4 != operation["peer"] // 4:
            between[operation["rank"], operation["peer"]] += operation["bytes"] // ELEMENT
    assert between == {(0, 4): 12, (4, 0): 12, (0, 8): 12, (8, 0): 12}


@pytest.mark.parametrize("radix", [2, 3, 4, 8])
def test_a_dissemination_of_radix_k_takes_log_k_p_rounds(core: Core, radix: int) -> None:
    for ranks in (1, 2, 3, 8, 9, 10, 27, 33):
        answer = schedule(core, "barrier/dissemination", ranks, 0, "--fanout", radix)
        rounds, reach = 0, 1
        while reach < ranks:
            rounds, reach = rounds + 1, reach * radix
        sends = Counter(o["step"] for o in answer["operations"] if o["kind"] == "send")
        assert len(sends) == rounds
        assert all(messages <= (radix - 1) * ranks for messages in sends.values())


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("dissemination", lambda p: p * doublings(p)),
        ("recursive_doubling", lambda p: power(p) * int(log2(power(p))) + 2 * surplus(p)),
        ("tree", lambda p: 2 * (p - 1)),
    ],
)
def test_a_barrier_sends_so_many_messages_without_data(core: Core, name: str, messages: Callable[[int], int]) -> None:
    for ranks in (2, 3, 8, 13, 16, 33):
        sends = [o for o in schedule(core, f"barrier/{name}", ranks, 0)["operations"] if o["kind"] == "send"]
        assert len(sends) == messages(ranks)
        assert {o["bytes"] for o in sends} == {0}


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("barrier")])
def test_vectors_are_not_copied(core: Core, name: str) -> None:
    """On two ranks; but a call in place of reduce_scatter moves rank 1's block to the beginning."""
    assert [o for o in schedule(core, name, 2, 100)["operations"] if o["kind"] == "copy"] == []
    in_place = schedule(core, name, 2, 100, "--in-place")
    copies = [(o["rank"], o["bytes"]) for o in in_place["operations"] if o["kind"] == "copy"]
    assert copies == ([(1, 50 * ELEMENT)] if name.startswith("reduce_scatter") else [])
