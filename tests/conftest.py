"""What all rooms share: who runs beside whom, a compiler that compiles once, a second MPI."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from required import is_required, skip_unless_required
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from collpress.execute.mpich_wheel import PREFIX, install_mpich
from collpress.layout import ROOT

# Before anything loads numpy: workers whose products take every processor wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Time is measured by bench/, never judged by a test: a busy machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

TESTS = Path(__file__).parent
# Several rooms build the core, each in a folder of its own; CMake passes every compilation through this.
os.environ["CMAKE_CXX_COMPILER_LAUNCHER"] = f"{sys.executable};{TESTS / 'compile_once.py'}"
SHARE_A_BUILD = ("workflow", "setup", "native", "execute", "codecs")
"""Rooms whose tests share what takes long to make."""
LONGEST_FIRST = ("workflow", "setup", "style", "native", "execute", "codecs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST_FIRST.index(room) if (room := room_of(item.nodeid)) in LONGEST_FIRST else 99)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """A worker takes a file of tests at a time, of a room that shares a build the whole room."""
    return Rooms(config, log)


class Rooms(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return room if (room := room_of(nodeid)) in SHARE_A_BUILD else nodeid.partition("::")[0]


def room_of(nodeid: str) -> str:
    """
    >>> room_of("tests/native/test_build.py::test_x[a/b]")
    'native'
    """
    return Path(nodeid.partition("::")[0]).parts[1]


@pytest.fixture(scope="session")
def mpich() -> Path:
    """Prefix of MPICH from its wheel, where it was installed before or COLLPRESS_REQUIRE names mpich."""
    if not (is_required("mpich") or (ROOT / PREFIX / "bin" / "mpiexec").exists()):
        pytest.skip("no MPICH: collpress build --platform mpich installs it, and so does COLLPRESS_REQUIRE=mpich")
    install_mpich()
    return ROOT / PREFIX


@pytest.fixture(scope="session")
def gxx() -> str:
    """Path of g++; skipped where there is none, unless COLLPRESS_REQUIRE names compiler."""
    found = shutil.which("g++")
    if found is None:
        skip_unless_required("compiler", "no g++ on PATH")
    return found
