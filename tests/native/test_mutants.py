"""Algorithms that are wrong on purpose: the check under MPI, the recorder without it, or both must catch each one.

Each source of `tests/mutants` says in its first line what is wrong; `right_<collective>` are what they are made from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import MUTANTS, Core, Entry, Outcome, point

COUNT = 101
LONG = 20_001
RANKS = (3, 4)
COLLECTIVES = (
    "allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "scatter", "alltoall", "alltoallv",
    "bcast", "barrier", "pingpong",
)  # fmt: skip
ROOTED = ("reduce", "gather", "scatter", "bcast")
UNEQUAL = ("allgatherv", "alltoallv")
WIDTHS = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}
AT_LAST = "the result of the last timed iteration is wrong"
OUTSIDE = "writes outside of its buffers"


@dataclass(frozen=True)
class Mutant:
    """`told`: a part of the record's reason, with {last} for the last rank; `None` where MPI cannot show it.
    `schedule`: a part of the recorder's fault; `None` where the recorder cannot show it, nor is asked."""

    name: str
    collective: str = "allreduce"
    told: str | None = ""
    schedule: str | None = "has a wrong result"
    asks: dict[str, Any] = field(default_factory=dict)
    data: str | None = None  # of the dtype, beyond small whole numbers

    def entry(self, plugins: Path, files: Path) -> Entry:
        dtype = self.asks.get("dtype", "float32")
        asks: dict[str, Any] = {"collective": self.collective, "warmup": 1, "min_iterations": 3, "max_iterations": 3}
        asks |= {"at_most": 60, "instrumented": 1}
        asks["message_bytes"] = 0 if self.collective == "barrier" else COUNT * WIDTHS[dtype]
        if self.collective in ROOTED:
            asks["root"] = 1
        if self.collective in UNEQUAL:
            asks["imbalance"] = "linear"
        if self.data is not None:
            asks |= {"data": "file", "data_path": files / self.data, "data_elements": COUNT * max(RANKS)}
        plugin = plugins / f"{self.name}.so"
        return point(**{"algorithm": f"reference:{self.name}", "plugin": plugin, **asks, **self.asks})

    def recorded(self, core: Core, plugins: Path, ranks: int) -> dict[str, Any]:
        options: list[object] = ["--root", 1] if self.collective in ROOTED else []
        options += ["--imbalance", "linear"] if self.collective in UNEQUAL else []
        options += ["--segment", 32] if "segment_bytes" in self.asks else []
        options += ["--in-place"] if "buffers" in self.asks else []
        count = 0 if self.collective == "barrier" else COUNT
        return core.schedule(plugins / f"{self.name}.so", ranks, count, *options)


BASES = [Mutant(f"right_{collective}", collective) for collective in COLLECTIVES]
BASES += [Mutant("right_allreduce", asks={"buffers": "in-place"})]
BASES += [Mutant("right_allreduce", asks={"dtype": dtype}, data=f"{dtype}.bin") for dtype in ("int64", "float64")]

