"""Listing metrics, and the example of the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from metric_building import NATIVE, build

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.metrics import Metric
from collpress.metrics.catalog import built_metrics


@pytest.fixture
def house(metrics: dict[str, Metric], tmp_path: Path) -> Path:
    """A checkout whose build record names two metrics and a codec."""
    plugins = [{"name": n, "kind": "metric", "path": str(metrics[n].path)} for n in ("psnr", "bias")]
    record = tmp_path / "results/native/here/build.json"
    record.parent.mkdir(parents=True)
    plugins.append({"name": "zfp", "kind": "codec", "path": "nowhere.so"})
    record.write_text(json.dumps({"schema": 1, "plugins": plugins}), encoding="utf-8")
    return tmp_path


def test_the_metrics_of_a_build_are_listed_by_name(house: Path) -> None:
    assert [metric.name for metric in built_metrics("here", house)] == ["bias", "psnr"]
    with pytest.raises(CollpressError, match='nothing is built for the platform "there"'):
        built_metrics("there", house)


def test_the_verb_tells_values_and_units(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("collpress.verbs.metrics.built_metrics", lambda platform: built_metrics(platform, house))
    assert main(["metrics", "--platform", "here", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["summary"] == {"metrics": 2}
    assert told["rows"][0] == {
        "name": "bias",
        "values": ["bias", "bias_over_range"],
        "units": ["data", "1"],
        "summary": "mean signed error, also over the value range",
    }
    assert main(["metrics", "--platform", "here"]) == 0
    assert "bias [data], bias_over_range [1]" in capsys.readouterr().out


def test_the_example_of_the_documentation_is_a_metric(tmp_path: Path) -> None:
    text = (NATIVE.parent / "docs/plugins.md").read_text(encoding="utf-8")
    source = tmp_path / "overshoots.cpp"
    source.write_text(text.split("```cpp\n")[1].split("```")[0], encoding="utf-8")
    metric = Metric(build(source, tmp_path))
    assert metric.measure(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 1, 7])).values == {"share": 0.5, "mean": 2.0}
    assert metric.measure(np.ones(3), np.ones(3)).problem == "no value became larger"
