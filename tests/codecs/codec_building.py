"""Compiles codecs without CMake and MPI, in the variants that the tests compare."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from required import skip_unless_required

from collpress.codecs.outside import outside_library, outside_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "native" / "src" / "codecs"
NAMES = sorted(source.stem for source in SOURCES.glob("*.cpp"))
VARIANTS = {
    "portable": ["-O2", "-DCOLLPRESS_PORTABLE=1"],  # no vector kernels
    "native": ["-O2", "-march=native"],  # may fuse multiply and add, if the sources let it
    "broken": ["-O1", "-DCOLLPRESS_PORTABLE=1", "-DCOLLPRESS_BROKEN_BOUND=1.1"],  # believes in 1.1 times the bound
}
# Codecs that are compiled twice in themselves, beside deltapack; int4 and sdp4bit are made of what int4-hadamard is.
VECTORISED = ("bf16", "fp16", "fp8", "int4-hadamard", "int8", "sign", "tah-quant")


def skip_without_library(name: str) -> None:
    """End a test of a codec whose outside library is not there: COLLPRESS_REQUIRE names `zfp`, `blosc2`."""
    library = outside_of(name)
    if library is not None and outside_library(name) is None:
        skip_unless_required(library.package.removesuffix("py"), f"the library of {library.package} is not installed")


def compiler() -> list[str]:
    """A C++ compiler: $CXX, a usual name, or the ziglang wheel."""
    named = os.environ.get("CXX")
    if named:
        return named.split()
    for name in ("g++", "clang++", "c++"):
        if shutil.which(name):
            return [name]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "c++"]
    pytest.fail("no C++ compiler: set CXX")


def build(name: str, folder: Path, flags: list[str], sources: Path = SOURCES) -> Path:
    """Compile one codec; returns the plugin."""
    folder.mkdir(parents=True, exist_ok=True)
    plugin = folder / f"{name}.so"
    command = [*compiler(), "-std=c++20", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden"]
    command += [
        *flags,
        f"-I{ROOT / 'native' / 'include'}",
        str(sources / f"{name}.cpp"),
        "-o",
        f"{plugin}.part",
        "-ldl",
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    plugin.with_name(f"{plugin.name}.part").replace(plugin)
    return plugin
