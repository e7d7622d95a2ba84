"""Every algorithm of the library's, of every collective, gives the right result or refuses; none ends a launch."""

from __future__ import annotations

from functools import cache

import pytest
from native_core import Core

NAMES = ["allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "scatter", "alltoall"]
NAMES += ["alltoallv", "bcast", "barrier", "pingpong"]
RANKS = [2, 3, 4, 5]


@cache
def outcomes(core: Core, ranks: int) -> dict[tuple[str, str, str], str]:
    """What became of each call: (collective, algorithm, form) to `ok` or `refused: ...`; nothing else is allowed."""
    done = core.program_on_ranks(ranks, "library-results", *NAMES)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    found = {}
    for line in done.stdout.splitlines():
        call, refused, reason = line.removesuffix(" ok").partition(" refused: ")
        collective, algorithm, form = call.split(" ", 2)
        assert refused or line.endswith(" ok"), line
        found[collective, algorithm, form] = reason
    assert {collective for collective, _, _ in found} == set(NAMES)
    return found


@pytest.mark.parametrize("ranks", RANKS)
def test_open_mpi_refuses_only_algorithms_that_are_for_two_ranks(core: Core, ranks: int) -> None:
    refused = {algorithm for (_, algorithm, _), reason in outcomes(core, ranks).items() if reason}
    assert refused == (set() if ranks == 2 else {"two_proc"})


@pytest.mark.parametrize("ranks", RANKS)
def test_mpich_refuses_what_an_algorithm_cannot_serve(mpich_core: Core, ranks: int) -> None:
    found = outcomes(mpich_core, ranks)
    in_place = {
        form.endswith("in-place"): reason
        for (collective, algorithm, form), reason in found.items()
        if (collective, algorithm) == ("alltoall", "pairwise_sendrecv_replace") and "count=7" in form
    }
    assert in_place[True] == ""
    assert in_place[False] == "the library's alltoall algorithm pairwise_sendrecv_replace works in place only"
    powers = {reason for (c, name, _), reason in found.items() if (c, name) == ("allgatherv", "recursive_doubling")}
    assert (powers == {""}) == (ranks in (2, 4))


@pytest.mark.parametrize(
    ("ranks", "count", "missing"), [(2, 7, "needs equal blocks"), (3, 600, "needs a power of two of ranks")]
)
def test_where_the_library_would_abort_it_is_not_called(mpich_core: Core, ranks: int, count: int, missing: str) -> None:
    found = outcomes(mpich_core, ranks)
    reason = found["reduce_scatter", "noncommutative", f"count={count} root=0"]
    assert reason == f"the library's reduce_scatter algorithm noncommutative {missing}"
