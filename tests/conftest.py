"""What all rooms share: who runs beside whom, a compiler that compiles once, a second MPI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from collpress.execute.mpich_wheel import PREFIX, install_mpich
from collpress.layout import ROOT

# Time is measured by bench/, never judged by a test: a busy machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

TESTS = Path(__file__).parent
# Several rooms build the core, each in a folder of its own; CMake passes every compilation through this.
os.environ["CMAKE_CXX_COMPILER_LAUNCHER"] = f"{sys.executable};{TESTS / 'compile_once.py'}"
SHARE_A_BUILD = ("workflow", "setup", "native", "execute", "codecs")
"""Rooms whose tests share what takes long to make; the longest first."""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = room if (room := _room(item)) in SHARE_A_BUILD else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: SHARE_A_BUILD.index(room) if (room := _room(item)) in SHARE_A_BUILD else 99)


def _room(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0]


@pytest.fixture(scope="session")
def mpich() -> Path:
    """Prefix of MPICH from its wheel, where it was installed before or COLLPRESS_REQUIRE asks for it."""
    required = "mpich" in os.environ.get("COLLPRESS_REQUIRE", "").split(",")
    if not required and not (ROOT / PREFIX / "bin" / "mpiexec").exists():
        pytest.skip("no MPICH: collpress build --platform mpich installs it, and so does COLLPRESS_REQUIRE=mpich")
    install_mpich()
    return ROOT / PREFIX
