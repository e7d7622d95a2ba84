"""The library's algorithms: switching them inside the process changes what is really sent, by the traffic counters."""

from __future__ import annotations

import json
from pathlib import Path

from native_core import Core, point

RANKS, COUNT, BYTES = 4, 16384, 65536
SEGMENT = 65536
Matrix = list[list[int]]


def traffic(core: Core, count: int) -> dict[str, tuple[Matrix, Matrix]]:
    """For each algorithm: messages and bytes that each rank (row) sent to each (column) in one call."""
    done = core.program_on_ranks(RANKS, "library-proof", count, OMPI_MCA_pml_monitoring_enable="1")
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
    names = [algorithm["name"] for algorithm in offers["algorithms"]]
    assert names[0] == "default"
    assert {"ring", "recursive_doubling", "rabenseifner", "basic_linear"} <= set(names)
    assert {algorithm["collective"] for algorithm in offers["algorithms"]} == {"allreduce"}
