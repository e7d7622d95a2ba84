"""A sweep brings every point to one visible status, whatever the core does."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in_campaign import StandIn, key

from collpress.errors import CollpressError
from collpress.execute.attempt import Attempt
from collpress.execute.core import telling
from collpress.execute.processes import members
from collpress.execute.supervisor import FALSE_STARTS
from collpress.records import Status


def test_every_launch_of_every_point_is_measured_once(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok", "ok", launches=3)
    stand_in.sweep()
    assert stand_in.written() == {(key(n), launch): 1 for n in range(3) for launch in range(3)}
    assert stand_in.statuses() == ["ok"] * 3


def test_the_receipt_tells_what_the_journals_hold(stand_in: StandIn) -> None:
    stand_in.plan("ok", "fail", launches=2)
    swept = stand_in.sweep()
    assert swept.receipt is not None
    receipt = json.loads(swept.receipt.read_text(encoding="utf-8"))
    assert receipt["counts"] == {"ok": 1, "failed": 1}
    assert receipt["records"] == 4
    assert receipt["keys"] == [key(0), key(1)]
    journal = stand_in.own / "journal-1.jsonl"
    assert receipt["journals"] == [{"name": journal.name, "bytes": journal.stat().st_size}]


def test_a_second_sweep_measures_nothing_and_makes_no_attempt(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok")
    stand_in.sweep()
    before = stand_in.written()
    stand_in.sweep()
    assert stand_in.written() == before
    assert [p.name for p in stand_in.own.glob("journal-*")] == ["journal-1.jsonl"]


def test_more_launches_run_only_the_missing_ones(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok", launches=1)
    stand_in.sweep()
    stand_in.plan("ok", "ok", launches=3)
    stand_in.sweep()
    assert stand_in.written() == {(key(n), launch): 1 for n in range(2) for launch in range(3)}


def test_a_point_measured_in_another_batch_is_not_measured_again(stand_in: StandIn) -> None:
    stand_in.plan("ok")
    stand_in.sweep()
    stand_in.own.rename(stand_in.own.with_name("fedcba9876543210"))
    stand_in.sweep()
    assert not list(stand_in.own.glob("journal-*"))


def test_a_crash_is_charged_to_the_open_point_and_the_others_are_untouched(stand_in: StandIn) -> None:
    stand_in.plan("ok", "crash", "ok")
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "crashed", "ok"]
    record = stand_in.journals().records[key(1), 0]
    assert record.by == "supervisor"
    assert record.reason == "killed by SIGSEGV: about to crash"
    assert record.requested == {"algorithm": "reference:crash", "at_most": "0.1"}


def test_what_the_supervisor_writes_itself_is_no_news_to_it(stand_in: StandIn) -> None:
    """Else a crash would be counted twice, and pass for a sign of life of the next start."""
    stand_in.plan("crash")
    attempt = Attempt(stand_in.own)
    attempt.charge(stand_in.batch().points[0], 0, Status.CRASHED, "fell over")
    assert list(attempt.news()) == []


_FRAME = "-" * 74
_IMPROPERLY = f"""{_FRAME}
prterun has exited due to process rank 1 with PID 31896 on node vm exiting
improperly. There are three reasons this could occur:

1. this process did not call "init" before exiting, but others in the
job did.

