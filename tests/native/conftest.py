"""One build of the core, with the test plugins, kept from run to run."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from native_core import HYDRA, MUTANTS, NATIVE, Core, cmake_build, tool


@pytest.fixture(scope="session")
def core() -> Core:
    """The core, warnings being errors; one build for all workers of a parallel run."""
    build = NATIVE.parent / "results/tests/native"
    build.mkdir(parents=True, exist_ok=True)
    sources = ((NATIVE / "tests/faulty", "*.cpp"), (NATIVE / "tests", "*.c"), (MUTANTS, "*.cpp"))
    plugins = [plugin for folder, pattern in sources for plugin in sorted(folder.glob(pattern))]
    with (build.parent / "native.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cmake_build(
            build,
            "-DCOLLPRESS_WERROR=ON",
            "-DCOLLPRESS_TESTS=ON",
            "-DCMAKE_C_COMPILER=" + tool("mpicc"),
            "-DCOLLPRESS_USER_PLUGINS=" + ";".join(str(plugin) for plugin in plugins),
        )
    return Core(build)


@pytest.fixture(scope="session")
def user(core: Core) -> Path:
    """Folder of the test plugins."""
    return core.build / "user"


@pytest.fixture(scope="session")
def mpich_core(mpich: Path) -> Core:
    """The core, one reference algorithm and the programs that look at the library, built with MPICH's wheel."""
    build = NATIVE.parent / "results/tests/native-mpich"
    build.mkdir(parents=True, exist_ok=True)
    with (build.parent / "native-mpich.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cmake_build(
            build,
            "-DCOLLPRESS_MPI=mpich",
            "-DCOLLPRESS_WERROR=ON",
            "-DCOLLPRESS_TESTS=ON",
            compiler=mpich / "bin/mpicxx",
            targets=(
                "collpress-core",
                "library-fingerprint",
                "library-results",
                "reference_allreduce_ring",
                "reference_allreduce_recursive_doubling",
            ),
            MPICH_CXX="g++",
        )
    return Core(build, (str(mpich / "bin/mpiexec"), *HYDRA))
