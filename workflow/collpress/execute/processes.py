"""Processes: alive or not, a session killed whole, children that die with their parent, evidence of a full memory."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROC, CGROUP = Path("/proc"), Path("/sys/fs/cgroup")
_PR_SET_PDEATHSIG = 1
_SESSION, _START = 3, 19  # fields of /proc/<pid>/stat, counted from the state that follows the name


def start_time(pid: int) -> str | None:
    """When a process started, in the kernel's own words; None when there is none (a zombie counts as none).

    Together with the pid it names a process for good: pids come back, start times do not.
    """
    fields = _stat(pid)
    if fields is None:
        return str(pid) if not PROC.is_dir() and _answers(pid) else None
    return None if fields[0] in "ZX" else fields[_START]


def dies_with_parent(number: int = signal.SIGTERM) -> Callable[[], None]:
    """For `preexec_fn`: the new process gets this signal when its parent is gone."""
    parent = os.getpid()
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def arrange() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
            if os.getppid() != parent:
                os.kill(os.getpid(), number)

    return arrange


def ancestors() -> list[int]:
    """The processes that this one descends from, the nearest first."""
    found = []
    pid = os.getppid()
    while pid > 0:
        found.append(pid)
        fields = _stat(pid)
        pid = int(fields[1]) if fields else 0
    return found


def members(session: int, mark: str = "") -> list[int]:
    """Living processes of a session; those that left their parent are still in it.

    Parameters
    ----------
    mark : `NAME=value`, a variable that only the processes started in this session have: those that made a session of
        their own, as MPICH's launcher does for each rank, are known by it.
    """
    found = []
    for entry in PROC.iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdecimal() else None
        if fields and fields[0] not in "ZX" and (fields[_SESSION] == str(session) or (mark and _has(entry, mark))):
            found.append(int(entry.name))
    return found


def ask_for_stacks(session: int, program: str, mark: str = "", patience_s: float = 1.0) -> None:
    """Let the processes of a session that run `program` print where they are; its core does so on SIGUSR2."""
    named = [pid for pid in members(session, mark) if _runs(PROC / str(pid), program)]
    for pid in named:
        _send(pid, signal.SIGUSR2)
    if named:
        time.sleep(patience_s)


def end_session(session: int, grace_s: float = 2.0, mark: str = "") -> None:
    """End every process of a session: politely, then by force; returns when none is left. `mark`: as for `members`."""
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        until = time.monotonic() + patience_s
        alive = members(session, mark)
        for pid in alive:
            _send(pid, number)
        while alive and time.monotonic() < until:
            time.sleep(0.02)
            alive = members(session, mark)
        if not alive:
            return


def oom_kills() -> int:
    """How often the kernel has killed for lack of memory, here or in this group; only growth means something."""
    total = 0
    for path in (PROC / "vmstat", CGROUP / "memory.events", CGROUP / "memory" / "memory.oom_control"):
        try:
            words = path.read_text(encoding="utf-8").split()
        except OSError:
            continue
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        total += int(pairs.get("oom_kill", 0))
    return total


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/<pid>/stat from the state on; the name before it may hold spaces and brackets."""
    try:
        return (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _runs(process: Path, program: str) -> bool:
    try:
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip() == program[:15]
    except OSError:
        return False


def _has(process: Path, mark: str) -> bool:
    """Whether a process was started with this variable; of others' processes it is not known."""
    try:
        return os.fsencode(mark) in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
