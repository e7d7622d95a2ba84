"""What the doctor is tried on."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty_machines import WHEEL, Prefix, platform_from, program

from collpress.execute import toolchain as toolchain_module
from collpress.plan.machine import Machine, this_machine
from collpress.spec import Platform


@pytest.fixture
def machine() -> Machine:
    return this_machine()


@pytest.fixture
def wheel(gxx: str) -> Platform:
    """The platform of Open MPI's wheel, which `./run` sets up; needs a compiler."""
    return platform_from("wheel")


@pytest.fixture
def prefix(wheel: Platform, tmp_path: Path) -> Prefix:
    folder = tmp_path / "opt é" / "mpi"
    program(folder / "bin" / "mpicxx", f'exec "{WHEEL}/bin/mpicxx" "$@"')
    (folder / "lib").symlink_to(WHEEL / "lib")
    made = Prefix(folder)
    made.launcher(f'exec "{WHEEL}/bin/mpiexec" "$@"')
    return made


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any compiler; programs put into this folder are all that is on its PATH."""
    folder = tmp_path / "bare"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(toolchain_module, "_zig", lambda: None)
    return folder
