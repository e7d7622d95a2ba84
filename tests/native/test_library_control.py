"""The library's algorithms: switching them inside the process changes what is really sent, by the traffic counters."""

from __future__ import annotations

import json
from pathlib import Path

from native_core import Core, point

RANKS, COUNT, BYTES = 4, 16384, 65536
SEGMENT = 65536
Matrix = list[list[int]]
COLLECTIVES = ["allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "scatter", "alltoall"]
COLLECTIVES += ["alltoallv", "bcast", "barrier", "pingpong"]
EXPECTED = {
    "allreduce": ("ring", "recursive_doubling", "rabenseifner", "basic_linear"),
    "reduce": ("linear", "chain", "pipeline", "binomial", "rabenseifner"),
    "reduce_scatter": ("ring", "recursive_halving", "butterfly"),
    "allgather": ("ring", "bruck", "recursive_doubling", "neighbor", "two_proc"),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "alltoallv": ("basic_linear", "pairwise"),
    "bcast": ("chain", "pipeline", "binary_tree", "binomial", "knomial", "scatter_allgather_ring"),
    "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"),
}


def traffic(
    core: Core, count: int, collective: str = "allreduce", segment_bytes: int = 0, fanout: int = 0
) -> dict[str, tuple[Matrix, Matrix]]:
    """For each algorithm: messages and bytes that each rank (row) sent to each (column) in one call."""
    arguments = (collective, count, segment_bytes, fanout)
    done = core.program_on_ranks(RANKS, "library-proof", *arguments, OMPI_MCA_pml_monitoring_enable="1")
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        values = [int(number) for number in numbers]
        rows = [values[i : i + RANKS] for i in range(0, len(values), RANKS)]
        found[name] = (rows[:RANKS], rows[RANKS:])
    return found


def test_each_algorithm_sends_what_it_must(core: Core) -> None:
    seen = traffic(core, COUNT)
    neighbours = [[int(column == (row + 1) % RANKS) for column in range(RANKS)] for row in range(RANKS)]
    hypercube = [[int((row ^ column) in (1, 2)) for column in range(RANKS)] for row in range(RANKS)]
    ring_messages, ring_bytes = seen["ring"]
    assert ring_messages == [[6 * to for to in row] for row in neighbours]
    assert ring_bytes == [[BYTES * 6 // 4 * to for to in row] for row in neighbours]
    doubling_messages, doubling_bytes = seen["recursive_doubling"]
    assert doubling_messages == hypercube
    assert doubling_bytes == [[BYTES * to for to in row] for row in hypercube]
    halving_messages, halving_bytes = seen["rabenseifner"]
    assert halving_messages == [[2 * to for to in row] for row in hypercube]
    assert sum(halving_bytes[0]) == BYTES * 6 // 4
    linear_messages, _ = seen["basic_linear"]
    assert linear_messages == [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    assert seen["nonoverlapping"] != seen["basic_linear"]


def test_a_segmented_ring_sends_a_block_in_segments(core: Core) -> None:
    """In the reduce-scatter each of the p-1 blocks goes out in pieces; in the all-gather it is whole."""
    mebibytes = 2
    seen = traffic(core, mebibytes * 2**20 // 4)
    pieces = mebibytes * 2**20 // RANKS // SEGMENT
    neighbours = [[int(column == (row + 1) % RANKS) for column in range(RANKS)] for row in range(RANKS)]
    assert seen["ring"][0] == [[6 * to for to in row] for row in neighbours]
    assert seen["segmented_ring"][0] == [[(3 * pieces + 3) * to for to in row] for row in neighbours]
    assert seen["segmented_ring"][1] == seen["ring"][1]


def test_a_segment_size_cuts_what_trees_and_chains_send(core: Core) -> None:
    segments = 8
    for collective in ("bcast", "reduce"):
        whole = traffic(core, COUNT, collective)
        cut = traffic(core, COUNT, collective, BYTES // segments)
        assert {"chain", "pipeline", "binomial"} <= set(cut)
        for name in ("chain", "pipeline", "binomial"):
            assert cut[name][0] == [[segments * messages for messages in row] for row in whole[name][0]]
            assert cut[name][1] == whole[name][1]


def test_a_fan_out_is_the_radix_of_a_tree_and_the_number_of_chains(core: Core) -> None:
    children = {}
    for fanout in (2, 3):
        seen = traffic(core, COUNT, "bcast", 0, fanout)
        assert set(seen) == {"chain", "knomial"}
        children[fanout] = {name: sum(map(bool, messages[0])) for name, (messages, _) in seen.items()}
    assert [children[fanout]["chain"] for fanout in (2, 3)] == [2, 3]
    assert [children[fanout]["knomial"] for fanout in (2, 3)] == [2, 3]


def test_a_ring_is_only_known_to_be_segmented_with_a_segment_for_each_rank(core: Core, tmp_path: Path) -> None:
    long = point(algorithm="library:segmented_ring", message_bytes=2 * SEGMENT)
    short = point(algorithm="library:segmented_ring", message_bytes=2 * SEGMENT - 4)
    plain = point(algorithm="library:ring", message_bytes=2 * SEGMENT)
    outcome = core.launch(tmp_path, 2, [long, short, plain])
    known = [outcome.record(entry)["effective"] for entry in (long, short, plain)]
    assert [effective["known_by"] for effective in known] == ["read back", "unverified", "read back"]
    assert [effective["segment_bytes"] for effective in known] == [SEGMENT, SEGMENT, None]


def test_the_offer_is_read_from_the_library_and_begins_with_its_own_choice(core: Core) -> None:
    offers = json.loads(core.call("--offers").stdout)
    assert offers["library"].startswith("Open MPI")
    assert offers["controls"] == "openmpi"
    of = {(a["collective"], a["name"]): a for a in offers["algorithms"]}
    for collective in COLLECTIVES:
        names = [a["name"] for a in offers["algorithms"] if a["collective"] == collective]
        assert names[0] == "default"
        assert set(EXPECTED.get(collective, ())) <= set(names)
    assert {a["collective"] for a in offers["algorithms"]} == set(COLLECTIVES)
    assert of["allgather", "two_proc"]["exactly_ranks"] == 2
    assert of["allgather", "recursive_doubling"]["power_of_two"]
    assert of["allreduce", "ring"]["count_at_least_ranks"]
    assert of["bcast", "knomial"]["segments"]
    assert of["bcast", "knomial"]["fanout"]
    assert of["bcast", "knomial"]["least_fanout"] == 2
    assert not of["allreduce", "ring"]["segments"]
    assert not of["allreduce", "ring"]["fanout"]
    assert of["alltoall", "pairwise"]["in_place"] is False
