"""The state of the sources, as git sees it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any


def git_state(root: Path) -> dict[str, Any] | None:
    """Commit, whether the tree differs from it, and a hash of the difference; `null` without git or a repository.

    `commit` is `null` before the first commit. `diff_sha256` covers tracked files and the contents of untracked ones
    that are not ignored; it is `null` for a clean tree.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top.decode("utf-8", "surrogateescape").strip()).resolve() != root.resolve():
        return None
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    status = _git(root, "status", "--porcelain", "--untracked-files=normal")
    dirty = bool(status)
    return {
        "commit": commit.decode().strip() if commit else None,
        "dirty": dirty,
        "diff_sha256": _difference(root, commit is not None) if dirty else None,
    }


def _difference(root: Path, has_commit: bool) -> str:
    digest = hashlib.sha256()
    digest.update(_git(root, "diff", "--no-ext-diff", "--binary", "HEAD" if has_commit else "--cached") or b"")
    untracked = (_git(root, "ls-files", "--others", "--exclude-standard", "-z") or b"").split(b"\0")
    for name in sorted(filter(None, untracked)):
        path = root / os.fsdecode(name)
        digest.update(name + b"\0")
        if path.is_file() and not path.is_symlink():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _git(root: Path, *arguments: str) -> bytes | None:
    """What git printed, or None where git is missing or says no."""
    command = ["git", "-c", f"safe.directory={root}", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"})
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
