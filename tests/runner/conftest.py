"""What the runner is compared with: the core, and the program that tells what ranks send; one build, kept."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import mpi4py
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "native"))
mpi4py.rc.initialize = False  # these tests start MPI in processes of its own

from native_core import NATIVE, Core, cmake_build  # noqa: E402
from runner_process import Runner  # noqa: E402


@pytest.fixture(scope="session")
def core() -> Core:
    build = NATIVE.parent / "results/tests/runner"
    build.mkdir(parents=True, exist_ok=True)
    with (build.parent / "runner.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cmake_build(build, "-DCOLLPRESS_TESTS=ON", targets=("collpress-core", "served-values"))
    return Core(build)


@pytest.fixture(scope="session")
def runner() -> Runner:
    return Runner()
