"""Waiting for another process that already fetches the same file: a courtesy that saves a download, never a promise.

Files appear by `os.replace` from names of their own, so two writers do no harm. A turn that cannot be had (an owner
that hangs, a file system that refuses) is therefore given up after a while instead of blocking.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL_S = 0.1
_STALE_S = 3600.0


@contextmanager
def turn(path: Path, *, patience_s: float = 300.0, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Hold `path` as a lock file while the context lasts; waits for its owner, but not longer than `patience_s`."""
    me = f"{socket.gethostname()} {os.getpid()}"
    mine = False
    for _ in range(max(1, int(patience_s / _POLL_S))):
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(me)
            mine = True
            break
        except FileExistsError:
            if _abandoned(path):
                path.unlink(missing_ok=True)
            else:
                sleep(_POLL_S)
        except OSError:
            break
    try:
        yield
    finally:
        if mine:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _abandoned(path: Path) -> bool:
    """Whether the owner was a process of this machine that is gone, or took its turn too long ago to be still there."""
    try:
        if time.time() - path.stat().st_mtime > _STALE_S:
            return True
        host, _, pid = path.read_text(encoding="utf-8").rpartition(" ")
        if host != socket.gethostname():
            return False
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False
    return False
