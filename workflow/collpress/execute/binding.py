"""How an mpiexec is told where its ranks may run."""

from __future__ import annotations

from collpress.provenance.machine import cpus_by_core

OPEN_MPI = {
    "core": ("--map-by", "core", "--bind-to", "core:if-supported"),
    "hwthread": ("--use-hwthread-cpus", "--map-by", "hwthread", "--bind-to", "hwthread:if-supported"),
    "none": ("--map-by", ":oversubscribe", "--bind-to", "none"),
}


def binding_options(mpi: str, binding: str, ranks: int) -> list[str]:
    """Options of mpiexec.

    Parameters
    ----------
    mpi : `openmpi` or `mpich`.
    binding : `core` or `hwthread`: one rank on each, as many of them as there are ranks; `none`: anywhere.
    """
    return list(OPEN_MPI[binding]) if mpi == "openmpi" else ["-bind-to", _hydra(binding, ranks)]


def _hydra(binding: str, ranks: int) -> str:
    """For Hydra, MPICH's launcher: it counts the processors of the machine, not those that we may use, so it is told.

    Commas part the ranks, + the processors of one rank.
    """
    cores = cpus_by_core()
    if binding == "none" or not cores:
        return "none"
    places = cores if binding == "core" else [[cpu] for core in cores for cpu in core]
    return "user:" + ",".join("+".join(map(str, place)) for place in places[:ranks])
