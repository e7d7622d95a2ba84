"""Shared memory that a killed MPI program left behind.

Open MPI is told to use a folder of ours. MPICH makes files of fixed names in /dev/shm and removes them when it ends
well; one is removed here when no living process has it open or mapped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
PROC = Path("/proc")
_PATTERNS = ("mpich_shm_*", "mpich_shar_tmp*")


def remove_unused_segments(folder: Path = SHARED_MEMORY) -> None:
    """Remove MPICH's files in `folder` that belong to this user and that no process uses."""
    # First the files, then who uses them: one that appears meanwhile is not looked at.
    files = [path for pattern in _PATTERNS for path in folder.glob(pattern) if _is_mine(path)]
    used = _used(folder) if files else set()
    for path in files:
        if str(path) not in used:
            with suppress(OSError):
                path.unlink()


def _is_mine(path: Path) -> bool:
    with suppress(OSError):
        return path.stat().st_uid == os.geteuid()
    return False


def _used(folder: Path) -> set[str]:
    """Names of the files in `folder` that some process has open or mapped; of others' processes nothing is seen."""
    return {
        name
        for entry in PROC.iterdir()
        if entry.name.isdecimal()
        for name in _names(entry)
        if name.startswith(f"{folder}/")
    }


def _names(process: Path) -> Iterator[str]:
    with suppress(OSError):
        for line in (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines():
            yield line.partition("/")[1] + line.partition("/")[2]
    with suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                yield str(descriptor.readlink())
