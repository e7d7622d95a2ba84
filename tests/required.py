"""Parts that a machine may lack: their tests are skipped there, unless COLLPRESS_REQUIRE names the part (as in CI)."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def is_required(part: str) -> bool:
    """Whether COLLPRESS_REQUIRE=...,part,... is set."""
    return part in os.environ.get("COLLPRESS_REQUIRE", "").split(",")


def skip_unless_required(part: str, reason: str) -> NoReturn:
    """End a test that needs `part`: as skipped, or as failed where it is required."""
    if is_required(part):
        pytest.fail(reason)
    pytest.skip(f"{reason} (COLLPRESS_REQUIRE={part} makes this a failure)")
