"""The software: Python and its packages, and the compiler and MPI library of a build."""

from __future__ import annotations

import json
import platform
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from collpress import __version__


def software(build: Path | None = None) -> dict[str, Any]:
    """Versions of everything that this process runs on; `compiler` and `mpi` are `null` without a build."""
    made: dict[str, Any] = {}
    if build is not None and build.is_file():
        made = json.loads(build.read_text(encoding="utf-8"))
    return {
        "collpress": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": dict(_packages()),
        "compiler": made.get("compiler"),
        "mpi": made.get("mpi"),
        "core_sha256": (made.get("core") or {}).get("sha256"),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }


@cache
def _packages() -> tuple[tuple[str, str], ...]:
    """Every installed distribution; the environment does not change while a program runs."""
    return tuple(sorted({(d.metadata["Name"], d.version) for d in distributions() if d.metadata["Name"]}))
