"""Where results and shared memory go: room, permission, and whether programs can be started from there."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from collpress.doctor.programs import ask
from collpress.doctor.result import Result, note, ok, problem
from collpress.execute.shared_memory import SHARED_MEMORY
from collpress.layout import RESULTS

ROOM = 1 << 30
"""Bytes that should be free for results: a build and the campaign `quick` take less than a tenth of it, and samples may
take up to 1 GiB a launch."""

SHARED_A_RANK = 16 << 20
"""Bytes of shared memory a rank: what Open MPI 5.0.11 maps for 2 ranks on one node, as seen in /dev/shm."""

LONGEST_TMPDIR = 60


def disk(results: Path = RESULTS, room: int = ROOM) -> Result:
    """Results can be written, their disk has room, and programs can be started from it."""
    check = f"disk of {results}/"
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=results) as folder:
            script = Path(folder) / "probe"
            script.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
            script.chmod(0o755)
            ran = ask([script], seconds=30)
    except OSError as error:
        said = f"cannot be written: {error.strerror or error}"
        return problem(check, said, f"get write permission, or make {results} a link to a folder that is yours")
    if ran.code != 0:
        said = f"programs cannot be started from there: {ran.last_words}"
        return problem(check, said, "the core is built there: use a file system that is not mounted noexec")
    free = shutil.disk_usage(results).free
    if free < room:
        return problem(check, f"{_size(free)} free", f"free some space: less than {_size(room)} may not be enough")
    return ok(check, f"writable, programs run, {_size(free)} free")


def shared_memory(ranks: int, place: Path = SHARED_MEMORY) -> Result:
    """The ranks of a node exchange messages through files here; a full one ends them with a bus error."""
    check, needed = "shared memory", ranks * SHARED_A_RANK
    if not place.is_dir():
        return note(check, f"there is no {place}: Open MPI uses TMPDIR instead, which is slow where that is a disk")
    complaint = _written(place, needed)
    free = shutil.disk_usage(place).free
    if complaint:
        said = f"{place}: {_size(needed)} for {ranks} ranks cannot be written: {complaint} ({_size(free)} free)"
        return problem(check, said, "make it larger (container: --shm-size=1g), or remove what is left there")
    return ok(check, f"{place}: {_size(free)} free")


def temporary(place: Path | None = None) -> Result:
    """Sessions of the launcher lie in TMPDIR, and the names of their sockets are short."""
    check = "temporary folder"
    named = place or Path(os.environ.get("TMPDIR", "/tmp"))
    complaint = _written(named, 1 << 20)
    if complaint:
        fix = "set TMPDIR to a folder that you can write to, on a local disk"
        return problem(check, f"{named}: {complaint}", fix)
    if len(str(named)) > LONGEST_TMPDIR:
        return note(check, f"{named} is too long a name for sockets: launches use /tmp instead")
    return ok(check, f"{named}: writable")


def _written(place: Path, size: int) -> str:
    """Why a file of so many bytes cannot be written there; empty when it can. It is gone at once."""
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
