"""Algorithms that compress, under MPI: within their bound for every codec, and identical where that is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import NATIVE, USUAL_SETTINGS, Core, Entry, Outcome, point

ALGORITHMS = sorted((p.parent.name, p.stem) for p in (NATIVE / "src/compressed").glob("*/*.cpp"))
REDUCING = ("allreduce", "reduce", "reduce_scatter")
ROOTED = ("reduce", "gather", "scatter", "bcast")
ALIKE = ("allreduce", "allgather", "bcast")
COUNT = 1031
VALUES = 40_000
BOUND = 0.01


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Values that no bin, byte or half of a float holds exactly."""
    path = tmp_path_factory.mktemp("field") / "field.bin"
    np.cumsum(np.random.default_rng(7).normal(size=VALUES)).astype("<f4").tofile(path)
    return path


class Codecs:
    """The codecs that algorithms are tried with, and points of theirs."""

    def __init__(self, core: Core, user: Path, field: Path) -> None:
        self.core, self.user, self.field = core, user, field

    def entry(self, collective: str, algorithm: str, codec: str, count: int, **changes: Any) -> Entry:
        plugins = self.core.build / "plugins"
        own = self.user / f"{codec}.so"
        asks: dict[str, Any] = {
            "collective": collective,
            "algorithm": f"compressed:{algorithm}",
            "plugin": plugins / f"compressed/{collective}/{algorithm}.so",
            "codec": codec,
            "codec_plugin": own if own.exists() else plugins / f"codecs/{codec}.so",
            "data": "file",
            "data_path": self.field,
            "data_elements": VALUES,
            "message_bytes": 4 * count,
            "warmup": 0,
            "min_iterations": 1,
            "max_iterations": 1,
            "instrumented": 1,
        }
        if codec in ("deltapack", "deltapack-dense", "codec_adds"):
            asks |= {"bound": "abs", "bound_value": BOUND}
        return point(**{**asks, **USUAL_SETTINGS.get(codec, {}), **changes})


@pytest.fixture(scope="module")
def codecs(core: Core, user: Path, field: Path) -> Codecs:
    return Codecs(core, user, field)


def everything(codecs: Codecs, ranks: int) -> Iterator[Entry]:
    """Each algorithm with a codec that copies, one with a bound, one without; no, few and many elements; in segments
    and with the last rank as root."""
    for collective, algorithm in ALGORITHMS:
        rest: dict[str, Any] = {"root": ranks - 1} if collective in ROOTED else {}
        ops = ("sum", "min") if collective in REDUCING and algorithm != "homomorphic" else ("sum",)
        adding = ("deltapack", "codec_adds")
        lossy = adding if algorithm == "homomorphic" else ("none", "int8", "deltapack-dense", *adding)
        for count in (0, 1, ranks - 1, COUNT):
            yield codecs.entry(collective, algorithm, lossy[0], count, **rest)
        for codec in lossy[1:]:
            for op in ops:
                yield codecs.entry(collective, algorithm, codec, COUNT, op=op, **rest)
        if (collective, algorithm) in {
            ("allreduce", "ring"),
            ("allreduce", "homomorphic"),
            ("bcast", "pipeline"),
            ("reduce", "binomial"),
            ("reduce_scatter", "ring"),
            ("allgather", "ring"),
        }:
            yield codecs.entry(collective, algorithm, lossy[-1], COUNT, segment_bytes=256, **rest)
        if collective not in ("bcast", "scatter"):
            yield codecs.entry(collective, algorithm, lossy[-1], COUNT, buffers="in-place", **rest)


def on_one_machine(entry: Entry) -> bool:
    """Whether nothing is compressed because all ranks share this machine."""
    return entry["algorithm"] == "compressed:hierarchical"


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_algorithm_is_right_within_its_bound_with_every_codec(
    core: Core, codecs: Codecs, tmp_path: Path, ranks: int
) -> None:
    entries = list({entry["key"]: entry for entry in everything(codecs, ranks)}.values())
    outcome = core.launch(tmp_path, ranks, entries)
    assert outcome.code == 0, outcome.errors
    assert [(r["requested"], r["reason"]) for r in outcome.records() if r["status"] != "ok"] == []
    for entry in entries:
        record, check = outcome.record(entry), outcome.record(entry)["check"]
        count = int(entry["message_bytes"]) // 4
        if ranks == 1 or count == 0 or entry["codec"] == "none":
            assert check["max_abs_error"] in (0, None) or check["max_abs_error"] <= check["rounding_bound"]
        elif entry["codec"] == "codec_adds" and count == COUNT and not on_one_machine(entry):
            assert check["max_abs_error"] > BOUND / 100  # something was lost: a bound that nothing tries says nothing
        alone = ranks - (1 if entry["collective"] == "bcast" else 0) < 2
        promised = entry["collective"] in ALIKE and not alone
        assert check["identical"] is (True if promised else None), entry
        assert record["codec"]["steps"] >= 1


