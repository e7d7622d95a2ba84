"""Where files may come from: whether a server may be asked, and which directories of the user's may hold them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError

DATA_ROOTS = "_COLLPRESS_DATA_ROOTS"
"""The platform's directories, as the workflow hands them on; by its name no record of an environment has it."""
_OFFLINE = "COLLPRESS_OFFLINE"
_YES, _NO = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


@dataclass(frozen=True)
class Access:
    """`offline`: no server is asked. `directories`: looked through before one is, and never changed."""

    offline: bool = False
    directories: tuple[Path, ...] = ()


def access(
    offline: bool = False, directories: Iterable[Path] = (), environment: Mapping[str, str] = os.environ
) -> Access:
    """What the command line asks for, and what the environment adds to it.

    Parameters
    ----------
    directories : looked through first.
    environment : `COLLPRESS_OFFLINE` (1 or 0), `_COLLPRESS_DATA_ROOTS` and `SDRBENCH_DATA` (directories, separated as
        in PATH), and those that say where Hugging Face's libraries keep what they fetched: `HF_HUB_CACHE`,
        `HUGGINGFACE_HUB_CACHE`, `HF_HOME`.

    Errors
    ------
    CollpressError: a directory of `directories` is not there; `COLLPRESS_OFFLINE` is neither yes nor no.
    """
    named = list(directories)
    for directory in named:
        if not directory.is_dir():
            raise CollpressError("no such directory", where=str(directory), fix="name one that holds the files")
    lists = (environment.get(name, "") for name in (DATA_ROOTS, "SDRBENCH_DATA"))
    told = [Path(part) for text in lists for part in text.split(os.pathsep) if part]
    told += [Path(environment[name]) for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE") if environment.get(name)]
    if environment.get("HF_HOME"):
        told.append(Path(environment["HF_HOME"]) / "hub")
    found = [path.expanduser().absolute() for path in (*named, *told)]
    return Access(offline or _is_offline(environment), tuple(dict.fromkeys(p for p in found if p.is_dir())))


def _is_offline(environment: Mapping[str, str]) -> bool:
    word = environment.get(_OFFLINE, "").strip().lower()
    if word not in _YES | _NO:
        raise CollpressError(f'{_OFFLINE} is "{word}"', where="the environment", allowed="1 or 0")
    return word in _YES
