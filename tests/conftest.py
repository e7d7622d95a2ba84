"""One room of the house is one group: it shares a build or a workspace, so two workers must not split it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from collpress.errors import CollpressError
from collpress.execute.mpich_wheel import PREFIX, install_mpich
from collpress.layout import ROOT

# Before anything loads numpy: workers whose products take every processor wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Time is measured by bench/, never judged by a test: a busy machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

TESTS = Path(__file__).parent
LONGEST_FIRST = ("workflow", "setup", "native", "execute", "codecs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_room(item)))
    items.sort(key=lambda item: LONGEST_FIRST.index(room) if (room := _room(item)) in LONGEST_FIRST else 99)


def _room(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0]


@pytest.fixture(scope="session")
def mpich() -> Path:
    """Prefix of MPICH from its wheel; skipped where no index answers, unless COLLPRESS_REQUIRE says that one must."""
    try:
        install_mpich()
    except CollpressError as error:
        if "mpich" in os.environ.get("COLLPRESS_REQUIRE", "").split(","):
            raise
        pytest.skip(f"no MPICH (COLLPRESS_REQUIRE=mpich makes this a failure): {error.what}")
    return ROOT / PREFIX
