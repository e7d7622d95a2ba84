"""What ran where: observed from the running system, never declared."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from collpress.layout import ROOT
from collpress.provenance.environment import environment
from collpress.provenance.git import git_state
from collpress.provenance.machine import machine
from collpress.provenance.software import software

__all__ = ["environment", "git_state", "machine", "observe", "software"]


def observe(build: Path | None = None, root: Path = ROOT) -> dict[str, Any]:
    """All that can be observed here and now, ready for `json.dump`.

    Parameters
    ----------
    build : a build.json, whose compiler and MPI library are quoted.
    root : the checkout, for the state of its sources.
    """
    return {
        "schema": 1,
        "utc": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "host": platform.node(),
        "machine": machine(),
        "software": software(build),
        "git": git_state(root),
        "environment": environment(),
    }
