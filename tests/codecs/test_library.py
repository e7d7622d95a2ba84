"""Loading plugins, listing codecs, and the bench's summary."""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from codec_building import NAMES

from collpress.cli import main
from collpress.codecs import Codec, sz3
from collpress.codecs.catalog import built_codecs
from collpress.codecs.outside import outside_library, outside_of
from collpress.errors import CollpressError
from collpress.verbs import codecs as verb

ROOT = Path(__file__).resolve().parents[2]
LOSSLESS = {"none", "float-ans", "zstd", "lz4", "blosc2-shuffle"}


@pytest.fixture
def built(plugins: dict[str, Path], tmp_path: Path) -> Path:
    """A checkout in which the codecs are built."""
    record = tmp_path / "results/native/local/build.json"
    record.parent.mkdir(parents=True)
    entries = [{"name": name, "kind": "codec", "path": str(plugins[name])} for name in NAMES]
    entries.append({"name": "ring", "kind": "algorithm", "path": "ring.so"})
    record.write_text(json.dumps({"schema": 1, "platform": "local", "plugins": entries[::-1]}), encoding="utf-8")
    return tmp_path


def test_a_codec_says_what_it_is(plugins: dict[str, Path]) -> None:
    said = {name: Codec(plugins[name]) for name in NAMES}
    assert {name for name, codec in said.items() if codec.takes_bound} >= {"deltapack", "deltapack-dense", "szx", "zfp"}
    assert {name for name, codec in said.items() if codec.lossless} == LOSSLESS
    assert said["none"].dtypes == ("float32", "float64", "int32")
    assert said["deltapack"].dtypes == ("float32", "float64")
    assert all(codec.name == name and codec.summary for name, codec in said.items())


def test_streams_may_be_given_as_bytes(plugins: dict[str, Path]) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    codec = Codec(plugins["deltapack"])
    stream = codec.compress(values, 0.25).tobytes()
    assert np.abs(codec.decompress(stream, 12, np.float32, 0.25) - values.ravel()).max() <= 0.25


def test_what_is_not_a_plugin_is_named(tmp_path: Path) -> None:
    (tmp_path / "fake.so").write_bytes(b"no library")
    with pytest.raises(CollpressError, match="cannot load"):
        Codec(tmp_path / "fake.so")
    with pytest.raises(CollpressError, match="cannot load"):
        Codec(tmp_path / "absent.so")


def test_arrays_that_the_codec_cannot_read_are_refused(plugins: dict[str, Path]) -> None:
    with Codec(plugins["none"]).context(np.float32) as context:
        stream = np.empty(400, dtype=np.uint8)
        with pytest.raises(CollpressError, match="contiguous"):
            context.compress_into(np.zeros(20, np.float32)[::2], stream)
        with pytest.raises(CollpressError, match="contiguous"):
            context.compress_into(np.zeros(20, np.float64), stream)


def test_codecs_are_listed_in_order(built: Path) -> None:
    assert [codec.name for codec in built_codecs("local", built)] == NAMES


def test_nothing_built_says_how_to_build(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match="collpress build --platform throttled"):
        built_codecs("throttled", tmp_path)


def test_the_verb_lists_codecs(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "built_codecs", functools.partial(built_codecs, root=built))
    assert main(["codecs", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert set(listed) == {"machine", "rows", "summary"}
    assert next(row for row in listed["rows"] if row["name"] == "deltapack") | {"summary": ""} == {
        "name": "deltapack",
        "dtypes": ["float32", "float64"],
        "takes_bound": True,
        "lossless": False,
        "summary": "",
        "settings": [],
        "missing": None,
    }
    int8 = next(row for row in listed["rows"] if row["name"] == "int8")
    assert [setting["name"] for setting in int8["settings"]] == ["group", "kind", "rounding", "seed"]
    assert main(["codecs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(NAMES)]] == NAMES
    assert "  int8(group=128, kind=symmetric, rounding=nearest, seed=1)" in lines


def test_the_verb_says_which_library_is_missing(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "built_codecs", functools.partial(built_codecs, root=built))
    monkeypatch.setenv("COLLPRESS_LZ4_LIBRARY", "/nowhere/liblz4.so")
    assert main(["codecs"]) == 0
    said = capsys.readouterr().out
    assert "lz4 is unsupported here: COLLPRESS_LZ4_LIBRARY names /nowhere/liblz4.so, which is no file" in said
    assert "deltapack is unsupported" not in said


def bench_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_codecs", ROOT / "bench" / "codecs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_bench_measures_every_codec(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = bench_module()
    monkeypatch.setattr(bench, "built_codecs", lambda platform, root: built_codecs(platform, built))
    monkeypatch.setattr(bench, "pin", lambda: None)
    monkeypatch.setattr(bench, "TIMED", ())  # whatever is prepared in this checkout
    monkeypatch.setattr(bench, "PREPARED", ())
    monkeypatch.setattr(sys, "argv", ["codecs.py", "--json", "--megabytes", "1", "--repetitions", "2"])
    assert bench.main() == 0
    said = capsys.readouterr()
    assert ("sz3 is left out: pysz is not installed" in said.err) == (not sz3.installed())
    result: dict[str, Any] = json.loads(said.out)
    summary = result["summary"]
    assert summary["compress_over_memcpy"] > 0
    assert summary["decompress_over_memcpy"] > 0
    assert summary["compress_over_zfp"] > 0
    assert summary["ratio_over_truncating"] > 1
    assert 0.5 < summary["max_error_over_bound"] <= 1
    assert 0 <= summary["bias_over_bound"] < 0.01
    rows = [r for r in result["rows"] if r["dataset"] == "synthetic/power-law"]
    without = {name for name in NAMES if outside_of(name) is not None and outside_library(name) is None}
    expected = {*NAMES, "sz3", "truncating"} - ({"sz3"} if not sz3.installed() else set())
    assert {r["codec"] for r in rows} == expected - without
    by_bound = {r["bound"]: r for r in rows if r["codec"] == "deltapack"}
    assert set(by_bound) == {"rel 1e-2", "rel 1e-3", "rel 1e-4"}
    assert by_bound["rel 1e-4"]["psnr_db"] > by_bound["rel 1e-2"]["psnr_db"] + 30


def test_the_size_of_truncating_coding_is_counted_by_hand() -> None:
    """Blocks of 32: all zero; widest 1; widest 5 (three bits)."""
    values = np.zeros(96, np.float32)
    values[32:64:2] = 1.5  # truncated to 1: differences of 1
    values[70:] = -5.9  # truncated to -5
    assert bench_module().truncating_bytes(values, 1.0) == 1 + (1 + 4 + 4) + (1 + 4 + 12)


def test_the_bench_without_a_build_says_how_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = bench_module()
    monkeypatch.setattr(bench, "built_codecs", lambda platform, root: built_codecs(platform, tmp_path))
    monkeypatch.setattr(sys, "argv", ["codecs.py"])
    assert bench.main() == 2
    assert "./run collpress build" in capsys.readouterr().err