This may have caused other processes in the application to be
terminated by signals sent by prterun (as reported here).
{_FRAME}
"""


def test_the_launchers_words_hide_nothing_that_the_core_said() -> None:
    said = f"collpress-core: oh\ncollpress-core: oh\n{_FRAME}\nMPI_ABORT was invoked on rank 1\n{_FRAME}\n{_IMPROPERLY}"
    assert telling(said) == ["collpress-core: oh"]


def test_the_launchers_words_are_told_where_the_core_said_nothing() -> None:
    assert telling(_IMPROPERLY) == ["prterun has exited due to process rank 1 exiting improperly"]


def test_two_crashes_of_one_kind_are_told_in_the_same_words() -> None:
    said = "[vm:{0}] *** Process received signal ***\n[vm:{0}] Signal: Segmentation fault (11)\n"
    assert telling(said.format(17)) == telling(said.format(18)) == ["Signal: Segmentation fault (11)"]


def test_a_point_that_crashed_is_not_tried_again_within_the_attempt(stand_in: StandIn) -> None:
    stand_in.plan("crash", "ok", launches=3)
    stand_in.sweep()
    records = stand_in.journals().of(key(0))
    assert [records[launch].status for launch in range(3)] == [Status.CRASHED, Status.NOT_RUN, Status.NOT_RUN]
    assert records[2].reason == "crashed in launch 0 of this attempt"
    assert stand_in.statuses() == ["crashed", "ok"]


def test_the_next_attempt_tries_a_crashed_point_again_and_only_that(stand_in: StandIn) -> None:
    stand_in.plan("crash-once", "ok", launches=2)
    stand_in.sweep()
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "ok"]
    assert stand_in.written(Status.OK) == {(key(n), launch): 1 for n in range(2) for launch in range(2)}


def test_a_line_torn_by_a_crash_does_not_spoil_the_journal(stand_in: StandIn) -> None:
    stand_in.plan("ok", "torn", "ok")
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "crashed", "ok"]
    assert stand_in.journals().torn == []


def test_a_hanging_point_is_killed_and_timed_out(stand_in: StandIn) -> None:
    stand_in.plan("ok", "hang", "ok", stall_s=0.5)
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "timed_out", "ok"]


def test_a_hanging_points_reason_says_where_the_stacks_are(stand_in: StandIn) -> None:
    """Their last lines are the same in all programs, and their addresses differ from start to start."""
    stand_in.plan("hang-told", stall_s=0.5)
    stand_in.sweep()
    reason = stand_in.journals().records[key(0), 0].reason
    assert reason == "no sign of life, killed; where each rank was stands in core-1.log"
    assert "rank 0 is here:" in (stand_in.own / "core-1.log").read_text(encoding="utf-8")


def test_a_core_that_ignores_sigterm_is_killed_all_the_same(stand_in: StandIn) -> None:
    stand_in.plan("hang", stall_s=0.3, environment={"STAND_IN": "busy"})
    stand_in.sweep()
    assert stand_in.statuses() == ["timed_out"]


def test_running_out_of_memory_is_told_from_a_crash(stand_in: StandIn) -> None:
    stand_in.plan("memory", "ok")
    stand_in.sweep()
    assert stand_in.statuses() == ["out_of_memory", "ok"]


def test_a_core_that_leaves_politely_without_a_record_is_still_charged(stand_in: StandIn) -> None:
    stand_in.plan("silent", "ok")
    stand_in.sweep()
    assert stand_in.statuses() == ["crashed", "ok"]


def test_a_plan_line_that_the_core_refuses_costs_that_point_only(stand_in: StandIn) -> None:
    stand_in.plan("ok", "unknown", "ok", launches=2)
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "failed", "ok"]
    assert "no such algorithm; known: ring" in str(stand_in.journals().records[key(1), 0].reason)


def test_a_launch_that_never_begins_is_given_up(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok", launches=4, environment={"STAND_IN": "die"})
    stand_in.sweep()
    assert stand_in.statuses() == ["failed", "failed"]
    assert len(stand_in.written()) == 8
    assert "cannot reach the other ranks" in str(stand_in.journals().records[key(1), 3].reason)
    log = (stand_in.own / "core-1.log").read_text(encoding="utf-8")
    assert log.count("cannot reach") == FALSE_STARTS


def test_a_world_of_the_wrong_size_is_not_tried_twice(stand_in: StandIn) -> None:
    stand_in.plan("ok", environment={"STAND_IN": "size"})
    stand_in.sweep()
    assert stand_in.statuses() == ["failed"]
    assert (stand_in.own / "core-1.log").read_text(encoding="utf-8").count("the world has 1 rank") == 1


def test_a_missing_mpiexec_is_named_in_every_point(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in.plan("ok", "ok", launches=2)
    stand_in.mpiexec.unlink()
    stand_in.sweep()
    assert stand_in.statuses() == ["failed", "failed"]
    assert "mpiexec was not found" in str(stand_in.journals().records[key(1), 1].reason)
    assert "mpiexec was not found" in capsys.readouterr().err


def test_a_killed_mpiexec_costs_one_point(stand_in: StandIn) -> None:
    stand_in.plan("ok", "ok")
    text = stand_in.mpiexec.read_text(encoding="utf-8")
    kill_once = f'if [ ! -e "{stand_in.root}/x" ]; then touch "{stand_in.root}/x"; kill -9 $$; fi'
    stand_in.mpiexec.write_text(text.replace("#!/bin/sh\n", f"#!/bin/sh\n{kill_once}\n"), encoding="utf-8")
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "ok"]


def test_a_results_directory_that_cannot_be_written_is_a_clear_mistake(stand_in: StandIn) -> None:
    stand_in.plan("ok")
    (stand_in.directory / "batches").write_text("in the way", encoding="utf-8")
    with pytest.raises(CollpressError, match="cannot write") as caught:
        stand_in.sweep()
    assert str(stand_in.own) in caught.value.where


def test_sigterm_cancels_what_is_left_and_leaves_no_receipt(stand_in: StandIn) -> None:
    stand_in.plan(*["ok", "hang", "ok"], launches=2)
    process = stand_in.start()
    _wait_for(lambda: stand_in.own.exists() and key(1) in _text(stand_in.own))
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM
    assert stand_in.statuses() == ["cancelled", "cancelled", "cancelled"]
    assert stand_in.written(Status.OK) == {(key(0), 0): 1}
    assert len(stand_in.written()) == 6
    assert not (stand_in.own / "receipt.json").exists()


def test_after_sigkill_of_the_whole_group_a_resume_ends_with_each_launch_once(stand_in: StandIn) -> None:
    stand_in.plan(*["slow"] * 6, launches=2)
    process = stand_in.start()
    _wait_for(lambda: stand_in.own.exists() and _text(stand_in.own).count('"ok"') >= 2)
    core = _session_of_the_core(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)
    _wait_for(lambda: not members(core))
    assert 2 <= len(stand_in.written()) < 12
    assert stand_in.start().wait(timeout=30) == 0
    assert stand_in.written(Status.OK) == {(key(n), launch): 1 for n in range(6) for launch in range(2)}
    assert stand_in.statuses() == ["ok"] * 6


def _text(directory: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in directory.glob("journal-*.jsonl"))


def _session_of_the_core(supervisor: int) -> int:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text(encoding="utf-8").split()
    return int(children[0])


def _wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, "nothing happened within 20 s"
        time.sleep(0.02)
