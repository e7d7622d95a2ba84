"""Who started this process, by what it left in the environment."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time

_OPEN_MPI, _MPICH = "Open MPI", "MPICH"
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def die_with_parent() -> None:
    """A rank whose launcher was killed would wait for the others for ever."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os.kill(os.getpid(), signal.SIGKILL)


def print_stack_on_signal() -> None:
    """On SIGUSR2, which the supervisor sends to ranks that give no sign of life."""
    faulthandler.register(signal.SIGUSR2)


def launcher_rank() -> int:
    """The rank according to the launcher, before MPI is started; 0 without one."""
    for variable in _RANKS:
        if os.environ.get(variable, "").isdecimal():
            return int(os.environ[variable])
    return 0


def tell_once(words: str) -> None:
    """Say what every rank of a launch has found, once.

    A launcher ends all ranks as soon as one ends with an error, and loses what it has not read by then: so the first
    rank leaves time to be read, and the others wait to be ended.
    """
    if launcher_rank() != 0:
        time.sleep(5)
        return
    print(words, file=sys.stderr, flush=True)
    if any(variable in os.environ for variable in _RANKS):
        time.sleep(0.5)


def foreign_launcher(library: str) -> str | None:
    """What is wrong, and how to mend it, when the launcher belongs to another MPI than the library (its own words)."""
    launcher, own = _launcher_kind(), _library_kind(library)
    if launcher is None or own is None or launcher == own:
        return None
    speaks = "PMIx" if launcher == _OPEN_MPI else "PMI-1"
    return (
        f"the launcher is one of {launcher}'s kind (it speaks {speaks}), but mpi4py has loaded {own} ({library}): "
        "every rank would be a world of its own\n  fix: start it with that library's mpiexec, or let mpi4py load the "
        "launcher's (MPI4PY_LIBMPI=/path/to/libmpi.so, MPI4PY_MPIABI=openmpi or mpich)"
    )


def cannot_start(library: str) -> bool:
    """Whether the library would end the process: MPICH does where a launcher speaks PMIx and it was built without."""
    foreign = _library_kind(library) == _MPICH and _launcher_kind() == _OPEN_MPI
    return foreign and not hasattr(ctypes.CDLL(None), "PMIx_Init")


def _launcher_kind() -> str | None:
    """Open MPI's mpiexec speaks PMIx, MPICH's PMI-1; srun may speak either."""
    given = os.environ.keys()
    if given & {"PMIX_RANK", "OMPI_COMM_WORLD_RANK"}:
        return _OPEN_MPI
    return _MPICH if "PMI_RANK" in given and given & {"PMI_FD", "PMI_PORT"} else None


def _library_kind(library: str) -> str | None:
    if library.startswith(_OPEN_MPI):
        return _OPEN_MPI
    return _MPICH if _MPICH in library else None
