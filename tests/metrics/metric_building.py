"""Compiles metrics without CMake and MPI."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "codecs"))

from codec_building import compiler

NATIVE = Path(__file__).resolve().parents[2] / "native"
SOURCES = [*sorted((NATIVE / "src/metrics").glob("*.cpp"))]


KEPT = NATIVE.parent / "results/tests/metrics"
"""What was compiled, by the hash of all that it is made of; kept from run to run."""


def build(source: Path, folder: Path) -> Path:
    """Compile one metric, unless that was done before; returns the plugin in `folder`."""
    command = [*compiler(), "-std=c++20", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden", f"-I{NATIVE / 'include'}", str(source)]
    kept = KEPT / _made_of(source, command) / f"{source.stem}.so"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as aside:
            made = Path(aside) / kept.name
            done = subprocess.run(
                [*command, "-o", str(made)], capture_output=True, encoding="utf-8", errors="replace", check=False
            )
            assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
            made.replace(kept)  # whole or not at all, whoever else compiles it now
    return Path(shutil.copy(kept, folder))


def _made_of(source: Path, command: list[str]) -> str:
    """Hash of the command, the compiler's version, the source, and every header that it may include."""
    headers = sorted([*(NATIVE / "include").rglob("*.h*"), *source.parent.glob("*.h*")])
    version = subprocess.run([*compiler(), "--version"], capture_output=True, check=True).stdout
    parts = [repr(command).encode("utf-8"), version, *(path.read_bytes() for path in (source, *headers))]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:32]
