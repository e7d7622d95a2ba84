"""The statistics of a launch: the core's numbers for the core's samples."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, point

from collpress.runner.statistics import median_interval, summarise

VECTORS = json.loads((Path(__file__).parent / "statistics.json").read_text(encoding="utf-8"))
"""`samples_ns` that the core measured, and the `time_s` that it made of them."""


def agrees(samples_ns: list[int], time_s: dict[str, Any]) -> None:
    own = asdict(summarise(np.array(samples_ns) * 1e-9))
    for name in ("mean", "sd"):  # sums in another order
        value = time_s[name]
        assert own.pop(name) == (None if value is None else pytest.approx(value, rel=1e-12)), name
    assert own == {name: value for name, value in time_s.items() if name not in {"mean", "sd"}}


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda v: f"n={len(v['samples_ns'])}")
def test_known_samples_have_the_cores_summary(vector: dict[str, Any]) -> None:
    agrees(vector["samples_ns"], vector["time_s"])


def measured(core: Core, folder: Path) -> list[dict[str, Any]]:
    """Samples of the core, and its summary of them, for the numbers of iterations at which something changes."""
    sizes = (1, 2, 5, 6, 7, 8, 9, 20, 49, 50, 51, 300)
    entries = [point(message_bytes=8 * n, min_iterations=n, max_iterations=n, at_most=60) for n in sizes]
    samples = folder / "samples.bin"
    outcome = core.launch(folder, 2, entries, "--samples", samples, "--samples-mode", "summary")
    assert outcome.code == 0, outcome.errors
    data, vectors = samples.read_bytes(), []
    for record in (outcome.record(entry) for entry in entries):
        where = record["samples"]
        times = np.frombuffer(data, "<i8", where["bytes"] // 8, where["offset"])
        vectors.append({"samples_ns": times.tolist(), "time_s": record["time_s"]})
    return vectors


def test_the_core_still_says_the_same_of_new_samples(core: Core, tmp_path: Path) -> None:
    for vector in measured(core, tmp_path):
        agrees(vector["samples_ns"], vector["time_s"])


def test_there_is_no_interval_below_six_values() -> None:
    values = np.arange(1.0, 7.0)
    assert median_interval(values[:5]) is None
    assert median_interval(values) == (1.0, 6.0)
