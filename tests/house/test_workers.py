"""Tests that share a build run on one worker: else each worker would make it again."""

from __future__ import annotations

import os

import pytest


def test_the_groups_of_tests_reach_the_scheduler(request: pytest.FixtureRequest) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one worker (-n0) has no groups")
    assert request.node.nodeid.endswith("@test_workers.py")
