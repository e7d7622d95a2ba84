"""Files that the user has already: an SDRBench directory, a cache of Hugging Face's libraries, any other directory.

What is found there by name, length and checksum is linked or copied into `results/cache/`; nothing there is changed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from collpress.data.wanted import Wanted
from collpress.errors import CollpressError
from collpress.files import atomic, require_room

_DEPTH = 6
"""Directories below the one that was named; `hub/datasets--x--y/snapshots/REVISION/DIRECTORY/FILE` needs four."""


def adopt(wanted: Wanted, target: Path, directories: tuple[Path, ...]) -> bool:
    """Put the file at `target` if one of the directories has it; whether one has.

    Errors
    ------
    CollpressError: no room for a copy, or not writable.
    """
    for path in _candidates(wanted.names, directories):
        if _is_it(path, wanted):
            print(f"{wanted.file}: found {path}", file=sys.stderr, flush=True)
            _link_or_copy(path.resolve(), target)
            return True
    return False


def _is_it(path: Path, wanted: Wanted) -> bool:
    try:
        return wanted.fits(path)
    except (OSError, CollpressError):  # a link to nowhere, or not readable
        return False


def _candidates(names: tuple[str, ...], directories: tuple[Path, ...]) -> Iterator[Path]:
    for directory in directories:
        for name in names:
            yield from _files(directory).get(name, ())


@lru_cache(maxsize=32)
def _files(directory: Path) -> dict[str, list[Path]]:
    """Every file at or below a directory by its name; looked up once, as a campaign may ask for many files."""
    found: dict[str, list[Path]] = {}
    for place, below, names in os.walk(directory):
        if len(Path(place).relative_to(directory).parts) >= _DEPTH:
            below.clear()
        below.sort()
        for name in names:
            found.setdefault(name, []).append(Path(place) / name)
    return found


def _link_or_copy(path: Path, target: Path) -> None:
    """A hard link costs no room; another disk, or a file that is somebody else's, is copied."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.link")
    try:
        temporary.unlink(missing_ok=True)
        os.link(path, temporary)
        temporary.replace(target)
        temporary.unlink(missing_ok=True)  # still there where target was the same file already
    except OSError:
        require_room(target.parent, path.stat().st_size)
        with path.open("rb") as source, atomic(target) as file:
            shutil.copyfileobj(source, file, 1 << 20)
