"""The lock of one campaign on one platform: who holds it, by host, process and the moment the process started.

A dead holder's lock is cleared, and with it the lock that Snakemake leaves when it is killed. No file locks: shared
file systems do not keep them reliably.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.attempt import now
from collpress.execute.processes import PROC, ancestors, start_time
from collpress.files import unwritable

NAME = "run.lock"


@dataclass(frozen=True)
class Holder:
    """A process of one host; `started` tells it from a later one with the same pid, `boot` from one before a reboot."""

    host: str
    pid: int
    started: str | None
    boot: str | None
    utc: str

    @classmethod
    def myself(cls) -> Holder:
        return cls(platform.node(), os.getpid(), start_time(os.getpid()), _boot(), now())

    def alive(self) -> bool:
        """Whether it still runs; one on another host is believed to."""
        if self.host != platform.node():
            return True
        return self.boot == _boot() and start_time(self.pid) == self.started


@contextmanager
def run_lock(
    directory: Path, root: Path = Path(), what: str = "this campaign is at work on this platform already"
) -> Iterator[None]:
    """Hold the lock of `results/campaigns/<campaign>/<platform>` (or another folder) as long as the context lasts.

    Parameters
    ----------
    root : the checkout, where Snakemake keeps its own locks.
    what : what to say when somebody else holds it.

    Raises
    ------
    CollpressError : somebody alive holds it (named), or it cannot be written.
    """
    path = directory / NAME
    me = Holder.myself()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _clear_dead(root / "results" / "campaigns", path, root)
        _take(path, me, what)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield
    finally:
        if holder(directory) == me:
            path.unlink(missing_ok=True)


def holder(directory: Path) -> Holder | None:
    """Who holds the lock, dead or alive; None when nobody does."""
    return _read(directory / NAME)


def refuse_beside_another_run(directory: Path) -> None:
    """For a step that is called by hand: CollpressError when a run of this host, not one of its ancestors, is at work.

    A run on another host is the one that submitted the step to this one.
    """
    other = holder(directory)
    if other and other.host == platform.node() and other.alive() and other.pid not in ancestors():
        raise _at_work(directory / NAME, other, "this campaign is at work on this platform already")


def _take(path: Path, me: Holder, what: str) -> None:
    """Create the lock with its content in one step: a link fails where the file exists already."""
    draft = path.with_name(f".{NAME}.{me.host}.{me.pid}")
    draft.write_text(json.dumps(asdict(me)) + "\n", encoding="utf-8")
    try:
        os.link(draft, path)
    except FileExistsError:
        raise _at_work(path, _read(path), what) from None
    finally:
        draft.unlink(missing_ok=True)


def _at_work(path: Path, other: Holder | None, what: str) -> CollpressError:
    who = f"process {other.pid} on {other.host}, since {other.utc}" if other else "somebody"
    return CollpressError(
        f"{what}: {who}",
        where=str(path),
        fix="wait for it or stop it; if that host is gone for good, remove the file",
    )


def _clear_dead(campaigns: Path, path: Path, root: Path) -> None:
    """Remove locks whose holders died; then Snakemake's, for a killed Snakemake cannot remove it itself."""
    cleared = [lock for lock in {path, *campaigns.glob(f"*/*/{NAME}")} if _clear(lock)]
    locks = root / ".snakemake" / "locks"
    if cleared and locks.is_dir() and not _snakemake_at_work(root):
        for lock in locks.iterdir():
            lock.unlink(missing_ok=True)


def _clear(path: Path) -> bool:
    """Remove one lock of a dead holder; by renaming first, so that of two who see it only one removes it."""
    seen = _read(path)
    if seen is None or seen.alive():
        return False
    aside = path.with_name(f".{NAME}.dead.{platform.node()}.{os.getpid()}")
    with suppress(FileNotFoundError):
        path.rename(aside)
        if _read(aside) != seen:
            with suppress(FileExistsError):
                os.link(aside, path)
        aside.unlink()
        return True
    return False


def _read(path: Path) -> Holder | None:
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError) as error:
        raise CollpressError(f"not a lock: {error}", where=str(path), fix="remove the file") from None


def _snakemake_at_work(root: Path) -> bool:
    """Whether a Snakemake of this host works in the checkout."""
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            here = (entry / "cwd").samefile(root)
        except OSError:
            continue
        if here and any(word == b"snakemake" or word.endswith(b"/snakemake") for word in words):
            return True
    return False


def _boot() -> str | None:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