WRONG = [
    Mutant("wrong_first_element", told="rank 0, element 0: got "),
    Mutant("wrong_element", told="is wrong in 1 elements over all ranks; the worst: rank 1, element 50: got "),
    Mutant("wrong_last_element", told="rank 2, element 100: got "),
    Mutant("wrong_block"),
    Mutant("contribution_missing"),
    Mutant("contribution_twice"),
    Mutant("wrong_rank", told="the worst: rank {last}, ", schedule="rank {last} has a wrong result"),
    Mutant("makes_nan", told="rank 1, element 33: got nan"),
    Mutant("wrong_sign", told="is wrong in 1 elements over all ranks; the worst: rank 1, "),
    Mutant("sum_for_max", asks={"op": "max"}, schedule=None),
    Mutant("min_for_max", asks={"op": "max"}, schedule=None),
    Mutant("max_for_min", asks={"op": "min"}, schedule=None),
    Mutant("sum_for_prod", asks={"op": "prod"}, schedule=None),
    Mutant("max_for_sum", schedule=None),
    Mutant("narrow_sums", asks={"dtype": "int32"}),
    Mutant("int64_in_32_bits", asks={"dtype": "int64"}, data="int64.bin", schedule=None),
    Mutant("float64_in_float32", asks={"dtype": "float64"}, data="float64.bin", schedule=None),
    Mutant("half_the_bytes", asks={"dtype": "float64"}),
    Mutant("ignores_in_place", asks={"buffers": "in-place"}),
    Mutant("drops_a_segment", asks={"segment_bytes": 128}, schedule="its element 32 is not"),
    Mutant("one_short", told="element 100: got nan", schedule="its element 100 is not"),
    Mutant("one_too_many", told="byte 1 behind the end of its receive buffer: got ", schedule=OUTSIDE),
    Mutant("bcast_one_too_many", "bcast", told="byte 1 behind the end of its receive buffer: got ", schedule=None),
    Mutant("writes_outside", told="rank 2: a call wrote outside of its buffers: ", schedule="rank 2 " + OUTSIDE),
    Mutant("writes_before", told="byte 1 before the beginning of its receive buffer: got 0", schedule=OUTSIDE),
    Mutant("writes_behind_send", told="byte 1 behind the end of its send buffer: got 65", schedule=OUTSIDE),
    Mutant("changes_send_buffer", told="rank 1: a call changed its send buffer: element 0: got ",
           schedule="rank 1 changes its send buffer"),
    Mutant("spoils_sent_last", told="rank 1: a call changed its send buffer: element 3: got ", schedule=None),
    Mutant("wrong_last_iteration", told=AT_LAST, schedule=None),
    Mutant("skips_last_iteration", told=AT_LAST, schedule=None),
    Mutant("works_once", told=AT_LAST, schedule=None),  # the recorder's ranks share the plugin's state
    Mutant("writes_nothing", told="got nan"),
    Mutant("bcast_from_wrong_root", "bcast"),
    Mutant("bcast_misses_a_rank", "bcast", told="the worst: rank 2, "),
    Mutant("flips_a_bit", "bcast", told="is wrong in 1 elements over all ranks; the worst: rank {last}, element 50: "),
    Mutant("reduce_to_wrong_root", "reduce", told="the worst: rank 1, "),
    Mutant("gather_to_wrong_root", "gather", told="the worst: rank 1, "),
    Mutant("scatter_from_wrong_root", "scatter"),
    Mutant("scatter_next_block", "scatter"),
    Mutant("allgather_swaps_blocks", "allgather"),
    Mutant("allgather_without_own", "allgather"),
    Mutant("alltoall_swaps_blocks", "alltoall"),
    Mutant("alltoall_transposed", "alltoall"),
    Mutant("allgatherv_equal_blocks", "allgatherv"),
    Mutant("alltoallv_equal_blocks", "alltoallv"),
    Mutant("reduce_scatter_next_block", "reduce_scatter"),
    Mutant("pingpong_echoes", "pingpong", told="the worst: rank 0, "),
    Mutant("barrier_in_part", "barrier", told=None, schedule="leaves the barrier without knowing that rank"),
    Mutant("barrier_unheard", "barrier", told=None, schedule="without knowing that rank 1 has come"),
]  # fmt: skip


