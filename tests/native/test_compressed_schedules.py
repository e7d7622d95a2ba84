"""Schedules of algorithms that compress: right on any number of ranks, and no value compressed too often."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from native_core import NATIVE, Core

ALGORITHMS = sorted(f"{p.parent.name}/{p.stem}" for p in (NATIVE / "src/compressed").glob("*/*.cpp"))
RANKS = 6
COUNT = 60


def schedule(core: Core, name: str, *options: object, ranks: int = RANKS) -> dict[str, Any]:
    return core.schedule(core.build / "plugins/compressed" / f"{name}.so", ranks, COUNT, *options)


def elements(answer: dict[str, Any], kind: str) -> list[int]:
    """How many values each rank passes through the codec's function `kind`."""
    total: Counter[int] = Counter()
    for operation in answer["operations"]:
        total[operation["rank"]] += operation["bytes"] // 4 if operation["kind"] == kind else 0
    return [total[rank] for rank in range(answer["ranks"])]


def steps(answer: dict[str, Any]) -> int:
    return max(o["step"] for o in answer["operations"])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_rank_gets_what_it_should_on_any_number_of_ranks(core: Core, name: str) -> None:
    """The recorder's streams differ in length from rank to rank and are shorter than their bound."""
    calls = core.checked_calls(core.build / "plugins/compressed" / f"{name}.so", 9)
    assert [call for call in calls if not call["correct"] or not call["steps_agree"]] == []
    for ranks in range(1, 10):
        assert {call["count"] for call in calls if call["ranks"] == ranks} == {0, 1, ranks - 1, ranks, 2 * ranks + 3}


@pytest.mark.parametrize("name", ["ring", "bruck"])
def test_an_allgather_compresses_each_block_once_and_unpacks_all_of_them_everywhere(core: Core, name: str) -> None:
    answer = schedule(core, f"allgather/{name}")
    assert elements(answer, "compress") == [COUNT] * RANKS
    assert elements(answer, "decompress") == [RANKS * COUNT] * RANKS  # its own block, too: the same bits


@pytest.mark.parametrize("name", ["binomial", "pipeline"])
def test_a_broadcast_compresses_once_at_root_which_keeps_its_values(core: Core, name: str) -> None:
    answer = schedule(core, f"bcast/{name}", "--root", 2)
    assert elements(answer, "compress") == [COUNT if rank == 2 else 0 for rank in range(RANKS)]
    assert elements(answer, "decompress") == [0 if rank == 2 else COUNT for rank in range(RANKS)]


@pytest.mark.parametrize("name", ["linear", "binomial"])
def test_scatter_and_gather_compress_each_block_once_however_often_it_is_passed_on(core: Core, name: str) -> None:
    blocks = [(RANKS - 1) * COUNT if rank == 1 else 0 for rank in range(RANKS)]
    others = [0 if rank == 1 else COUNT for rank in range(RANKS)]
    scatter, gather = (schedule(core, f"{collective}/{name}", "--root", 1) for collective in ("scatter", "gather"))
    assert (elements(scatter, "compress"), elements(scatter, "decompress")) == (blocks, others)
    assert (elements(gather, "compress"), elements(gather, "decompress")) == (others, blocks)


@pytest.mark.parametrize("name", ["linear", "pairwise"])
def test_an_alltoall_compresses_what_goes_to_others(core: Core, name: str) -> None:
    answer = schedule(core, f"alltoall/{name}")
    for kind in ("compress", "decompress"):
        assert elements(answer, kind) == [(RANKS - 1) * COUNT] * RANKS


def test_a_bruck_allgather_takes_as_many_steps_as_the_ranks_can_double(core: Core) -> None:
    assert [steps(schedule(core, "allgather/bruck", ranks=ranks)) for ranks in (2, 3, 4, 5, 8, 9)] == [1, 2, 2, 3, 3, 4]


def test_the_homomorphic_ring_compresses_each_value_once_and_never_in_between(core: Core) -> None:
    answer = schedule(core, "allreduce/homomorphic")
    assert elements(answer, "compress") == [COUNT] * RANKS
    assert elements(answer, "add") == [(RANKS - 1) * COUNT // RANKS] * RANKS
    assert elements(answer, "decompress") == [COUNT] * RANKS
    assert {o["step"] for o in answer["operations"] if o["kind"] == "decompress"} == set(range(RANKS, 2 * RANKS - 1))


def test_one_shot_compresses_once_and_two_shot_twice_however_many_ranks(core: Core) -> None:
    one, two = schedule(core, "allreduce/one_shot"), schedule(core, "allreduce/two_shot")
    assert (steps(one), elements(one, "compress")) == (1, [COUNT] * RANKS)
    assert (steps(two), elements(two, "compress")) == (RANKS, [COUNT] * RANKS)
    assert elements(one, "accumulate") == [(RANKS - 1) * COUNT] * RANKS


def test_halving_compresses_each_exchange_and_a_finished_part_once(core: Core) -> None:
    answer = schedule(core, "allreduce/recursive_halving", ranks=4)
    assert elements(answer, "compress") == [COUNT // 2 + COUNT // 4 + COUNT // 4] * 4
    assert elements(answer, "decompress") == [COUNT] * 4


def test_nothing_is_compressed_within_a_machine(core: Core) -> None:
    alone = schedule(core, "allreduce/hierarchical")
    assert elements(alone, "compress") == [0] * RANKS
    spread = schedule(core, "allreduce/hierarchical", "--ranks-per-node", 3)
    assert elements(spread, "compress") == [COUNT, 0, 0, COUNT, 0, 0]  # half of it, and the other half's sum


def test_a_segment_is_compressed_while_the_one_before_travels(core: Core) -> None:
    """Compress k + 1, transfer k and decompression of k - 1 happen at the same time."""
    answer = schedule(core, "allreduce/ring", "--segment", 5)
    own = [o["kind"] for o in answer["operations"] if o["rank"] == 0 and o["step"] == 1]
    work = [kind for kind in own if kind in ("compress", "send", "accumulate")]
    assert work == ["compress", "send", "compress", "send", "accumulate"]  # of two segments; the last is added later
    later = [o["kind"] for o in answer["operations"] if o["rank"] == 0 and o["step"] == 2]
    assert [kind for kind in later if kind in ("compress", "send", "accumulate")][:4] == [
        "compress", "send", "accumulate", "compress",
    ]  # fmt: skip


def test_a_stream_is_not_longer_than_a_segment_can_make_it(core: Core) -> None:
    answer = schedule(core, "bcast/pipeline", "--segment", 8)
    sizes = [o["bytes"] for o in answer["operations"] if o["kind"] == "compress"]
    assert sizes == [32] * 7 + [16]


def test_an_algorithm_that_adds_streams_without_a_word_is_found(core: Core, user: Path) -> None:
    answer = core.schedule(user / "adds_unasked.so", 1, 7)
    assert answer["fault"] == "rank 0 adds streams, and the algorithm does not say so"


def test_streams_that_are_mixed_up_are_found_without_mpi(core: Core, user: Path) -> None:
    answer = core.schedule(user / "mixes_up_streams.so", 2, 7)
    assert "decompresses a stream of another length" in answer["fault"]
