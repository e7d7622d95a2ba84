"""One run of CMake and Ninja, with compiler errors in words that a person can act on."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.toolchain import Toolchain
from collpress.plan.built import wheel_program
from collpress.provenance.machine import allowed_cpus

MOST_JOBS = 4
_ERROR = re.compile(r"^(?P<place>[^\s:][^:]*:\d+)(?::\d+)?:\s*(?:fatal )?error:\s*(?P<what>.+)$", re.MULTILINE)
_LINKER = re.compile(
    r"^.*(?:undefined reference|undefined symbol|cannot find -l|ld(?:\.lld)?: error:).*$", re.MULTILINE
)
_CMAKE = re.compile(r"^CMake Error at (?P<place>[^\s(]+:\d+)[^\n]*:\n\s*(?P<what>.+(?:\n  +\S.*)*)", re.MULTILINE)


class Compilation:
    """A build folder for one source folder and one toolchain; begun anew when either is another than before."""

    def __init__(self, source: Path, folder: Path, toolchain: Toolchain) -> None:
        self.source, self.folder, self.toolchain = source.absolute(), folder.absolute(), toolchain
        self._environment = {**os.environ, **toolchain.environment}

    def run(self, user_plugins: Sequence[Path]) -> None:
        """Configure and compile: everything, or only a user's plugins where some are given."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        # Two builds of one folder at a time would pull it away under each other.
        with self.folder.with_name(f"{self.folder.name}.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._build(user_plugins)

    def _build(self, user_plugins: Sequence[Path]) -> None:
        self._begin_anew_if_foreign()
        cmake = [_program("cmake"), "-S", str(self.source), "-B", str(self.folder), "-G", "Ninja"]
        cmake += [f"-DCMAKE_CXX_COMPILER={self.toolchain.wrapper_path}", f"-DCMAKE_MAKE_PROGRAM={_program('ninja')}"]
        cmake += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-Wno-dev"]
        cmake += [f"-DCOLLPRESS_MPI={self.toolchain.mpi}"]
        if user_plugins:
            listed = ";".join(str(path).replace(";", r"\;") for path in user_plugins)
            cmake += [f"-DCOLLPRESS_USER_PLUGINS={listed}", "-DCOLLPRESS_ONLY_USER_PLUGINS=ON"]
            if self.toolchain.c_compiler:
                cmake += [f"-DCMAKE_C_COMPILER={self.toolchain.c_compiler}"]
        self._call(cmake)
        self._call([_program("ninja"), "-C", str(self.folder), "-j", str(min(MOST_JOBS, allowed_cpus())), "--quiet"])

    def flags(self) -> str:
        """The options that the compiler was given, without names of files and folders."""
        commands = json.loads((self.folder / "compile_commands.json").read_text(encoding="utf-8"))
        chosen = next((c for c in commands if "/src/core/" in c["file"]), commands[0])
        return " ".join(_options(shlex.split(chosen["command"])[1:]))

    def _begin_anew_if_foreign(self) -> None:
        stamp = self.folder / "toolchain.json"
        now = {"source": str(self.source), "folder": str(self.folder), "wrapper": str(self.toolchain.wrapper_path)}
        now |= {"compiler": self.toolchain.compiler.command, "version": self.toolchain.compiler.version}
        text = json.dumps(now, indent=1, ensure_ascii=False)
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != text:
            shutil.rmtree(self.folder, ignore_errors=True)
            try:
                self.folder.mkdir(parents=True)
                stamp.write_text(text, encoding="utf-8")
            except OSError as error:
                raise CollpressError(f"cannot write: {error.strerror}", where=str(self.folder)) from None

    def _call(self, command: list[str]) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", errors="replace", env=self._environment
        )
        if done.returncode != 0:
            raise compiler_error(done.stdout + done.stderr, self.folder)


def compiler_error(output: str, folder: Path) -> CollpressError:
    """The first errors in what CMake, Ninja, a compiler or a linker said."""
    errors = list(_ERROR.finditer(output))
    if errors:
        place, what = errors[0]["place"], errors[0]["what"]
        path, _, line = place.rpartition(":")
        resolved = (folder / path).resolve()
        more = [f"{e['place'].rpartition('/')[2]}: {e['what']}" for e in errors[1:4]]
        return CollpressError(
            "\n    ".join([f"compiler error: {what}", *more]), where=f"{resolved}:{line}", fix="correct the source"
        )
    cmake = _CMAKE.search(output)
    if cmake:
        return CollpressError(" ".join(cmake["what"].split()), where=cmake["place"])
    linker = _LINKER.findall(output)
    lines = linker or output.strip().splitlines()[-5:]
    what = "linker error" if linker else "the build failed"
    return CollpressError("\n    ".join([what, *(line.strip() for line in lines[:4])]), where=str(folder))


def _options(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word in {"-o", "-c", "-MF", "-MT", "-MQ", "-I", "-isystem"}:
            skip = not skip
        elif not word.startswith(("-I", "-M", "-ffile-prefix-map=")) and word.startswith("-"):
            kept.append(word)
    return kept


def _program(name: str) -> str:
    """CMake or Ninja: the wheel's beside this Python, or one on PATH."""
    beside = wheel_program(name)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise CollpressError(f"{name} was not found", where=str(beside), fix="./run sets it up")
    return found
