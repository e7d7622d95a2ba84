"""MPICH from its wheel, under a prefix of its own inside the checkout.

Its programs have the names of Open MPI's, which lie beside this Python, and must never be mixed up with them. So
`collpress build` installs the wheel that envs/mpich.txt pins into `.venv/mpich`, once, and again when the pin changes.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from collpress.errors import CollpressError
from collpress.files import make_directory, sha256_of, unwritable
from collpress.layout import ROOT

PREFIX = Path(".venv/mpich")
"""Relative to the checkout, which may move: nothing in the wheel knows where it lies."""
PINS = Path("envs/mpich.txt")
_STAMP = "collpress-pins"
_UNQUOTED = re.compile(r'(?<!")(?P<before>-I|-L|-s |\. )(?P<path>\$(?:includedir|libdir|sysconfdir\S*))')
_RPATH = "${wrapper_dl_type_flags}"


def pins_digest(root: Path = ROOT) -> str:
    """What the pinned wheel is known by: the sha256 of the list that holds its hash."""
    return sha256_of(root / PINS)


def install_mpich(root: Path = ROOT) -> bool:
    """Install the wheel unless it is there as pinned; False when nothing was to do.

    Two processes may call this at a time: the second waits, and finds the work done.

    Raises
    ------
    CollpressError : pip does not get the wheel (no network, another hash), or nothing can be written there.
    """
    prefix, digest = root / PREFIX, pins_digest(root)
    if _is_installed(prefix, digest):
        return False
    make_directory(prefix.parent)
    try:
        with prefix.with_name("mpich.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_installed(prefix, digest):
                return False
            print(f"installing MPICH's wheel ({PINS}) into {PREFIX} (once)", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix=".mpich-", dir=prefix.parent) as folder:
                new = Path(folder) / "new"
                _pip_install(root / PINS, new)
                for wrapper in ("mpicc", "mpicxx"):
                    _quote_paths(new / "bin" / wrapper)
                (new / _STAMP).write_text(digest, encoding="utf-8")
                if prefix.exists():
                    prefix.rename(Path(folder) / "old")
                new.rename(prefix)
    except OSError as error:
        raise unwritable(prefix, error) from None
    return True


def _is_installed(prefix: Path, digest: str) -> bool:
    stamp = prefix / _STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == digest


def _pip_install(pins: Path, prefix: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-deps", "--ignore-installed"]
    command += ["--only-binary", ":all:", "--require-hashes", "--disable-pip-version-check", "--no-input"]
    command += ["--root-user-action=ignore", "--no-warn-script-location", "--prefix", str(prefix), "-r", str(pins)]
    done = subprocess.run(
        command,
        env={**os.environ, "PIP_USER": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0 or not (prefix / "bin" / "mpicxx").is_file():
        lines = (done.stderr + done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        said = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        raise CollpressError(
            f"MPICH's wheel could not be installed; pip says: {said}",
            where=str(PINS),
            fix="check that pip reaches a package index (pip config list; proxy settings), then run again; "
            "or let the platform name an MPICH that is installed: toolchain: {mpi: mpich, from: /its/prefix}",
        )


def _quote_paths(wrapper: Path) -> None:
    """Let the compiler wrapper work under a prefix with a space: it writes its folders without quotes."""
    text = wrapper.read_text(encoding="utf-8")
    quoted = _UNQUOTED.sub(r'\g<before>"\g<path>"', text)
    quoted = quoted.replace(_RPATH, '-Xlinker -rpath -Xlinker "$libdir" -Xlinker --enable-new-dtags')
    if quoted == text or '-I"$includedir"' not in quoted or '-Xlinker "$libdir"' not in quoted:
        raise CollpressError("this MPICH's compiler wrapper is not the one that is known here", where=str(wrapper))
    wrapper.write_text(quoted, encoding="utf-8")
