"""Compiles metrics without CMake and MPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "codecs"))

from codec_building import compiler

NATIVE = Path(__file__).resolve().parents[2] / "native"
SOURCES = [*sorted((NATIVE / "src/metrics").glob("*.cpp"))]


def build(source: Path, folder: Path) -> Path:
    """Compile one metric; returns the plugin."""
    plugin = folder / f"{source.stem}.so"
    command = [*compiler(), "-std=c++20", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden", f"-I{NATIVE / 'include'}", str(source), "-o", str(plugin)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return plugin
