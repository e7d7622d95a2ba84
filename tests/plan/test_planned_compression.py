"""Compressed algorithms in a plan: which codecs they need, how much memory, and what a bound is of."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.plan.expansion import expand
from collpress.plan.lines import plan_line
from collpress.plan.offer import Algorithm, Codec, Offer
from collpress.plan.support import memory_per_rank
from collpress.spec import Platform
from collpress.spec.campaign import Measure

DTYPES = ("float32", "float64")
NAMES = {"allreduce": ("ring", "homomorphic", "one_shot"), "bcast": ("pipeline",), "alltoall": ("linear", "pairwise")}
OFFER = Offer(
    tuple(
        Algorithm(
            collective, f"compressed:{name}", "native", path=f"{name}.so", sha256=name, needs_add=name == "homomorphic"
        )
        for collective, names in NAMES.items()
        for name in names
    ),
    (
        Codec("none", DTYPES, False, True, "none.so", "n"),
        Codec("deltapack", DTYPES, True, False, "deltapack.so", "d", adds=True),
        Codec("zfp", DTYPES, True, False, "zfp.so", "z"),
    ),
)


@pytest.fixture
def expanded(write: Any, platform: Platform, datasets: Any) -> Any:
    def expand_one(matrix: str) -> list[Any]:
        return expand(write(f"matrix: {{{matrix}}}"), platform, datasets, OFFER).points

    return expand_one


def test_a_pattern_stands_for_the_compressed_algorithms_of_each_collective(expanded: Any) -> None:
    points = expanded("collective: [allreduce, bcast, alltoall], algorithm: 'compressed:*', codec: none")
    found: dict[str, list[str]] = {}
    for point in points:
        found.setdefault(point.factors["collective"], []).append(point.factors["algorithm"].partition(":")[2])
    assert {c: tuple(names) for c, names in found.items() if c in NAMES} == NAMES


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("codec: deltapack, error_bound: abs 1", None),
        (
            "codec: zfp, error_bound: abs 1",
            "the codec zfp cannot add streams, which compressed:homomorphic needs; codecs that can: deltapack",
        ),
        (
            "codec: deltapack, error_bound: abs 1, op: max",
            "compressed:homomorphic adds streams: its op is sum, not max",
        ),
        ("codec: deltapack, error_bound: abs 1, op: prod", "compressed:homomorphic adds streams: its op is sum"),
    ],
)
def test_an_algorithm_that_adds_streams_needs_a_codec_that_can_and_sums(
    asked: str, reason: str | None, expanded: Any
) -> None:
    [point] = expanded(f"collective: allreduce, algorithm: compressed:homomorphic, {asked}")
    assert point.unsupported == reason if reason is None else str(point.unsupported).startswith(reason)


def test_a_target_without_a_bound_makes_no_second_point(expanded: Any) -> None:
    points = expanded(
        "collective: allreduce, algorithm: compressed:ring, codec: [none, deltapack], error_bound: abs 1,"
        " target: [message, result]"
    )
    found = sorted((p.factors["codec"], p.factors["target"]) for p in points)
    assert found == [("deltapack", "message"), ("deltapack", "result"), ("none", "message")]


def test_only_a_bound_of_the_result_stands_in_the_plan_line(expanded: Any) -> None:
    points = expanded(
        "collective: allreduce, algorithm: compressed:ring, codec: deltapack, error_bound: abs 1,"
        " target: [message, result]"
    )
    lines = [plan_line("k", "i", p.factors, OFFER, {}, Measure()) for p in points]
    assert [line.get("target") for line in lines] == [None, "result"]


def memory(algorithm: str, ranks: int, collective: str = "allreduce") -> int:
    block = {"collective": collective, "algorithm": algorithm, "dtype": "float32", "message_bytes": 4096}
    return memory_per_rank(block | {"ranks": ranks, "nodes": 1, "imbalance": "none"})


def test_one_shot_needs_memory_for_the_streams_of_all_ranks() -> None:
    for ranks in (2, 8, 100):
        # Two receive buffers and the contribution; a stream of each rank; the message once compressed, once restored.
        assert memory("compressed:one_shot", ranks) == 4096 * (3 + ranks + 2)
    assert memory("compressed:ring", 100) == memory("compressed:ring", 2) == 4096 * (3 + 1 + 2)


def test_who_holds_all_streams_on_both_sides_needs_memory_for_them() -> None:
    whole = 4096 * 8
    assert memory("compressed:linear", 8, "alltoall") - memory("compressed:pairwise", 8, "alltoall") == whole
