"""Stand-ins for mpiexec and the core, and the real ones."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from stand_in_campaign import StandIn

from collpress.execute.build import build_project
from collpress.execute.toolchain import Toolchain, resolve_toolchain
from collpress.layout import ROOT, build_record
from collpress.plan.built import read_build

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


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return resolve_toolchain("wheel", ROOT / build_record("local").parent / "toolchain")


@pytest.fixture(scope="session")
def project(toolchain: Toolchain) -> dict[str, Any]:
    """The project's build of this checkout, up to date."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return read_build(build_project("local", toolchain).record.absolute())
    finally:
        os.chdir(before)
