"""Schedules: what the recorder saw, without MPI, against the literature."""

from __future__ import annotations

import json
from collections import Counter
from math import log2
from pathlib import Path
from typing import Any

import pytest
from native_core import Core

ELEMENT = 4
ALGORITHMS = ["reference/allreduce/ring", "reference/allreduce/recursive_doubling"]
ALGORITHMS += ["reference/allreduce/rabenseifner", "compressed/allreduce/ring"]


def schedule(core: Core, plugin: Path, ranks: int, count: int) -> dict[str, Any]:
    done = core.call("--schedule", plugin, "--ranks", ranks, "--count", count)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["ranks"], answer["count"], answer["element_bytes"]) == (ranks, count, ELEMENT)
    return dict(answer)


def sent_bytes(answer: dict[str, Any]) -> Counter[int]:
    total: Counter[int] = Counter()
    for operation in answer["operations"]:
        if operation["kind"] == "send":
            total[operation["rank"]] += operation["bytes"]
    return total


def steps(answer: dict[str, Any]) -> int:
    return max(operation["step"] for operation in answer["operations"])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_rank_gets_every_contribution_exactly_once(core: Core, name: str) -> None:
    plugin = core.build / "plugins" / f"{name}.so"
    for ranks in range(1, 18):
        for count in (0, 1, ranks - 1, 2 * ranks + 3):
            answer = schedule(core, plugin, ranks, count)
            assert answer["correct"], (ranks, count, answer["fault"])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_sent_is_received_in_the_same_step(core: Core, name: str) -> None:
    answer = schedule(core, core.build / "plugins" / f"{name}.so", 7, 100)
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
    answer = schedule(core, core.build / "plugins/reference/allreduce/ring.so", ranks, count)
    assert steps(answer) == 2 * (ranks - 1)
    assert set(sent_bytes(answer).values()) == {2 * (ranks - 1) * count // ranks * ELEMENT}
    assert all(o["peer"] == (o["rank"] + 1) % ranks for o in answer["operations"] if o["kind"] == "send")


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_recursive_doubling_takes_log2_p_steps_of_whole_vectors(core: Core, ranks: int) -> None:
    answer = schedule(core, core.build / "plugins/reference/allreduce/recursive_doubling.so", ranks, 5)
    assert steps(answer) == log2(ranks)
    assert set(sent_bytes(answer).values()) == {log2(ranks) * 5 * ELEMENT}


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_rabenseifner_takes_2_log2_p_steps_with_the_volume_of_a_ring(core: Core, ranks: int) -> None:
    count = 16 * ranks
    answer = schedule(core, core.build / "plugins/reference/allreduce/rabenseifner.so", ranks, count)
    assert steps(answer) == 2 * log2(ranks)
    assert set(sent_bytes(answer).values()) == {2 * (ranks - 1) * count // ranks * ELEMENT}


@pytest.mark.parametrize("name", ["recursive_doubling", "rabenseifner"])
def test_ranks_beyond_a_power_of_two_cost_two_more_steps(core: Core, name: str) -> None:
    plugin = core.build / f"plugins/reference/allreduce/{name}.so"
    assert steps(schedule(core, plugin, 5, 64)) == steps(schedule(core, plugin, 4, 64)) + 2


def test_the_compressed_ring_compresses_each_hop_and_once_for_the_gathering(core: Core) -> None:
    ranks = 5
    answer = schedule(core, core.build / "plugins/compressed/allreduce/ring.so", ranks, 50)
    kinds = Counter((o["rank"], o["kind"]) for o in answer["operations"])
    for rank in range(ranks):
        assert kinds[rank, "compress"] == ranks - 1 + 1
        assert kinds[rank, "decompress"] == ranks - 1 + ranks  # its own block, too: all ranks end with the same bits


def test_a_plugin_in_c_has_a_schedule(core: Core, user: Path) -> None:
    assert schedule(core, user / "plain_c.so", 4, 3)["correct"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("wrong_rank", "rank 0 has a wrong result"),
        ("wrong_element", "rank 1 has a wrong result"),
        ("deadlocks", "deadlock"),
        ("leaves_message", "left requests open"),
        ("writes_nothing", "rank 0 has a wrong result"),
    ],
)
def test_a_faulty_algorithm_is_found_out_without_mpi(core: Core, user: Path, name: str, fault: str) -> None:
    answer = schedule(core, user / f"{name}.so", 3, 7)
    assert not answer["correct"]
    assert fault in answer["fault"]


def test_a_codec_has_no_schedule(core: Core, user: Path) -> None:
    done = core.call("--schedule", user / "codec_copies.so", "--ranks", 2, "--count", 2)
    assert done.returncode == 2
    assert "only algorithms have schedules" in done.stderr
