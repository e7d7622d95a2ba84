"""Stand-ins for mpiexec and the core."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from stand_in_campaign import StandIn

CORE = Path(__file__).with_name("stand_in_core.py")


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    root = tmp_path / "a folder é"
    for path, text in {
        root / "core dir" / "collpress-core": f'exec {shlex.quote(sys.executable)} -S -E {shlex.quote(str(CORE))} "$@"',
        root / "mpi" / "bin" / "mpiexec": 'while [ "${1#/}" = "$1" ]; do shift; done; exec "$@"',
    }.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    build = {"schema": 1, "platform": "here", "core": None, "compiler": None, "plugins": []}
    build["mpi"] = {"kind": "openmpi", "version": "none", "wrapper": str(root / "mpi" / "bin" / "mpicxx")}
    (root / "build.json").write_text(json.dumps(build), encoding="utf-8")
    return StandIn(root)
