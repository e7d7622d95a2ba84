"""The command and the environment that start the core on its ranks: the mpiexec of Open MPI or MPICH on one machine,
which may be made two hosts, or one with a throttled loopback.

What changes a measurement is part of the plan (`plan.launch`); here is added only what does not. Sessions and shared
memory lie in folders of our own, which a killed launch cannot leave behind for good.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from collpress.codecs.outside import codec_environment
from collpress.errors import CollpressError
from collpress.execute.binding import binding_options
from collpress.execute.hosts import Made
from collpress.execute.loopback import Loopback
from collpress.execute.namespaces import Pair
from collpress.execute.processes import start_time
from collpress.execute.shared_memory import SHARED_MEMORY, remove_unused_segments
from collpress.layout import ROOT
from collpress.metrics.python import PYTHON
from collpress.plan.launch import root_permissions
from collpress.provenance.machine import allowed_cores, allowed_cpus

PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_LONGEST_TMPDIR = 60  # the names of Unix sockets below it must fit into 108 bytes


@dataclass(frozen=True)
class Launcher:
    """How a batch's core is started.

    binding : `core` or `hwthread`: one rank on each; `none`: anywhere, yielding while they wait where ranks share
    processors.
    environment : the batch's own variables, on top of the few that are passed on.
    mpi : whose mpiexec it is, `openmpi` or `mpich`.
    hosts : what was made for the ranks, two hosts or one with a throttled loopback; None: all are on this one.
    """

    mpiexec: Path
    ranks: int
    binding: str
    environment: Mapping[str, str]
    mpi: str = "openmpi"
    hosts: Made | None = None

    def command(self, core: Path, arguments: list[str]) -> list[str]:
        """The whole command line.

        Raises
        ------
        CollpressError : mpiexec or the core is not there, or the ranks cannot be bound as the plan says.
        """
        for program, fix in (
            (self.mpiexec, "collpress build; if Open MPI's wheel is missing: remove .venv and call ./run"),
            (core, "collpress build"),
        ):
            if not os.access(program, os.X_OK):
                raise CollpressError(f"{program.name} was not found", where=str(program), fix=fix)
        room = {"core": allowed_cores(), "hwthread": allowed_cpus()}.get(self.binding, self.ranks)
        if self.ranks > room:
            raise CollpressError(
                f"the plan binds {self.ranks} ranks to a {self.binding} each, but this process may use {room} only",
                fix="take the inventory again with the processors that you want to measure on",
            )
        if isinstance(self.hosts, Pair):
            before, placing = self.hosts.prefix(0), self.hosts.mpiexec_options(self.ranks)
        else:
            before = self.hosts.prefix() if self.hosts else []
            placing = binding_options(self.mpi, self.binding, self.ranks)
        return [*before, str(self.mpiexec), "-n", str(self.ranks), *placing, str(core.absolute()), *arguments]

    def variables(self, session: Session) -> dict[str, str]:
        """The complete environment of a launch."""
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        # The latter two for the runner, and for metrics that are written in Python.
        own = {"TMPDIR": str(session.temporary), "PYTHONPATH": str(ROOT / "workflow"), PYTHON: sys.executable}
        if self.mpi == "openmpi":
            if session.shared_memory is not None:
                for component in ("sm", "vader"):  # of Open MPI 5 and 4.1
                    own[f"OMPI_MCA_btl_{component}_backing_directory"] = str(session.shared_memory)
            own |= root_permissions(made_root=isinstance(self.hosts, Loopback))
        if isinstance(self.hosts, Pair):
            own["PRTE_MCA_plm_ssh_agent"] = str(self.hosts.write_agent(session.temporary, self.mpiexec))
        return {**passed, **own, **codec_environment(), **self.environment}


@dataclass(frozen=True)
class Session:
    """Folders of one sweep: `temporary` has a short name; `shared_memory` is None where the system has none."""

    temporary: Path
    shared_memory: Path | None


@contextmanager
def session() -> Iterator[Session]:
    """Make the folders of a sweep, and remove them afterwards, with those that dead sweeps left.

    MPICH puts its shared memory where it likes: what nobody uses any more is removed by name.
    """
    base = Path(os.environ.get("TMPDIR", "/tmp"))
    if len(str(base)) > _LONGEST_TMPDIR or not os.access(base, os.W_OK):
        base = Path("/tmp")
    roots = [base] + ([SHARED_MEMORY] if os.access(SHARED_MEMORY, os.W_OK) else [])
    folders: list[Path] = []
    try:
        for root in roots:
            _remove_left_over(root)
            folders.append(Path(tempfile.mkdtemp(dir=root, prefix=f"collpress-{os.getpid()}-")))
        yield Session(folders[0], folders[1] if len(folders) > 1 else None)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        remove_unused_segments()


def _remove_left_over(root: Path) -> None:
    for folder in root.glob("collpress-*-*"):
        pid = folder.name.split("-")[1]
        mine = folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.geteuid()
        if mine and pid.isdecimal() and start_time(int(pid)) is None:
            shutil.rmtree(folder, ignore_errors=True)
