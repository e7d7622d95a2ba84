"""The core and the program that tells what ranks send: what the runner is compared with; one build, kept."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "native"))

from native_core import NATIVE, Core, cmake_build


@pytest.fixture(scope="session")
def core() -> Core:
    build = NATIVE.parent / "results/tests/runner"
    build.mkdir(parents=True, exist_ok=True)
    with (build.parent / "runner.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cmake_build(build, "-DCOLLPRESS_TESTS=ON", targets=("collpress-core", "served-values"))
    return Core(build)
