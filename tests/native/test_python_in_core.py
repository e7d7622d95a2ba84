"""A metric in Python under the core: measured like any other, and a crash of it is a word in the record."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from native_core import NATIVE, Core, point

sys.path.insert(0, str(Path(__file__).parents[1] / "metrics"))

from metric_building import build

from collpress.metrics.python import PYTHON, plugin_source

METRIC = """values = {"mean": "data", "rows": "1"}

def measure(expected, got, about):
    return {"mean": abs(got - expected).mean(), "rows": expected.size / about.row}
"""
RANKS, COUNT = 2, 6000


@pytest.fixture
def plugins(tmp_path: Path) -> dict[str, Path]:
    texts = {"sound": METRIC, "crashes": METRIC.replace("    return", "    import os; os.abort()\n    return", 1)}
    made = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        made[name] = build(plugin_source(tmp_path / f"{name}.py", tmp_path / "made"), tmp_path)
    return made


def test_a_function_is_measured_and_one_that_crashes_costs_its_own_values_only(
    core: Core, plugins: dict[str, Path], tmp_path: Path
) -> None:
    field = np.random.default_rng(3).normal(size=(RANKS, COUNT)).astype("<f4")
    field.tofile(tmp_path / "field.bin")
    mae = core.build / "plugins/metrics/mae.so"
    entry = core.compressed(
        "int8",
        core.build / "plugins/codecs/int8.so",
        data="file",
        data_path=tmp_path / "field.bin",
        data_elements=RANKS * COUNT,
        message_bytes=4 * COUNT,
        row=60,
        metrics="\n".join(map(str, [plugins["crashes"], mae, plugins["sound"]])),
    )
    after = point()
    own = {PYTHON: sys.executable, "PYTHONPATH": str(NATIVE.parent / "workflow")}
    outcome = core.launch(tmp_path, RANKS, [entry, after], **own)
    assert outcome.code == 0, outcome.errors
    assert outcome.record(after)["status"] == "ok"
    record = outcome.record(entry)
    assert (record["status"], record["reason"]) == ("ok", None)
    for subject in ("message", "result"):
        told = record["fidelity"][subject]
        assert told["metrics"]["sound"] == {"mean": pytest.approx(told["metrics"]["mae"]["mae"]), "rows": 100}
        assert told["metrics"]["crashes"] == {"mean": None, "rows": None}
        assert told["problems"] == {"crashes": "its process was ended by signal 6"}
