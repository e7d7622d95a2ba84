"""The file of raw samples of one launch (docs/contracts.md, "Samples")."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mpi4py import MPI

from collpress.runner.timing import Timings

LARGEST_FILE = 1 << 30
"""Beyond this the file takes nothing more, and records carry no samples."""


@dataclass(frozen=True)
class Samples:
    """Where the iterations of a record lie; `file` is a name without folders."""

    file: str
    offset: int
    bytes: int
    sha256: str


class SamplesFile:
    """Only rank 0 opens the file; raises OSError where it cannot."""

    def __init__(self, path: str, mode: str, comm: MPI.Intracomm) -> None:
        self._mode, self._comm, self._path = mode, comm, Path(path)
        self._file = self._path.open("ab", buffering=0) if mode != "none" and comm.rank == 0 else None

    def append(self, timings: Timings) -> Samples | None:
        """Collective: gathers what the mode asks for; None on other ranks than 0, and where nothing was written."""
        if self._mode == "none":
            return None
        values = timings.slowest_ns if self._mode == "summary" else self._of_all_ranks(timings)
        if self._file is None:
            return None
        data, offset = values.astype("<i8").tobytes(), self._file.tell()
        if offset + len(data) > LARGEST_FILE:
            return None
        self._file.write(data)
        return Samples(self._path.name, offset, len(data), hashlib.sha256(data).hexdigest())

    def _of_all_ranks(self, timings: Timings) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        if self._mode == "all":
            own = np.stack([timings.start_ns, timings.end_ns], axis=1)
        else:
            own = timings.end_ns - timings.start_ns
        gathered = np.empty((self._comm.size if self._comm.rank == 0 else 0, *own.shape), np.int64)
        self._comm.Gather(np.ascontiguousarray(own), gathered)
        return gathered
