"""One run of a campaign on a platform at a time; the dead do not stand in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.execute.lock import Holder, holder, refuse_beside_another_run, run_lock
from collpress.execute.processes import start_time
from collpress.execute.signals import Interruption


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "results" / "campaigns" / "c" / "p"


def leave(directory: Path, left: Holder) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "run.lock"
    path.write_text(json.dumps(asdict(left)), encoding="utf-8")
    return path


def dead() -> Holder:
    """A process that has just ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return replace(Holder.myself(), pid=process.pid)


def test_the_lock_is_there_while_held_and_gone_afterwards(directory: Path, tmp_path: Path) -> None:
    with run_lock(directory, tmp_path):
        held = holder(directory)
        assert held is not None
        assert (held.pid, held.alive()) == (os.getpid(), True)
    assert list(directory.iterdir()) == []


def test_a_live_holder_is_named(directory: Path, tmp_path: Path) -> None:
    with (
        run_lock(directory, tmp_path),
        pytest.raises(CollpressError, match=f"process {os.getpid()} on "),
        run_lock(directory, tmp_path),
    ):
        pass


def test_another_campaign_is_not_in_the_way(directory: Path, tmp_path: Path) -> None:
    with run_lock(directory, tmp_path), run_lock(directory.with_name("q"), tmp_path):
        assert holder(directory) is not None
        assert holder(directory.with_name("q")) is not None


def test_a_dead_holder_is_cleared_with_the_lock_of_its_snakemake(directory: Path, tmp_path: Path) -> None:
    leave(directory, dead())
    snakemake = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    snakemake.parent.mkdir(parents=True)
    snakemake.touch()
    with run_lock(directory, tmp_path):
        assert not snakemake.exists()


def test_snakemakes_lock_stays_where_nobody_of_ours_died(directory: Path, tmp_path: Path) -> None:
    snakemake = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    snakemake.parent.mkdir(parents=True)
    snakemake.touch()
    with run_lock(directory, tmp_path):
        assert snakemake.exists()


def test_snakemakes_lock_stays_while_a_snakemake_is_at_work_here(directory: Path, tmp_path: Path) -> None:
    leave(directory, dead())
    snakemake = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    snakemake.parent.mkdir(parents=True)
    snakemake.touch()
    code = "import sys; print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-S", "-c", code, "snakemake"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with run_lock(directory, tmp_path):
            assert snakemake.exists()
        process.kill()


def test_the_lock_of_another_campaigns_dead_run_frees_snakemake_too(directory: Path, tmp_path: Path) -> None:
    other = leave(directory.parent.parent / "d" / "p", dead())
    snakemake = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    snakemake.parent.mkdir(parents=True)
    snakemake.touch()
    with run_lock(directory, tmp_path):
        assert not snakemake.exists()
        assert not other.exists()


def test_a_pid_that_came_back_is_another_process(directory: Path, tmp_path: Path) -> None:
    leave(directory, replace(Holder.myself(), started="1"))
    with run_lock(directory, tmp_path):
        pass


def test_after_a_reboot_nobody_holds_anything(directory: Path, tmp_path: Path) -> None:
    leave(directory, replace(Holder.myself(), boot="another"))
    with run_lock(directory, tmp_path):
        pass


def test_a_holder_on_another_host_is_believed_to_live(directory: Path, tmp_path: Path) -> None:
    leave(directory, replace(dead(), host="elsewhere"))
    with pytest.raises(CollpressError, match="elsewhere"), run_lock(directory, tmp_path):
        pass


def test_a_damaged_lock_is_named(directory: Path, tmp_path: Path) -> None:
    path = leave(directory, dead())
    path.write_text("{", encoding="utf-8")
    with pytest.raises(CollpressError, match="not a lock") as caught, run_lock(directory, tmp_path):
        pass
    assert caught.value.where == str(path)


def test_a_directory_that_cannot_be_made_is_named(directory: Path, tmp_path: Path) -> None:
    directory.parent.mkdir(parents=True)
    directory.write_text("in the way", encoding="utf-8")
    with pytest.raises(CollpressError, match="cannot write"), run_lock(directory, tmp_path):
        pass


def test_a_sweep_stops_when_the_holder_of_the_runs_lock_dies() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        mine = Holder.myself()
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        with Interruption(replace(mine, pid=process.pid, started=fields[19])) as interruption:
            assert interruption.requested is None
            process.kill()
            process.wait()
            assert interruption.requested is not None


def test_a_step_by_hand_is_refused_beside_a_run_and_allowed_inside_it(directory: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    try:
        leave(directory, replace(Holder.myself(), pid=stranger.pid, started=start_time(stranger.pid)))
        with pytest.raises(CollpressError, match=f"process {stranger.pid}"):
            refuse_beside_another_run(directory)
    finally:
        stranger.kill()
        stranger.wait()
    refuse_beside_another_run(directory)
    leave(directory, replace(Holder.myself(), pid=os.getppid(), started=start_time(os.getppid())))
    refuse_beside_another_run(directory)
