"""A PP file, a wheel that carries it, a registry of one small dataset from it and a generated one; a web server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from handmade import World, make_wheel, pp_field
from webserver import WebServer

from collpress.data import transfer


@pytest.fixture
def grids() -> np.ndarray:
    """2 times x 3 levels x 4 x 5."""
    return np.random.Generator(np.random.Philox(3)).normal(280.0, 5.0, (2, 3, 4, 5)).astype(np.float32)


@pytest.fixture
def pp_bytes(grids: np.ndarray) -> bytes:
    """`grids` as STASH 4 and twice its values as STASH 408, field by field."""
    steps = [(t, level) for t in range(2) for level in range(3)]
    return b"".join(
        pp_field(grids[t, level], minute=10 * t, level=level + 1)
        + pp_field(2 * grids[t, level], stash=408, minute=10 * t, level=level + 1)
        for t, level in steps
    )


@pytest.fixture
def world(tmp_path: Path, grids: np.ndarray, pp_bytes: bytes, monkeypatch: pytest.MonkeyPatch) -> World:
    """A tiny registry; pip sees an empty local folder and no network. The paths hold a space and an accent."""
    home = tmp_path / "a café"
    home.mkdir()
    wheel = make_wheel(home / "made.whl", "tiny_fields/tiny.pp", pp_bytes)
    world = World(home / "datasets.yaml", home / "results", home / "index", wheel)
    world.index.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", world.index.as_uri())
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    source = {
        "package": "tiny-fields",
        "version": "1.0",
        "file": world.cached.name,
        "bytes": len(wheel),
        "sha256": hashlib.sha256(wheel).hexdigest(),
        "member": "tiny_fields/tiny.pp",
        "member_bytes": len(pp_bytes),
        "member_sha256": hashlib.sha256(pp_bytes).hexdigest(),
        "pp": {"stash": 4},
    }
    shared = {"dtype": "float32", "licence": "free", "citation": "nobody"}
    world.document = {
        "schema": 1,
        "datasets": {
            "tiny/theta": {
                **shared,
                "title": "Tiny",
                "units": "K",
                "pypi": source,
                "shape": [2, 3, 4, 5],
                "sha256": hashlib.sha256(grids.astype("<f4").tobytes()).hexdigest(),
            },
            "tiny/normal": {
                **shared,
                "title": "Noise",
                "units": "1",
                "generator": {"name": "normal", "seed": 11},
                "shape": [3, 1000],
                "sha256": "7" * 64,
            },
        },
    }
    world.rewrite()
    return world


@pytest.fixture
def rewheel(world: World, tmp_path: Path) -> Callable[..., None]:
    """Replace the wheel, and the registry's word about it, by one with another member."""

    def change(member: str, content: bytes, *, link: bool = False) -> None:
        world.wheel = make_wheel(tmp_path / "other.whl", member, content, link=link)
        source = world.document["datasets"]["tiny/theta"]["pypi"]
        source |= {"bytes": len(world.wheel), "sha256": hashlib.sha256(world.wheel).hexdigest()}
        world.rewrite()

    return change


@pytest.fixture
def server() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "a café" / "cache"


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it was waited before asking again; no test waits. What the environment says of data is left out."""
    slept: list[float] = []
    monkeypatch.setattr(transfer, "_sleep", slept.append)
    told = ("COLLPRESS_OFFLINE", "_COLLPRESS_DATA_ROOTS", "SDRBENCH_DATA", "HF_TOKEN")
    for name in (*told, "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return slept