class Launched:
    """All bases and mutants in one launch on so many ranks, and what the recorder says of them."""

    def __init__(self, core: Core, plugins: Path, folder: Path, ranks: int) -> None:
        draw = np.random.default_rng(1)
        draw.integers(2**33, 2**34, COUNT * max(RANKS)).astype("<i8").tofile(folder / "int64.bin")
        draw.normal(size=COUNT * max(RANKS)).astype("<f8").tofile(folder / "float64.bin")
        self.ranks = ranks
        self.entries = [mutant.entry(plugins, folder) for mutant in (*BASES, *WRONG)]
        self.outcome: Outcome = core.launch(folder, ranks, self.entries)
        assert self.outcome.code == 0, self.outcome.errors
        asked = [m for m in (*BASES, *WRONG) if m.schedule is not None and m.data is None]
        self.recorded = {id(mutant): mutant.recorded(core, plugins, ranks) for mutant in asked}
        self.records = {
            id(mutant): self.outcome.record(entry) for mutant, entry in zip((*BASES, *WRONG), self.entries, strict=True)
        }

    def survives(self, mutant: Mutant) -> list[str]:
        """Where it should have been caught and was not, or not for the right reason."""
        missed = []
        if mutant.told is not None:
            record = self.records[id(mutant)]
            is_told = mutant.told.format(last=self.ranks - 1) in (record["reason"] or "")
            if record["status"] != "invalid" or not is_told or not LOCATED.search(record["reason"]):
                missed.append(f"{mutant.name}, {self.ranks} ranks under MPI: {record['status']}, {record['reason']}")
        if mutant.schedule is not None:
            answer = self.recorded[id(mutant)]
            if answer["correct"] or mutant.schedule.format(last=self.ranks - 1) not in answer["fault"]:
                missed.append(f"{mutant.name}, {self.ranks} ranks in the recorder: {answer['fault']}")
        return missed


LOCATED = re.compile(r"rank \d+(, element|: a call).* \d+.*: got \S+, expected \S+")


@pytest.fixture(scope="module")
def launched(core: Core, user: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Launched]:
    return [Launched(core, user, tmp_path_factory.mktemp(f"mutants-{ranks}"), ranks) for ranks in RANKS]


def test_what_the_mutants_are_made_from_is_right(launched: list[Launched]) -> None:
    for launch in launched:
        assert [r["reason"] for base in BASES if (r := launch.records[id(base)])["status"] != "ok"] == []
        answers = [launch.recorded[id(base)] for base in BASES if base.data is None]
        assert [answer for answer in answers if not answer["correct"] or not answer["steps_agree"]] == []


def test_every_mutant_is_caught(launched: list[Launched], capsys: pytest.CaptureFixture[str]) -> None:
    """With the place and the two values where there is one, on every number of ranks."""
    missed = {m.name: [line for launch in launched for line in launch.survives(m)] for m in WRONG}
    survivors = [line for lines in missed.values() for line in lines]
    caught = sum(lines == [] for lines in missed.values())
    with capsys.disabled():
        print(f"\n{caught} of {len(missed)} mutants caught, on {' and '.join(map(str, RANKS))} ranks")
    assert survivors == []


def test_no_mutant_hides_in_the_share_of_another_rank(core: Core, user: Path, tmp_path: Path) -> None:
    """Of a long allreduce each rank computes the exact result of a share only; those of the others are compared."""
    plain = [m for m in WRONG if m.collective == "allreduce" and m.told is not None and not m.asks and m.data is None]
    base, *long = [
        {**m.entry(user, tmp_path), "message_bytes": str(4 * LONG)} for m in (Mutant("right_allreduce"), *plain)
    ]
    outcome = core.launch(tmp_path, 3, [base, *long])
    checked = outcome.record(base)
    assert (checked["status"], checked["check"]["value_range"] > 0) == ("ok", True)
    survivors = [m.name for m, entry in zip(plain, long, strict=True) if outcome.record(entry)["status"] != "invalid"]
    assert (len(plain) >= 15, survivors) == (True, [])
    assert (
        "rank 1, element 10000: got " in outcome.record(long[[m.name for m in plain].index("wrong_element")])["reason"]
    )


def test_no_mutant_is_left_out() -> None:
    assert sorted(path.stem for path in MUTANTS.glob("*.cpp")) == sorted({m.name for m in (*BASES, *WRONG)})


def test_a_wrong_result_keeps_its_times(launched: list[Launched]) -> None:
    for mutant in (m for m in WRONG if m.told is not None):
        record = launched[0].records[id(mutant)]
        assert record["n"] == 3
        assert record["time_s"]["median"] > 0


def test_what_is_no_number_is_no_number_in_the_record(launched: list[Launched]) -> None:
    nan = [m for m in WRONG if m.told is not None and m.told.endswith("got nan")]
    assert {m.name for m in nan} == {"makes_nan", "one_short", "writes_nothing"}
    assert {launched[0].records[id(m)]["check"]["worst"]["got"] for m in nan} == {None}