class Told:
    """One launch on three ranks whose records the tests below look at."""

    def __init__(self, core: Core, user: Path, codecs: Codecs, folder: Path) -> None:
        adds = "codec_adds"
        self.bounds = {key: codecs.entry(*key, "codec_adds", COUNT, op=op) for op in ("sum",) for key in ALGORITHMS}
        self.largest = {
            key: codecs.entry(*key, "deltapack", COUNT, op="max")
            for key in ALGORITHMS
            if key[0] in REDUCING and key[1] != "homomorphic"
        }
        self.results = {
            key: codecs.entry(*key, adds, COUNT, target="result") for key in ALGORITHMS if key[0] in REDUCING
        }
        self.messages = codecs.entry("allreduce", "ring", adds, COUNT, target="message")
        self.relative = codecs.entry("allreduce", "ring", adds, COUNT, target="result", bound="rel", bound_value="1e-3")
        self.keeps = codecs.entry(
            "allgather", "owner_keeps_block", "deltapack", COUNT, plugin=user / "owner_keeps_block.so"
        )
        self.cannot_add = codecs.entry("allreduce", "homomorphic", "int8", COUNT)
        self.only_sums = codecs.entry("allreduce", "homomorphic", adds, COUNT, op="max")
        self.too_large = codecs.entry("allreduce", "homomorphic", adds, COUNT, bound_value="1e-6")
        self.begins = codecs.entry(
            "allreduce", "ring", "codec_begins", COUNT, warmup=5, min_iterations=9, max_iterations=9, instrumented=3
        )
        self.unasked = codecs.entry("allreduce", "adds_unasked", "none", COUNT, plugin=user / "adds_unasked.so")
        self.refuses = codecs.entry("allgather", "bruck", "codec_refuses", COUNT)
        self.alltoall = codecs.entry("alltoall", "pairwise", "none", COUNT)
        self.bcast = codecs.entry("bcast", "binomial", "none", COUNT, root=1)
        self.many_steps = codecs.entry("bcast", "pipeline", "none", COUNT, segment_bytes=32)
        self.untagged = codecs.entry("allgather", "ring", "none", COUNT, instrumented=0)
        self.library = point(min_iterations=1)
        entries = [
            *self.bounds.values(), *self.largest.values(), *self.results.values(), self.relative, self.messages,
            self.keeps, self.unasked, self.cannot_add, self.only_sums, self.too_large, self.begins, self.refuses,
            self.alltoall,
            self.bcast, self.many_steps, self.untagged, self.library,
        ]  # fmt: skip
        self.outcome: Outcome = core.launch(folder, 3, entries)
        assert self.outcome.code == 0, self.outcome.errors

    def __getitem__(self, entry: Entry) -> dict[str, Any]:
        return self.outcome.record(entry)


