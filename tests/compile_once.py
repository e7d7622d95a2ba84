"""A compiler launcher for the tests: what was compiled before, in whatever folder, is copied instead of compiled again.

    compile_once.py COMPILER ARGUMENT...

Several rooms build the same core in folders of their own. Where `-c` compiles one source, the object is kept by the
hash of all that it depends on: the preprocessed text, the options, the compiler. Only what compiled without a word is
kept, so that options about warnings need not be told apart. All other calls go to the compiler as they are.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parents[1] / "results" / "tests" / "objects"
NAMES_PLACES = ("-I", "-M", "-ffile-prefix-map=")  # the preprocessed text has what they lead to
ONLY_WORDS = ("-Werror", "-Wall", "-Wextra")
WITH_A_PLACE = ("-o", "-MF", "-MT", "-MQ", "-isystem", "-I")


def main(command: list[str]) -> int:
    if "-c" not in command or "-o" not in command:
        return subprocess.run(command, check=False).returncode
    target = Path(command[command.index("-o") + 1])
    text = _preprocessed(command)
    if text is None:  # the compiler says better what is wrong
        return subprocess.run(command, check=False).returncode
    kept = KEPT / f"{_made_of(command, text)}.o"
    KEPT.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who wants the same object now waits for it
        if kept.is_file():
            shutil.copyfile(kept, target)
            return 0
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE)
        sys.stderr.buffer.write(done.stderr)
        if done.returncode == 0 and not done.stderr:
            _keep(target, kept)
        return done.returncode


def _preprocessed(command: list[str]) -> bytes | None:
    """The source with all that it includes, without the places that it came from; writes the file of dependencies."""
    words = list(command)
    place = words.index("-o")
    del words[place : place + 2]
    words[words.index("-c")] = "-E"
    done = subprocess.run([*words, "-P"], check=False, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def _made_of(command: list[str], text: bytes) -> str:
    """Hash of the preprocessed text, the options that bear on the object, and the compiler's version."""
    compiler, *words = command
    options = []
    place = False
    for word in words:
        if place:
            place = False
        elif word in WITH_A_PLACE:
            place = True
        elif word.startswith("-") and not word.startswith(NAMES_PLACES) and word not in ONLY_WORDS:
            options.append(word)
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True).stdout
    version = version.partition(b" ")[2]  # it begins with the name that it was called by: g++ and c++ are one program
    parts = [text, "\0".join(options).encode(), version]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _keep(made: Path, kept: Path) -> None:
    """Whole or not at all, also if the test is killed."""
    handle, aside = tempfile.mkstemp(dir=KEPT)
    os.close(handle)
    shutil.copyfile(made, aside)
    Path(aside).replace(kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
