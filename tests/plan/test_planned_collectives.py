"""Every collective's points: factors that mean nothing are dropped, what cannot be done is said."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.collectives import COLLECTIVES, idle
from collpress.errors import CollpressError
from collpress.plan import exchange
from collpress.plan.expansion import Expansion, expand
from collpress.plan.identity import point_id, point_key
from collpress.plan.lines import plan_line
from collpress.plan.machine import Machine
from collpress.plan.offer import Algorithm, Codec, Dataset, Offer, library_algorithms
from collpress.spec import Platform, campaign_text
from collpress.spec.campaign import Measure
from collpress.spec.factors import FACTORS
from collpress.usual import USUAL

ABLE: dict[str, Any] = {"in_place": True, "segments": True, "least_fanout": 3}
OFFER = Offer(
    (
        *(Algorithm(c, "library:default", "mpi", in_place=True) for c in COLLECTIVES),
        Algorithm("bcast", "library:chain", "mpi", segments=True, least_fanout=2),
        Algorithm("bcast", "reference:tree", "native", path="tree.so", sha256="t", **ABLE),
        Algorithm("allreduce", "library:ring", "mpi"),
        Algorithm("alltoall", "library:replace", "mpi", in_place=True, only_in_place=True),
        Algorithm("allreduce", "reference:tree", "native", path="t.so", sha256="u", **ABLE),
        Algorithm("allreduce", "compressed:ring", "native", path="r.so", sha256="r"),
        Algorithm("barrier", "reference:tree", "native", path="b.so", sha256="b", least_fanout=2),
    ),
    (Codec("none", tuple(FACTORS["dtype"].schema["enum"]), False, True, "none.so", "n"),),
)
FIELD = Dataset("made/field", "float32", 100, "field.bin", "f" * 64, 400)
PARTS = Dataset("made/parts", "bfloat16", 60, "parts.bin", "e" * 64, 120, parts=2)
DATASETS = {d.id: d for d in (FIELD, PARTS)}


@pytest.fixture
def expanded(platform: Platform) -> Any:
    def run(matrix: str, offer: Offer | None = OFFER) -> Expansion:
        campaign = campaign_text(f"title: t\nexperiments: {{e: {{matrix: {{{matrix}}}}}}}\n")
        return expand(campaign, platform, DATASETS, offer)

    return run


def values(expansion: Expansion, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(p.factors[n] for n in names) for p in expansion.points]


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_what_means_nothing_for_a_collective_makes_no_second_point(expanded: Any, collective: str) -> None:
    every = {
        "op": ("sum, max", "op"),
        "root": ("0, 1", "root"),
        "buffers": ("separate, in-place", "buffers"),
        "imbalance": ("none, linear", "imbalance"),
        "message_bytes": ("64, 128", "message_bytes"),
        "dtype": ("float32, int8", "dtype"),
        "cache": ("warm, cold", "cache"),
        "alignment": ("64Ki, 4Ki", "alignment"),
    }
    base = {"collective": collective, "algorithm": "library:default", "message_bytes": "64", "ranks": "2"}
    for factor, (asked, name) in every.items():
        matrix = ", ".join(f"{k}: {v}" for k, v in (base | {factor: f"[{asked}]"}).items())
        found = expanded(matrix)
        assert len(found.points) == (1 if name in idle(collective) else 2), (collective, factor)


def test_a_barrier_is_one_point_for_each_number_of_ranks_and_algorithm(expanded: Any) -> None:
    found = expanded(
        "collective: barrier, algorithm: ['library:default', 'reference:*'], ranks: [2, 4], message_bytes: [8, 64Ki],"
        " dtype: [float32, int64], op: [sum, max], dataset: [pattern, made/field], wrap: [none, mirror],"
        " segment_bytes: [default, 64], root: [0, 1], cache: [warm, cold], alignment: [64Ki, 64]"
    )
    assert sorted(values(found, "algorithm", "ranks", "message_bytes")) == [
        ("library:default", 2, 0),
        ("library:default", 4, 0),
        ("reference:tree", 2, 0),
        ("reference:tree", 4, 0),
    ]
    assert not any(p.unsupported for p in found.points)


def test_only_a_barrier_needs_no_message_size(expanded: Any) -> None:
    assert len(expanded("collective: barrier, algorithm: library:default, ranks: 2").points) == 1
    with pytest.raises(CollpressError, match='the factor "message_bytes" is missing'):
        expanded("collective: [barrier, bcast], algorithm: library:default, ranks: 2")


def test_a_pattern_stands_for_what_each_collective_has(expanded: Any) -> None:
    common = "collective: [allreduce, bcast], message_bytes: 64, ranks: 2"
    found = expanded(f"{common}, algorithm: 'library:*'")
    assert sorted(values(found, "collective", "algorithm")) == [
        ("allreduce", "library:default"),
        ("allreduce", "library:ring"),
        ("bcast", "library:chain"),
        ("bcast", "library:default"),
    ]
    assert not any(p.unsupported for p in found.points)
    named = expanded(f"{common}, algorithm: ['library:*', 'library:chain']")
    assert [p.unsupported for p in named.points if p.factors["algorithm"] == "library:chain"] == [
        'this installation has no library:chain for allreduce; did you mean "library:ring"?',
        None,
    ]


def test_a_collective_that_no_pattern_finds_anything_for_is_told(expanded: Any) -> None:
    found = expanded("collective: [allreduce, reduce], algorithm: 'reference:*', message_bytes: 64, ranks: 2")
    assert values(found, "collective", "algorithm") == [("allreduce", "reference:tree")]
    assert [w.partition(": ")[2] for w in found.warnings] == [
        "experiments.e: no algorithm of reduce is asked for; there is library:default"
    ]


def test_segments_and_fan_outs_are_dropped_where_the_algorithm_does_not_ask(expanded: Any) -> None:
    matrix = (
        "collective: bcast, message_bytes: 64, ranks: 4, segment_bytes: [default, 16], fanout: [default, 4],"
        " algorithm: ['library:default', 'library:chain', 'reference:tree']"
    )
    counts: dict[Any, int] = {}
    for (algorithm,) in values(expanded(matrix), "algorithm"):
        counts[algorithm] = counts.get(algorithm, 0) + 1
    assert counts == {"library:default": 1, "library:chain": 4, "reference:tree": 4}
    before = expanded(matrix, offer=None)
    assert (len(before.points), before.at_least) == (12, 3)
    assert "which algorithms heed segment_bytes and fanout (all count as if they did)" in before.unknown


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (
            "collective: bcast, algorithm: 'compressed:zz', codec: none",
            "this installation has no compressed:zz for bcast; there is library:default, library:chain, reference:tree",
        ),
        ("collective: bcast, root: 1", None),
        ("collective: bcast, root: 4", "there is no root 4 among 4 ranks, which are 0 to 3"),
        ("collective: allreduce, root: 4", None),
        ("collective: pingpong, ranks: 1", "pingpong needs at least 2 ranks"),
        ("collective: gather, ranks: 1", None),
        ("collective: pingpong, call: nonblocking", "pingpong has no nonblocking call"),
        ("collective: bcast, call: nonblocking", None),
        (
            "collective: bcast, call: nonblocking, algorithm: 'reference:tree'",
            "reference:tree has no nonblocking call: it runs inside the caller",
        ),
        (
            "collective: allreduce, call: nonblocking, algorithm: 'compressed:ring', codec: none",
            "compressed:ring has no nonblocking call: it runs inside the caller",
        ),
        ("collective: allreduce, buffers: in-place", None),
        ("collective: allreduce, buffers: in-place, algorithm: 'library:ring'", "library:ring takes no calls in place"),
        ("collective: bcast, buffers: in-place, algorithm: 'library:chain'", None),
        ("collective: alltoall, algorithm: 'library:replace'", "library:replace works in place only"),
        ("collective: alltoall, algorithm: 'library:replace', buffers: in-place", None),
        (
            "collective: bcast, algorithm: 'reference:tree', fanout: 2",
            "reference:tree needs a fan-out of at least 3",
        ),
        (
            "collective: bcast, algorithm: 'reference:tree', segment_bytes: 20, dtype: float64",
            "a segment of 20 bytes holds no whole number of float64 elements of 8 bytes",
        ),
        ("collective: bcast, algorithm: 'library:default', segment_bytes: 20, dtype: float64", None),
        (
            "collective: allreduce, algorithm: 'compressed:ring', codec: none, dtype: int32",
            "compressed: algorithms take dtype float32, float64, not int32",
        ),
        (
            "collective: allreduce, algorithm: 'compressed:ring', codec: none, op: prod",
            "compressed: algorithms take op sum, max, min, not prod",
        ),
        ("collective: allreduce, algorithm: 'compressed:ring', codec: none, op: min", None),
        ("collective: allreduce, feedback: 10", None),
        ("collective: allreduce, feedback: 10, dtype: float64, call: nonblocking", None),
        ("collective: bcast, feedback: 10", "only the result of an allreduce can be fed back, not that of bcast"),
        ("collective: bcast, feedback: 0", None),
        ("collective: allreduce, feedback: 10, op: max", "only sums are fed back, over the number of ranks; not max"),
        ("collective: allreduce, feedback: 10, dtype: int32", "only float32 and float64 can be fed back, not int32"),
        ("collective: alltoallv, message_bytes: 2Gi, ranks: 8", "4294967296 elements: one MPI call counts at most"),
        ("collective: bcast, dataset: made/field, message_bytes: 400, root: 3", None),
        (
            "collective: bcast, dataset: made/field, message_bytes: 404, root: 3",
            "made/field has 100 elements; rank 3 needs 101 (data are never repeated, unless wrap says how)",
        ),
        ("collective: scatter, dataset: made/field, message_bytes: 100", None),
        ("collective: scatter, dataset: made/field, message_bytes: 104", "rank 0 needs 104"),
        ("collective: alltoall, dataset: made/field, message_bytes: 24", None),
        ("collective: alltoall, dataset: made/field, message_bytes: 28", "4 ranks need 112"),
        ("collective: pingpong, dataset: made/field, message_bytes: 200", None),
        ("collective: pingpong, dataset: made/field, message_bytes: 204", "ranks 0 and 3 need 102"),
        ("collective: bcast, dataset: made/parts, root: 1", None),
        ("collective: bcast, dataset: made/parts, root: 2", "made/parts has 2 parts, one for each rank; rank 2 sends"),
        ("collective: bcast, dataset: made/parts, dtype: bfloat16, message_bytes: 60", None),
        (
            "collective: bcast, dataset: made/parts, dtype: float16",
            "the dataset made/parts holds bfloat16, which is sent as it is or as float32, not float16",
        ),
        ("collective: bcast, dataset: made/field, dtype: int8", "the dataset made/field holds float32, not int8"),
        ("collective: allgatherv, dataset: made/parts, message_bytes: 80, ranks: 2", None),
        (
            "collective: allgatherv, dataset: made/parts, message_bytes: 100, ranks: 2, imbalance: linear",
            "a part of made/parts has 30 elements; a rank sends 34",
        ),
    ],
)
def test_a_point_is_supported_or_says_why_not(expanded: Any, matrix: str, reason: str | None) -> None:
    usual = {"algorithm": "library:default", "message_bytes": "64", "ranks": "4"}
    written = ", ".join([matrix, *(f"{k}: {v}" for k, v in usual.items() if f"{k}:" not in matrix)])
    [point] = expanded(written).points
    if reason is None:
        assert point.unsupported is None
    else:
        assert reason in str(point.unsupported)


def test_blocks_whose_places_do_not_fit_an_int_are_refused_only_where_mpi_counts_them(expanded: Any) -> None:
    def reason(collective: str) -> str:
        matrix = f"collective: {collective}, algorithm: library:default, message_bytes: 1Gi, ranks: 8, dtype: int8"
        return str(expanded(matrix).points[0].unsupported)

    assert "elements" in reason("allgatherv")
    assert reason("allgather") == "None"


IDS_BEFORE = {
    # Printed by the version that knew only allreduce and none of the factors in USUAL.
    ("library:default", "sum", 64): "14115c678742f4f8c7595756f4cf1aa2",
    ("library:default", "max", 4096): "4e7b62ee0dd98976fff43f0b2733c824",
    ("compressed:ring", "sum", 64): "f777cdc20b63e55cfb4a3c51e9aeb9d9",
    ("compressed:ring", "max", 4096): "6a904b0bb58b940ad94018b9fa951b5c",
}


def test_points_that_were_there_before_keep_their_ids(expanded: Any) -> None:
    offer = Offer(OFFER.algorithms, (*OFFER.codecs, Codec("zfp", ("float32",), True, False, "zfp.so", "z")))
    found = expanded(
        "collective: allreduce, algorithm: ['library:default', 'compressed:ring'], codec: zfp, error_bound: rel 1e-3,"
        " message_bytes: [64, 4Ki], ranks: 4, op: [sum, max]",
        offer,
    )
    ids = {(p.factors["algorithm"], p.factors["op"], p.factors["message_bytes"]): p.id for p in found.points}
    assert {place: ids[place] for place in IDS_BEFORE} == IDS_BEFORE


def test_every_new_factor_is_part_of_the_id() -> None:
    point = {"collective": "bcast", "algorithm": "library:default", "message_bytes": 64, "ranks": 2, **USUAL}
    other = {"root": 1, "buffers": "in-place", "call": "nonblocking", "imbalance": "linear", "segment_bytes": 64}
    other |= {"fanout": 3, "sync": "window", "cache": "cold", "alignment": 64, "backend": "mpi4py", "knobs": "eager"}
    other |= {"feedback": 10}
    other |= {"target": "result"}
    assert set(other) == set(USUAL)
    ids = {point_id(point), *(point_id(point | {name: value}) for name, value in other.items())}
    assert len(ids) == len(other) + 1


def test_the_spec_and_the_rest_of_the_house_agree_on_what_is_usual() -> None:
    assert {name: FACTORS[name].default for name in USUAL} == dict(USUAL)


def test_the_seed_of_random_blocks_is_part_of_the_key_of_those_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(imbalance: str) -> str:
        factors = {"collective": "alltoallv", "algorithm": "library:default", "codec": "none", "dataset": "pattern"}
        return point_key("id", factors | {"imbalance": imbalance}, OFFER, {}, {}, Measure(), machine)

    before = {imbalance: key(imbalance) for imbalance in ("linear", "random")}
    monkeypatch.setattr(exchange, "SEED", 2)
    assert key("linear") == before["linear"]
    assert key("random") != before["random"]


def line(**factors: Any) -> dict[str, str]:
    usual = {"collective": "bcast", "algorithm": "reference:tree", "codec": "none", "error_bound": "none"}
    usual |= {"dataset": "pattern", "wrap": "none", "dtype": "float32", "op": "sum"}
    given = {**usual, "message_bytes": 64, "ranks": 4, "nodes": 1, **USUAL, **factors}
    return plan_line("k", "i", given, OFFER, DATASETS, Measure())


def test_the_core_is_told_only_what_is_not_usual() -> None:
    assert not set(line()) & {*USUAL, "imbalance_seed"}
    told = line(
        root=3,
        buffers="in-place",
        call="nonblocking",
        imbalance="random",
        segment_bytes=1024,
        fanout=4,
        sync="window",
        cache="cold",
        alignment=64,
        backend="mpi4py",
        knobs="eager",  # the launcher's
    )
    assert {name: told[name] for name in told if name in (*USUAL, "imbalance_seed")} == {
        "root": "3",
        "buffers": "in-place",
        "call": "nonblocking",
        "imbalance": "random",
        "imbalance_seed": "1",
        "segment_bytes": "1024",
        "fanout": "4",
        "sync": "window",
        "cache": "cold",
        "alignment": "64",
        "backend": "mpi4py",
    }
    assert "imbalance_seed" not in line(imbalance="linear")


def test_bfloat16_is_widened_only_where_the_point_is_of_another_dtype() -> None:
    assert line(dataset="made/parts")["data_dtype"] == "bfloat16"
    assert "data_dtype" not in line(dataset="made/parts", dtype="bfloat16")


def test_an_old_core_offers_allreduce_and_no_abilities() -> None:
    old = {"algorithms": [{"collective": "allreduce", "name": n, "id": i} for i, n in enumerate(["default", "ring"])]}
    assert library_algorithms(old, "openmpi") == [
        Algorithm("allreduce", "library:default", "mpi"),
        Algorithm("allreduce", "library:ring", "mpi"),
    ]


def test_a_core_says_what_the_librarys_algorithms_can() -> None:
    said = [
        {"collective": "allreduce", "name": "default", "id": 0, "segments": False, "fanout": False},
        {"collective": "bcast", "name": "chain", "id": 2, "segments": True, "fanout": True},
        {
            "collective": "allgather",
            "name": "two_proc",
            "id": 6,
            "segments": False,
            "fanout": False,
            "min_ranks": 2,
            "power_of_two": True,
            "in_place": False,
        },
    ]
    assert library_algorithms({"algorithms": said}, "openmpi") == [
        Algorithm("allreduce", "library:default", "mpi", in_place=True),
        Algorithm("allgather", "library:default", "mpi"),
        Algorithm("allgather", "library:two_proc", "mpi", 2, True),
        Algorithm("bcast", "library:default", "mpi", in_place=True),
        Algorithm("bcast", "library:chain", "mpi", in_place=True, segments=True, least_fanout=2),
    ]
    assert [a.name for a in library_algorithms({"algorithms": said}, "none")] == ["library:default"] * 3