@pytest.fixture(scope="module")
def told(core: Core, user: Path, codecs: Codecs, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(core, user, codecs, tmp_path_factory.mktemp("told"))


SUMS = {"allreduce": 3, "reduce": 2, "reduce_scatter": 2}  # compressions on the way to a result of three ranks
MAXIMA = {
    ("allreduce", "ring"): 3, ("allreduce", "hierarchical"): 3, ("allreduce", "one_shot"): 1,
    ("allreduce", "two_shot"): 2, ("allreduce", "recursive_halving"): 3, ("reduce", "binomial"): 2,
    ("reduce_scatter", "ring"): 2, ("reduce_scatter", "pairwise"): 1,
}  # fmt: skip


@pytest.mark.parametrize("key", ALGORITHMS)
def test_a_bound_counts_every_compression_on_the_way_and_no_other(told: Told, key: tuple[str, str]) -> None:
    assert told[told.bounds[key]]["check"]["bound"] == pytest.approx(SUMS.get(key[0], 1) * BOUND)


@pytest.mark.parametrize("key", MAXIMA)
def test_a_maximum_has_the_errors_of_one_way_only(told: Told, key: tuple[str, str]) -> None:
    record = told[told.largest[key]]
    assert record["status"] == "ok", record["reason"]
    assert record["check"]["bound"] == pytest.approx(MAXIMA[key] * BOUND)


@pytest.mark.parametrize("key", [key for key in ALGORITHMS if key[0] in REDUCING])
def test_a_bound_of_the_result_is_divided_among_the_compressions(told: Told, key: tuple[str, str]) -> None:
    record = told[told.results[key]]
    effective, check = record["effective"], record["check"]
    assert effective["asked_bound"] == BOUND
    assert effective["abs_bound"] == pytest.approx(BOUND / SUMS[key[0]])
    assert check["bound"] <= BOUND
    assert check["bound"] == pytest.approx(BOUND)
    assert check["max_abs_error"] <= BOUND + check["rounding_bound"]
    assert check["max_abs_error"] > BOUND / 100 or on_one_machine(told.results[key])


def test_a_relative_bound_of_the_result_is_of_the_range_of_all_ranks_values(told: Told, field: Path) -> None:
    sent = np.fromfile(field, "<f4")[: 3 * COUNT].astype(float)
    effective = told[told.relative]["effective"]
    assert effective["asked_bound"] == pytest.approx(1e-3 * (sent.max() - sent.min()))
    assert effective["abs_bound"] == pytest.approx(effective["asked_bound"] / 3)


def test_a_bound_of_the_message_is_the_codecs(told: Told) -> None:
    effective = told[told.messages]["effective"]
    assert (effective["asked_bound"], effective["abs_bound"]) == (BOUND, BOUND)


def test_an_owner_that_keeps_its_exact_block_is_within_the_bound_but_not_identical(told: Told) -> None:
    record = told[told.keeps]
    assert (record["status"], record["check"]["identical"]) == ("ok", False)


def test_an_algorithm_that_adds_streams_says_what_cannot_be(told: Told) -> None:
    reasons = {
        id(told.cannot_add): "codec int8 cannot add streams, which the algorithm homomorphic needs",
        id(told.only_sums): "algorithm homomorphic adds streams: its operation is sum",
        id(told.too_large): "codec codec_adds cannot add streams of these data without decompressing",
    }
    for entry in (told.cannot_add, told.only_sums, told.too_large):
        assert told[entry]["status"] == "unsupported", told[entry]
        assert reasons[id(entry)] in told[entry]["reason"]


def test_an_algorithm_that_adds_streams_without_a_word_fails(told: Told) -> None:
    record = told[told.unasked]
    assert (record["status"], record["reason"]) == (
        "failed", "the algorithm adds streams and does not say that it needs to",
    )  # fmt: skip


def test_a_codec_learns_of_every_call(told: Told) -> None:
    assert told[told.begins]["status"] == "ok", told[told.begins]["reason"]


def test_a_codec_that_refuses_fails_and_nobody_waits_for_ever(told: Told) -> None:
    assert told[told.refuses]["status"] == "failed"
    assert "codec codec_refuses" in told[told.refuses]["reason"]


def test_bytes_are_told_step_by_step_of_the_rank_that_sends_most(told: Told) -> None:
    block = 4 * COUNT
    assert told[told.alltoall]["codec"]["wire_bytes_by_step"] == [block, block]
    assert told[told.bcast]["codec"] | {"wire_bytes": 0} == {
        "raw_bytes": 0, "compressed_bytes": 0, "ratio": None, "wire_bytes": 0, "steps": 2,
        "wire_bytes_by_step": [block, block],
    }  # fmt: skip
    many = told[told.many_steps]["codec"]
    assert many["steps"] == 129 + 1
    assert many["wire_bytes_by_step"] == [32] * 64  # the first ones
    untagged = told[told.untagged]["codec"]
    assert (untagged["steps"], untagged["wire_bytes_by_step"]) == (None, [])


def test_the_librarys_results_are_compared_too(told: Told) -> None:
    assert told[told.library]["check"]["identical"] is True
    assert told[told.alltoall]["check"]["identical"] is None  # everybody gets something else
