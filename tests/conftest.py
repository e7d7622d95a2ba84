"""One room of the house is one group: it shares a build or a workspace, so two workers must not split it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

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
