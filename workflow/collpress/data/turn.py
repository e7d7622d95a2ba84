"""Waiting for another process that already fetches the same file.

The turn is a lock of the operating system on a file, so that it ends with its owner, however that ends. One that cannot
be had (a file system without locks, an owner that hangs) is given up after a while, and whoever waited is told so: what
is then written must lie under a name of its own.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_S = 0.1
_PATIENCE_S = 3600.0
_WORD_AFTER_S = 1.0
"""A wait that is longer is told, once."""


@contextmanager
def turn(path: Path, *, patience_s: float = _PATIENCE_S, sleep: Callable[[float], None] = time.sleep) -> Iterator[bool]:
    """Hold a lock on `path` as long as the context lasts; its value says whether the lock was had within `patience_s`.

    Threads of one process wait for each other, too.
    """
    handle, waited = None, 0.0
    while waited <= patience_s:
        try:
            handle = _locked(path)
            break
        except BlockingIOError:
            if waited < _WORD_AFTER_S <= waited + _POLL_S:
                print(f"waiting for another process that holds {path}", file=sys.stderr, flush=True)
            sleep(_POLL_S)
            waited += _POLL_S
        except OSError:
            break
    try:
        yield handle is not None
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # still locked: whoever opened it meanwhile finds that it is no longer there
            os.close(handle)


def _locked(path: Path) -> int:
    """A handle on the lock file with its lock; raises BlockingIOError while another has it."""
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its owner removed it between the two calls: lock the one that is there now


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
