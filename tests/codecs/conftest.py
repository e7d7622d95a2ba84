"""The codecs, each compiled once a session, by whoever wants it first."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from codec_building import NAMES, VARIANTS, VECTORISED, build, skip_without_library

from collpress.codecs import Codec


class Plugins(dict[str, Path]):
    """Plugins by name; `deltapack-portable`, `deltapack-dense-portable` and so on for the variants."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._jobs = {name: (name, folder / "plain", list[str]()) for name in NAMES}
        for codec in ("deltapack", "deltapack-dense"):
            self._jobs |= {f"{codec}-{name}": (codec, folder / name, flags) for name, flags in VARIANTS.items()}
        self._jobs |= {f"{name}-portable": (name, folder / "portable", VARIANTS["portable"]) for name in VECTORISED}

    def __missing__(self, key: str) -> Path:
        name, folder, flags = self._jobs[key]
        folder.mkdir(parents=True, exist_ok=True)
        plugin = folder / f"{name}.so"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the session's other processes wait for it
            self[key] = plugin if plugin.exists() else build(name, folder, flags)
        return plugin


@pytest.fixture(scope="session")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # of all workers
    return Plugins(shared / "codecs")


@pytest.fixture(params=NAMES)
def codec(request: pytest.FixtureRequest, plugins: dict[str, Path]) -> Codec:
    """Each codec in turn."""
    skip_without_library(request.param)
    return Codec(plugins[request.param])


@pytest.fixture(scope="session")
def deltapack(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack"])


@pytest.fixture(scope="session")
def portable(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack-portable"])
