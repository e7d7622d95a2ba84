"""Who contributes how much: the same numbers as in the core (native/src/core/collective.cpp)."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.collectives import COLLECTIVES
from collpress.plan.exchange import (
    block_counts,
    bytes_moved,
    contributors,
    largest_contribution,
    largest_result,
    total_contribution,
)
from collpress.plan.support import memory_per_rank

# Largest contribution, all contributions, largest result: elements on 3 ranks, message_bytes of 10 elements.
# Printed by the core's own Exchange.
SIZES = {
    "allreduce": (10, 30, 10),
    "reduce": (10, 30, 10),
    "reduce_scatter": (10, 30, 4),
    "allgather": (10, 30, 30),
    "allgatherv": (10, 30, 30),
    "gather": (10, 30, 30),
    "scatter": (30, 30, 10),
    "alltoall": (30, 90, 30),
    "alltoallv": (30, 90, 30),
    "bcast": (10, 10, 10),
    "barrier": (0, 0, 0),
    "pingpong": (10, 20, 10),
}
# On 3 ranks: so many messages of message_bytes must be sent at least.
LEAST_MESSAGES = {
    "allreduce": 4,
    "reduce": 2,
    "reduce_scatter": 2,
    "allgather": 6,
    "allgatherv": 6,
    "gather": 2,
    "scatter": 2,
    "alltoall": 6,
    "alltoallv": 6,
    "bcast": 2,
    "barrier": 0,
    "pingpong": 2,
}


def call(collective: str, **more: Any) -> dict[str, Any]:
    usual = {"dtype": "float64", "message_bytes": 80, "ranks": 3, "algorithm": "library:default"}
    return {"collective": collective, **usual, **more}


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_contributions_and_results_are_those_of_the_core(collective: str) -> None:
    factors = call(collective)
    found = largest_contribution(factors), total_contribution(factors), largest_result(factors)
    assert found == SIZES[collective]


def test_a_reduce_scatter_in_place_has_the_whole_vector_where_its_block_goes() -> None:
    assert largest_result(call("reduce_scatter", buffers="in-place")) == 10


def test_uneven_blocks_make_the_largest_contribution_or_result_larger() -> None:
    assert largest_contribution(call("allgatherv", imbalance="linear")) == 15
    assert largest_result(call("alltoallv", imbalance="linear")) == 45
    assert total_contribution(call("allgatherv", imbalance="one-large")) == 30


@pytest.mark.parametrize(
    ("imbalance", "ranks", "count", "blocks"),
    [
        ("none", 3, 10, [10, 10, 10]),
        ("linear", 5, 1_000_003, [333334, 666669, 1000003, 1333337, 1666672]),
        ("one-large", 4, 10, [20, 6, 7, 7]),
        ("one-large", 1, 5, [5]),
        ("random", 3, 10**15, [1131869731768339, 886688412175275, 981441856056386]),
        ("random", 5, 1_000_003, [1315268, 1030359, 1140466, 1121506, 392416]),
    ],
)
def test_blocks_are_those_that_the_core_makes(imbalance: str, ranks: int, count: int, blocks: list[int]) -> None:
    assert block_counts(ranks, count, imbalance) == blocks
    assert sum(blocks) == ranks * count


def test_only_those_who_contribute_need_data() -> None:
    assert contributors(call("bcast", root=2)) == contributors(call("scatter", root=2)) == [2]
    assert contributors(call("pingpong")) == [0, 2]
    assert contributors(call("alltoall")) == [0, 1, 2]
    assert contributors(call("barrier")) == []


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_least_traffic_is_that_of_the_collective(collective: str) -> None:
    assert bytes_moved(call(collective)) == 80 * LEAST_MESSAGES[collective]


def test_memory_is_send_receive_twice_and_scratch() -> None:
    assert memory_per_rank(call("allreduce")) == 4 * 80
    assert memory_per_rank(call("allreduce", algorithm="compressed:ring")) == 6 * 80
    assert memory_per_rank(call("allgather")) == 80 + 2 * 240 + 240
    assert memory_per_rank(call("barrier", message_bytes=0)) == 0
