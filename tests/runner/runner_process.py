"""The runner for tests: started on plans as the native core is, its journal read as strictly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from native_core import OPEN_MPI, Core, environment, tool

from collpress.layout import ROOT


class Runner(Core):
    """`python -m collpress.runner`, or a script that ends in it, under Open MPI's mpiexec."""

    def __init__(self, *script: str) -> None:
        super().__init__(ROOT)
        self.script = script or ("-m", "collpress.runner")

    def program_on_ranks(
        self, ranks: int, program: str, *arguments: object, wrapper: tuple[str, ...] = (), **extra: str
    ) -> subprocess.CompletedProcess[str]:
        command = [tool("mpiexec"), *OPEN_MPI, "-n", str(ranks), *wrapper, sys.executable, *self.script]
        command += map(str, arguments)
        return subprocess.run(
            command,
            env=environment(PYTHONPATH=str(ROOT / "workflow"), **extra),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )


MUTANTS = Path(__file__).parent / "mutants.py"
