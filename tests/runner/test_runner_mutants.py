"""Wrong calls are found by the check, and a fault of one rank is told by all: each fault is put in once."""

from __future__ import annotations

from typing import Any

import mutants
import pytest
from native_core import Entry, Outcome, point
from runner_process import MUTANTS, Runner

BEFORE, LAST = "the check before timing", "the last timed iteration"
WRONG = [
    ("never_calls", "allreduce", BEFORE),
    ("calls_once_only", "allreduce", LAST),
    ("calls_once_only", "bcast", LAST),
    ("flips_a_bit_later", "allgather", LAST),
    ("turns_the_result_round", "alltoall", BEFORE),
    ("another_operation", "reduce_scatter", BEFORE),
    ("another_root", "bcast", BEFORE),
    ("one_element_less", "allreduce", BEFORE),
]


def faulty(mutant: str, collective: str = "allreduce", **changes: object) -> Entry:
    number = [one.__name__ for one in mutants.MUTANTS].index(mutant)
    shape = {"message_bytes": 400, "min_iterations": 10, "max_iterations": 10, "imbalance_seed": number}
    return point(collective=collective, **shape | changes)


STALE = faulty("calls_once_only_and_never_poisons")
LACKING = faulty("bind", alignment=mutants.LACKING)
RAISING = faulty("raises_on_rank_0")
HUGE = faulty("bind", message_bytes=mutants.AVAILABLE // 6 + 2)  # for each of 3 ranks, sent and received
RIGHT = faulty("bind")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """All faults in one launch: after each, the next point is measured."""
    entries = [faulty(mutant, collective) for mutant, collective, _ in WRONG]
    entries += [STALE, LACKING, RAISING, HUGE, RIGHT]
    outcome = Runner(str(MUTANTS)).launch(tmp_path_factory.mktemp("mutants"), 3, entries)
    assert outcome.code == 0, outcome.errors
    return outcome


@pytest.mark.parametrize(("mutant", "collective", "where"), WRONG)
def test_a_wrong_call_makes_an_invalid_point(outcome: Outcome, mutant: str, collective: str, where: str) -> None:
    found = outcome.record(faulty(mutant, collective))
    assert found["status"] == "invalid"
    assert f"the result of {where} is wrong in" in found["reason"]
    assert found["n"] == 10, "a wrong result keeps its times"


def test_the_fault_lies_where_the_record_says(outcome: Outcome) -> None:
    found = outcome.record(faulty("flips_a_bit_later", "allgather"))
    assert "wrong in 1 elements over all ranks; the worst: rank 2, element 299: got" in found["reason"]
    assert (found["check"]["worst"]["rank"], found["check"]["worst"]["index"]) == (2, 299)


def test_without_poison_a_stale_result_would_pass(outcome: Outcome) -> None:
    """So it is the poison that finds it."""
    assert outcome.record(STALE)["status"] == "ok"


def test_memory_that_one_rank_lacks_ends_the_point_on_all(outcome: Outcome) -> None:
    found = outcome.record(LACKING)
    assert (found["status"], found["reason"]) == ("out_of_memory", "rank 1: memory could not be allocated")
    assert (found["n"], found["time_s"]) == (0, None)


def test_more_memory_than_the_machine_has_is_not_asked_for(outcome: Outcome) -> None:
    found = outcome.record(HUGE)
    assert found["status"] == "out_of_memory"
    assert found["reason"] == "the buffers of 3 ranks need 1048584 bytes; this machine has 1048576 available"


def test_a_call_that_raises_on_one_rank_fails_on_all(outcome: Outcome) -> None:
    found: dict[str, Any] = outcome.record(RAISING)
    assert (found["status"], found["reason"]) == ("failed", "rank 0: ValueError: not today")


def test_the_same_call_without_a_fault_is_right(outcome: Outcome) -> None:
    assert outcome.record(RIGHT)["status"] == "ok"
