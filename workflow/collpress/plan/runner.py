"""The runner in Python as a part of identity: whoever changes it, or what it runs on, measures its points again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from collpress.layout import ROOT
from collpress.spec.factors import Value

SOURCES = Path("workflow/collpress/runner")
_BESIDE = ("workflow/collpress/collectives.py", "workflow/collpress/usual.py")


def is_ours(factors: Mapping[str, Value]) -> bool:
    """Whether the runner measures a point, and not the core."""
    return factors.get("backend", "mpi") == "mpi4py"


@cache
def runner_identity() -> dict[str, str]:
    """Its sources' sha256, and the versions of what it runs on."""
    sources = hashlib.sha256()
    for path in sorted([*(ROOT / SOURCES).glob("*.py"), *(ROOT / name for name in _BESIDE)]):
        content = path.read_bytes()
        sources.update(f"{path.name}\0{len(content)}\0".encode() + content)
    versions = {name: version(name) for name in ("mpi4py", "numpy")}
    return {"sources": sources.hexdigest(), "python": platform.python_version(), **versions}
