"""Schedules: what the recorder saw, without MPI, against the literature."""

from __future__ import annotations

from collections import Counter
from math import log2
from pathlib import Path
from typing import Any

import pytest
from native_core import Core

ELEMENT = 4
ALGORITHMS = ["reference/allreduce/ring", "reference/allreduce/recursive_doubling"]
ALGORITHMS += ["reference/allreduce/rabenseifner", "compressed/allreduce/ring"]


def sent_bytes(answer: dict[str, Any]) -> Counter[int]:
    total: Counter[int] = Counter()
    for operation in answer["operations"]:
        if operation["kind"] == "send":
            total[operation["rank"]] += operation["bytes"]
    return total


def steps(answer: dict[str, Any]) -> int:
    return max(operation["step"] for operation in answer["operations"])


def test_a_schedule_says_what_was_asked_for(core: Core) -> None:
    answer = core.schedule(core.build / "plugins/reference/allreduce/ring.so", 6, 5, "--ranks-per-node", 4)
    del answer["operations"]
    assert answer == {
        "collective": "allreduce",
        "ranks": 6,
        "count": 5,
        "root": 0,
        "in_place": False,
        "segment": 0,
        "fanout": 0,
        "ranks_per_node": 4,
        "imbalance": "none",
        "imbalance_seed": 0,
        "element_bytes": ELEMENT,
        "correct": True,
        "fault": None,
        "steps_agree": True,
    }


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_rank_gets_every_contribution_exactly_once(core: Core, name: str) -> None:
    calls = core.checked_calls(core.build / "plugins" / f"{name}.so", 17)
    assert [call for call in calls if not call["correct"] or not call["steps_agree"]] == []
    for ranks in range(1, 18):
        assert {call["count"] for call in calls if call["ranks"] == ranks} == {0, 1, ranks - 1, ranks, 2 * ranks + 3}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_sent_is_received_in_the_same_step(core: Core, name: str) -> None:
    answer = core.schedule(core.build / "plugins" / f"{name}.so", 7, 100)
    sent, received = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for operation in answer["operations"]:
        rank, peer, size = operation["rank"], operation["peer"], operation["bytes"]
        if operation["kind"] == "send":
            sent[operation["step"], rank, peer, size] += 1
        elif operation["kind"] == "receive":
            received[operation["step"], peer, rank, size] += 1
        else:
            assert peer is None
    assert sent == received
    assert sent.total() > 0


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 13])
def test_a_ring_takes_2p_minus_2_steps_and_sends_as_little_as_possible(core: Core, ranks: int) -> None:
    count = 10 * ranks
    answer = core.schedule(core.build / "plugins/reference/allreduce/ring.so", ranks, count)
    assert steps(answer) == 2 * (ranks - 1)
    assert set(sent_bytes(answer).values()) == {2 * (ranks - 1) * count // ranks * ELEMENT}
    assert all(o["peer"] == (o["rank"] + 1) % ranks for o in answer["operations"] if o["kind"] == "send")


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_recursive_doubling_takes_log2_p_steps_of_whole_vectors(core: Core, ranks: int) -> None:
    answer = core.schedule(core.build / "plugins/reference/allreduce/recursive_doubling.so", ranks, 5)
    assert steps(answer) == log2(ranks)
    assert set(sent_bytes(answer).values()) == {log2(ranks) * 5 * ELEMENT}


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_rabenseifner_takes_2_log2_p_steps_with_the_volume_of_a_ring(core: Core, ranks: int) -> None:
    count = 16 * ranks
    answer = core.schedule(core.build / "plugins/reference/allreduce/rabenseifner.so", ranks, count)
    assert steps(answer) == 2 * log2(ranks)
    assert set(sent_bytes(answer).values()) == {2 * (ranks - 1) * count // ranks * ELEMENT}


@pytest.mark.parametrize("name", ["recursive_doubling", "rabenseifner"])
def test_ranks_beyond_a_power_of_two_cost_two_more_steps(core: Core, name: str) -> None:
    plugin = core.build / f"plugins/reference/allreduce/{name}.so"
    assert steps(core.schedule(plugin, 5, 64)) == steps(core.schedule(plugin, 4, 64)) + 2


def test_the_compressed_ring_compresses_each_hop_and_once_for_the_gathering(core: Core) -> None:
    ranks = 5
    answer = core.schedule(core.build / "plugins/compressed/allreduce/ring.so", ranks, 50)
    kinds = Counter((o["rank"], o["kind"]) for o in answer["operations"])
    for rank in range(ranks):
        assert kinds[rank, "compress"] == ranks - 1 + 1
        assert kinds[rank, "accumulate"] == ranks - 1
        assert kinds[rank, "decompress"] == ranks  # its own block, too: all ranks end with the same bits


def test_a_plugin_in_c_has_a_schedule(core: Core, user: Path) -> None:
    assert core.schedule(user / "plain_c.so", 4, 3)["correct"]


@pytest.mark.parametrize(
    ("name", "ranks", "fault"),
    [
        ("deadlocks", 3, "deadlock"),
        ("leaves_message", 3, "left requests open"),
        ("reads_early", 2, "rank 0 has a wrong result"),
        ("changes_sent", 3, "changes what it is still sending"),
        ("sends_to_itself", 3, "sends to itself"),
    ],
)
def test_a_faulty_algorithm_is_found_out_without_mpi(core: Core, user: Path, name: str, ranks: int, fault: str) -> None:
    answer = core.schedule(user / f"{name}.so", ranks, 7)
    assert not answer["correct"]
    assert fault in answer["fault"]


def test_a_barrier_holds_every_rank_until_all_have_come(core: Core, user: Path) -> None:
    neighbours = user / "barrier_in_part.so"
    assert core.schedule(neighbours, 2, 0)["correct"]
    assert core.schedule(neighbours, 4, 0)["fault"] == (
        "rank 0 leaves the barrier without knowing that rank 1 has come"
    )


def test_a_message_longer_than_the_segment_asked_for_is_a_fault(core: Core, user: Path) -> None:
    plugin = user / "ignores_segments.so"
    assert core.schedule(plugin, 4, 9, "--root", 2)["correct"]
    assert core.schedule(plugin, 4, 9, "--root", 2, "--segment", 9)["correct"]
    answer = core.schedule(plugin, 4, 9, "--root", 2, "--segment", 8)
    assert answer["fault"] == "rank 2 sends a message longer than a segment"


def test_a_message_that_is_received_in_another_step_is_told(core: Core, user: Path) -> None:
    plugin = user / "ignores_segments.so"
    assert core.schedule(plugin, 1, 9)["steps_agree"]
    assert not core.schedule(plugin, 2, 9)["steps_agree"]


def test_a_check_finds_what_is_wrong_for_some_calls_only(core: Core, user: Path) -> None:
    """By its roots, counts, segments and fan-outs."""
    calls = core.checked_calls(user / "ignores_segments.so", 5)
    wrong = [call for call in calls if not call["correct"]]
    assert wrong != []
    for call in calls:
        is_long = call["ranks"] > 1 and call["count"] > call["segment"] > 0
        assert call["correct"] != is_long, call
    at_five = [call for call in calls if call["ranks"] == 5]
    assert {call["root"] for call in at_five} == {0, 2, 4}
    assert {call["segment"] for call in at_five} == {0, 1, 4, 1000}
    assert {call["fanout"] for call in at_five} == {0, 2, 3, 7}
    assert {call["in_place"] for call in at_five} == {False}  # a broadcast knows no other way


@pytest.mark.parametrize(
    ("name", "call", "reason"),
    [
        ("plain_c", "--ranks 4 --count 8 --in-place", "it takes no calls in place"),
        ("plain_c", "--ranks 4 --count 8 --segment 2", "it knows no segments"),
        ("plain_c", "--ranks 4 --count 8 --fanout 2", "it knows no fan-out"),
        ("plain_c", "--ranks 4 --count 8 --root 1", "allreduce has no root"),
        ("plain_c", "--ranks 4 --count 8 --root 4", "root 4 is not one of the ranks"),
        ("plain_c", "--ranks 4 --count 8 --imbalance linear", "all ranks' blocks are alike in allreduce"),
        ("takes_few_calls", "--ranks 2 --count 8", "it needs at least 3 ranks"),
        ("takes_few_calls", "--ranks 6 --count 8", "it needs a power of two of ranks"),
        ("takes_few_calls", "--ranks 4 --count 3", "it needs a count of at least the ranks"),
        ("ignores_segments", "--ranks 4 --count 8 --fanout 1", "its fan-out is at least 2"),
        ("ignores_segments", "--ranks 4 --count 8 --in-place", "bcast knows no calls in place"),
        ("barrier_in_part", "--ranks 2 --count 1", "a barrier moves no data: its count is 0"),
    ],
)
def test_an_algorithm_is_not_asked_for_what_it_does_not_state(
    core: Core, user: Path, name: str, call: str, reason: str
) -> None:
    done = core.call("--schedule", user / f"{name}.so", *call.split())
    assert done.returncode == 2
    assert done.stderr.endswith(f"{name}.so cannot be asked for this: {reason}\n")


def test_what_it_states_it_is_asked_for(core: Core, user: Path) -> None:
    assert core.schedule(user / "takes_few_calls.so", 4, 4)["correct"]


def test_an_algorithm_of_an_unknown_collective_has_no_schedule(core: Core, user: Path) -> None:
    done = core.call("--schedule", user / "unknown_collective.so", "--ranks", 2, "--count", 2)
    assert done.returncode == 2
    assert 'is of the unknown collective "alreduce"; known: allreduce, reduce,' in done.stderr


def test_a_codec_has_no_schedule(core: Core, user: Path) -> None:
    done = core.call("--schedule", user / "codec_copies.so", "--ranks", 2, "--count", 2)
    assert done.returncode == 2
    assert "only algorithms have schedules" in done.stderr
