"""The metrics, compiled once, without CMake and MPI."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from metric_building import SOURCES, build

from collpress.metrics import Metric


@pytest.fixture(scope="session")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Metric]:
    """The built-in metrics by name."""
    folder = tmp_path_factory.mktemp("metrics é")
    with ThreadPoolExecutor(2) as pool:
        built = list(pool.map(lambda source: build(source, folder), SOURCES))
    return {plugin.stem: Metric(plugin) for plugin in built}
