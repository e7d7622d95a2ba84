"""From a file on a web server to prepared values: through the verb, and through the workflow's own rule."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import yaml
from webserver import Answer, WebServer

from collpress.cli import main
from collpress.data import sidecar
from collpress.data.prepare import places, prepare, verify
from collpress.data.registry import Entry, load_registry
from collpress.errors import CollpressError

ROOT = Path(__file__).resolve().parents[2]
KATRINA = ROOT.parent / "shared" / "data" / "katrina_wrf_ci_test_file.nc"
SHAPE = (3, 4, 5)
VALUES = np.random.Generator(np.random.Philox(6)).normal(size=SHAPE).astype(np.float32)
BIG_ENDIAN = VALUES.astype(">f4").tobytes()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def document(server: WebServer) -> dict[str, Any]:
    """A registry of one raw field and two variables of one NetCDF file, all on the server."""
    server.answers["/wind.f32"] = Answer(BIG_ENDIAN)
    shared = {"dtype": "float32", "shape": list(SHAPE), "units": "m s-1", "licence": "free", "citation": "nobody"}
    made = {"sha256": _sha256(VALUES.astype("<f4").tobytes()), "acknowledgement": "thank you", "note": "a note"}
    url = {"file": "wind.f32", "addresses": [server.address("/{file}")], "bytes": len(BIG_ENDIAN)}
    url |= {"sha256": _sha256(BIG_ENDIAN), "raw": {"byte_order": "big"}}
    datasets: dict[str, Any] = {"tiny/wind": {**shared, **made, "title": "Wind", "url": url}}
    return {"schema": 1, "datasets": datasets}


@pytest.fixture
def entry(document: dict[str, Any], tmp_path: Path) -> Entry:
    return _entry(document, tmp_path)


def _entry(document: dict[str, Any], directory: Path, dataset: str = "tiny/wind") -> Entry:
    path = directory / "datasets.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return load_registry(path)[dataset]


def test_raw_values_end_little_endian_with_a_sidecar_that_says_where_they_are_from(
    entry: Entry, tmp_path: Path, server: WebServer
) -> None:
    made = prepare(entry, tmp_path)
    values, described = places("tiny/wind", tmp_path)
    assert values.read_bytes() == VALUES.astype("<f4").tobytes()
    assert sidecar.read(described) == made == verify(entry, tmp_path)
    content = json.loads(described.read_text(encoding="utf-8"))
    assert content["source"] == {
        "kind": "url",
        "file": "wind.f32",
        "addresses": [server.address("/wind.f32")],
        "bytes": 240,
        "sha256": _sha256(BIG_ENDIAN),
        "raw": {"byte_order": "big", "dtype": "float32"},
    }
    told = {key: content[key] for key in ("synthetic", "acknowledgement", "note", "units")}
    assert told == {"synthetic": False, "acknowledgement": "thank you", "note": "a note", "units": "m s-1"}


def test_the_values_that_a_raw_file_has_for_no_data_are_counted(
    document: dict[str, Any], tmp_path: Path, server: WebServer
) -> None:
    holes = VALUES.copy()
    holes[0, 0, :2] = 1.0e35
    content = holes.astype(">f4").tobytes()
    server.answers["/wind.f32"] = Answer(content)
    wind = document["datasets"]["tiny/wind"]
    wind |= {"sha256": _sha256(holes.astype("<f4").tobytes())}
    wind["url"] |= {"sha256": _sha256(content), "raw": {"byte_order": "big", "missing": 1.0e35}}
    with pytest.raises(CollpressError, match="2 of 60 values are missing"):
        prepare(_entry(document, tmp_path), tmp_path)
    wind["missing"] = "keep"
    made = prepare(_entry(document, tmp_path), tmp_path)
    assert made.missing is not None
    assert made.missing.count == 2
    assert made.maximum == float(VALUES.ravel()[2:].max())


def test_variables_of_one_file_ask_for_it_once(document: dict[str, Any], tmp_path: Path, server: WebServer) -> None:
    file = tmp_path / "made.nc"
    with netCDF4.Dataset(file, "w") as content:
        for name, size in zip("zyx", SHAPE, strict=True):
            content.createDimension(name, size)
        for position, name in enumerate(("U", "V")):
            content.createVariable(name, "f4", tuple("zyx"))[...] = VALUES + position
    server.answers["/made.nc"] = Answer(file.read_bytes())
    for position, name in enumerate(("U", "V")):
        wanted = (VALUES + np.float32(position)).astype("<f4").tobytes()
        source = {"file": "made.nc", "addresses": [server.address("/{file}")], "bytes": file.stat().st_size}
        source |= {"sha256": _sha256(file.read_bytes()), "netcdf": {"variable": name}}
        wind = document["datasets"]["tiny/wind"]
        document["datasets"][f"tiny/{name.lower()}"] = {**wind, "url": source, "sha256": _sha256(wanted)}
        prepare(_entry(document, tmp_path, f"tiny/{name.lower()}"), tmp_path)
        assert places(f"tiny/{name.lower()}", tmp_path)[0].read_bytes() == wanted
    assert server.asked == ["/made.nc"]
    document["datasets"]["tiny/v"]["shape"] = [5, 4, 3]
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(CollpressError, match=r"the shape is \[3, 4, 5\](?s:.*)\[5, 4, 3\]"):
        prepare(_entry(document, tmp_path, "tiny/v"), tmp_path)


def test_list_and_info_tell_what_is_to_be_fetched_from_where(
    entry: Entry, tmp_path: Path, server: WebServer, capsys: pytest.CaptureFixture[str]
) -> None:
    places_ = ["--registry", str(tmp_path / "datasets.yaml"), "--results", str(tmp_path)]
    assert main(["dataset", "list", *places_]) == 0
    listed = capsys.readouterr().out
    assert "tiny:\n" in listed
    assert "fetch 0.0 MB" in listed
    assert "1 datasets, 0 prepared; all others: 0.0 MB to fetch" in listed
    assert main(["dataset", "info", "tiny/wind", *places_]) == 0
    about = capsys.readouterr().out
    for part in (server.address("/wind.f32"), "thank you", "a note", "byte_order: big", _sha256(BIG_ENDIAN), "240"):
        assert part in about
    assert main(["dataset", "list", "--json", *places_]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["bytes_to_fetch"], row["prepared"], row["source"]["kind"]) == (240, False, "url")
    assert {"citation", "licence", "acknowledgement", "units", "note", "shape", "synthetic", "sha256"} <= row.keys()
    prepare(entry, tmp_path)
    shutil.rmtree(tmp_path / "cache")
    assert main(["dataset", "list", "--json", *places_]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["bytes_to_fetch"], row["prepared"]) == (0, True)


def test_katrina_as_it_is_in_the_world(tmp_path: Path) -> None:
    if not KATRINA.is_file():
        pytest.skip(f"{KATRINA} is not there: its 3 MB are no part of this checkout")
    registry = load_registry(ROOT / "config" / "datasets.yaml")
    fields = [entry for dataset, entry in registry.items() if dataset.startswith("katrina/")]
    (tmp_path / "cache").mkdir()
    for entry in fields:
        assert entry.url is not None
        shutil.copyfile(KATRINA, tmp_path / "cache" / entry.url.file)
        made = prepare(entry, tmp_path)
        assert made.shape == entry.shape
        assert made.missing is None
    u = sidecar.read(places("katrina/u", tmp_path)[1])
    assert u.maximum is not None
    assert 60.0 < u.maximum < 100.0
    assert len(fields) == 8


# Through the workflow


@pytest.fixture
def checkout(document: dict[str, Any], tmp_path: Path) -> Path:
    """The workflow with this registry; nothing is built, as the rule for datasets needs no core."""
    root = tmp_path / "check out"
    for name in ("workflow", "config", "native/include", "native/src", "envs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "Snakefile", root / "Snakefile")
    shipped = yaml.safe_load((root / "config" / "datasets.yaml").read_text(encoding="utf-8"))
    shipped["datasets"] |= document["datasets"]
    (root / "config" / "datasets.yaml").write_text(yaml.safe_dump(shipped), encoding="utf-8")
    return root


def _make(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet=rules"]
    target = "results/data/tiny/wind.json"
    return subprocess.run([*command, target], cwd=checkout, capture_output=True, text=True, encoding="utf-8")


def test_the_rule_fetches_prepares_and_checks(checkout: Path, server: WebServer) -> None:
    done = _make(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checkout / "results/data/tiny/wind.bin").read_bytes() == VALUES.astype("<f4").tobytes()
    log = (checkout / "results/logs/datasets/tiny/wind.log").read_text(encoding="utf-8")
    assert f"fetching wind.f32 (0.0 MB) from {server.address('/wind.f32')}" in log


def test_the_rule_fails_with_the_reason_in_its_log_and_leaves_nothing(checkout: Path, server: WebServer) -> None:
    server.answers["/wind.f32"] = Answer(BIG_ENDIAN[:-4])
    assert _make(checkout).returncode != 0
    log = (checkout / "results/logs/datasets/tiny/wind.log").read_text(encoding="utf-8")
    assert "its file has 236 bytes, expected 240" in log
    assert [p for p in (checkout / "results").rglob("*") if p.is_file() and p.suffix != ".log"] == []


def test_the_rule_looks_where_the_platform_says_and_takes_a_checksum_that_is_only_recorded(
    document: dict[str, Any], checkout: Path, server: WebServer, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wind.f32").write_bytes(BIG_ENDIAN)
    with (checkout / "config" / "platforms" / "local.yaml").open("a", encoding="utf-8") as file:
        file.write(f"\ndata_roots: ['{tmp_path / 'mine'}']\n")
    registry = checkout / "config" / "datasets.yaml"
    shipped = yaml.safe_load(registry.read_text(encoding="utf-8"))
    wind = shipped["datasets"]["tiny/wind"]
    del wind["sha256"]
    wind["url"]["sha256"] = "unpublished"
    registry.write_text(yaml.safe_dump(shipped), encoding="utf-8")
    done = _make(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    described = sidecar.read(checkout / "results/data/tiny/wind.json")
    assert (described.checksum, described.sha256) == ("recorded", _sha256(VALUES.astype("<f4").tobytes()))
    assert server.asked == []
