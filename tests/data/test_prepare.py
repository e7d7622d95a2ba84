"""From an entry to values and sidecar: whole or not at all, checked, nothing repeated."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from handmade import MISSING, World, pp_field

from collpress.cli import main
from collpress.data import sidecar
from collpress.data.generate import generate
from collpress.data.prepare import places, prepare, verify
from collpress.errors import CollpressError

THETA = "tiny/theta"


def _files(world: World) -> list[str]:
    data = world.results / "data"
    return sorted(str(p.relative_to(data)) for p in data.rglob("*") if p.is_file())


def _pin(world: World, dataset: str, values: np.ndarray) -> None:
    world.document["datasets"][dataset]["sha256"] = hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()
    world.rewrite()


def _change_file(world: World, rewheel: object, content: bytes, values: np.ndarray) -> None:
    """Another PP file in the wheel, with all the registry's checksums right."""
    source = world.document["datasets"][THETA]["pypi"]
    source |= {"member_bytes": len(content), "member_sha256": hashlib.sha256(content).hexdigest()}
    rewheel("tiny_fields/tiny.pp", content)  # type: ignore[operator]
    world.document["datasets"][THETA]["shape"] = list(values.shape)
    _pin(world, THETA, values)
    world.carry()


def test_values_are_little_endian_and_the_sidecar_describes_them(world: World, grids: np.ndarray) -> None:
    world.carry()
    made = prepare(world.entry(), world.results)
    values, described = places(THETA, world.results)
    assert values.read_bytes() == grids.astype("<f4").tobytes()
    assert sidecar.read(described) == made
    content = json.loads(described.read_text(encoding="utf-8"))
    expected = {
        "schema": 1,
        "id": THETA,
        "title": "Tiny",
        "dtype": "float32",
        "shape": [2, 3, 4, 5],
        "ranks": "slices",
        "parts": None,
        "elements": 120,
        "bytes": 480,
        "sha256": hashlib.sha256(values.read_bytes()).hexdigest(),
        "checksum": "pinned",
        "unique_bytes": 480,
        "minimum": float(grids.min()),
        "maximum": float(grids.max()),
        "missing": None,
        "units": "K",
        "synthetic": False,
        "licence": "free",
        "citation": "nobody",
        "acknowledgement": None,
        "note": None,
        "native_dtype": "float32",
    }
    assert {key: content[key] for key in expected} == expected
    source = {"kind": "pypi", "package": "tiny-fields", "version": "1.0", "member": "tiny_fields/tiny.pp"}
    assert {key: content["source"][key] for key in source} == source
    assert set(content) == {*expected, "source"}


def test_a_generated_dataset_is_what_its_generator_makes(world: World) -> None:
    values = generate("normal", 11, (3, 1000))
    _pin(world, "tiny/normal", values)
    made = prepare(world.entry("tiny/normal"), world.results)
    assert made.synthetic
    assert made.source == {"kind": "generator", "name": "normal", "seed": 11, "parameters": {}}
    assert np.array_equal(np.fromfile(places("tiny/normal", world.results)[0], dtype="<f4"), values.ravel())


def test_what_is_there_and_right_is_left_alone(world: World) -> None:
    world.carry()
    prepare(world.entry(), world.results)
    before = {p: p.stat().st_mtime_ns for p in places(THETA, world.results)}
    world.cached.unlink()
    prepare(world.entry(), world.results)
    assert {p: p.stat().st_mtime_ns for p in places(THETA, world.results)} == before


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_there_and_wrong_is_made_again(world: World, which: int) -> None:
    world.carry()
    prepare(world.entry(), world.results)
    path = places(THETA, world.results)[which]
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    prepare(world.entry(), world.results)
    assert path.read_bytes() == whole


def test_another_result_than_the_registry_promises_is_refused_and_not_written(world: World) -> None:
    with pytest.raises(CollpressError, match="wrong checksum") as caught:
        prepare(world.entry("tiny/normal"), world.results)
    assert "7" * 64 in str(caught.value)
    assert hashlib.sha256(generate("normal", 11, (3, 1000)).tobytes()).hexdigest() in str(caught.value)
    assert _files(world) == []


def test_another_shape_than_the_registry_promises_is_refused(world: World) -> None:
    world.document["datasets"][THETA]["shape"] = [2, 3, 5, 4]
    world.rewrite()
    world.carry()
    with pytest.raises(CollpressError, match=r"\[2, 3, 4, 5\](?s:.*)\[2, 3, 5, 4\]"):
        prepare(world.entry(), world.results)
    assert _files(world) == []


@pytest.mark.parametrize("odd", [MISSING, np.nan, np.inf])
def test_missing_values_are_refused_unless_the_entry_keeps_them(world: World, rewheel: object, odd: float) -> None:
    grid = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    grid[0, 0, 1, 1] = grid[0, 0, 2, 3] = odd
    _change_file(world, rewheel, pp_field(grid[0, 0]), grid)
    with pytest.raises(CollpressError, match="2 of 12 values are missing"):
        prepare(world.entry(), world.results)
    assert _files(world) == []
    world.document["datasets"][THETA]["missing"] = "keep"
    world.rewrite()
    made = prepare(world.entry(), world.results)
    assert (made.minimum, made.maximum) == (0.0, 10.0)
    assert made.missing is not None
    assert (made.missing.value, made.missing.count) == (MISSING, 2)
    assert verify(world.entry(), world.results) == made
    assert "NaN" not in places(THETA, world.results)[1].read_text(encoding="utf-8")


def test_a_field_of_missing_values_only_has_no_minimum(world: World, rewheel: object) -> None:
    grid = np.full((1, 1, 2, 2), MISSING, dtype=np.float32)
    _change_file(world, rewheel, pp_field(grid[0, 0]), grid)
    world.document["datasets"][THETA]["missing"] = "keep"
    world.rewrite()
    made = prepare(world.entry(), world.results)
    assert (made.minimum, made.maximum) == (None, None)


def test_a_directory_that_cannot_be_written_is_named(world: World) -> None:
    world.carry()
    (world.results / "data").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(CollpressError, match=r"results/data.*cannot write"):
        prepare(world.entry(), world.results)


def test_a_disk_that_is_too_small_is_noticed_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=100))
    with pytest.raises(CollpressError, match="not enough room on the disk"):
        prepare(world.entry(), world.results)


def test_a_disk_that_fills_up_while_writing_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    _pin(world, "tiny/normal", generate("normal", 11, (3, 1000)))
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CollpressError, match="No space left on device"):
        prepare(world.entry("tiny/normal"), world.results)
    assert _files(world) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"elements": 119}, "agree"),
        ({"unique_bytes": 481}, "unique_bytes"),
        ({"sha256": "x"}, "sha256"),
        ({"extra": 1}, "extra"),
        ({"schema": 2}, "schema"),
        ({"dtype": "int8"}, "dtype"),
    ],
)
def test_a_sidecar_that_contradicts_itself_is_refused_by_field(
    world: World, change: dict[str, object], field: str
) -> None:
    world.carry()
    prepare(world.entry(), world.results)
    path = places(THETA, world.results)[1]
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(CollpressError, match=field):
        sidecar.read(path)
    with pytest.raises(CollpressError):
        verify(world.entry(), world.results)


# The verb


def _run(world: World, *arguments: str) -> int:
    return main(["dataset", *arguments, "--registry", str(world.registry), "--results", str(world.results)])


def test_get_prepares_and_verify_agrees(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.carry()
    assert _run(world, "get", THETA) == 0
    first = capsys.readouterr()
    assert world.entry().sha256 in first.out
    assert "licence: free" in first.err
    assert _run(world, "get", THETA) == 0
    assert "licence" not in capsys.readouterr().err
    assert _run(world, "verify", THETA) == 0
    assert capsys.readouterr().out == f"{THETA}: ok\n"


def test_verify_names_every_dataset_that_is_not_right(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.carry()
    prepare(world.entry(), world.results)
    values = places(THETA, world.results)[0]
    values.write_bytes(bytes(480))
    assert _run(world, "verify", THETA, "tiny/normal") == 2
    said = capsys.readouterr().err
    assert "2 of 2 datasets" in said
    assert f"expected sha256 {world.entry().sha256}, found {hashlib.sha256(bytes(480)).hexdigest()}" in said
    assert "not prepared" in said


def test_an_unknown_id_stops_before_anything_is_made(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.carry()
    assert _run(world, "get", THETA, "tiny/theat") == 2
    assert 'did you mean "tiny/theta"' in capsys.readouterr().err
    assert not (world.results / "data").exists()


def test_list_and_info_print_json_and_text(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.carry()
    prepare(world.entry(), world.results)
    capsys.readouterr()
    assert _run(world, "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["id"]: row["prepared"] for row in rows} == {THETA: True, "tiny/normal": False}
    assert _run(world, "info", THETA, "--json") == 0
    about = json.loads(capsys.readouterr().out)
    assert (about["licence"], about["citation"], about["source"]["package"]) == ("free", "nobody", "tiny-fields")
    assert _run(world, "list") == 0
    assert _run(world, "info", THETA) == 0
    text = capsys.readouterr().out
    assert "2 x 3 x 4 x 5  prepared" in text
    assert "nobody" in text


@pytest.mark.parametrize("command", [[], ["list"], ["info"], ["get"], ["verify"]])
def test_every_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["dataset", *command, "--help"])
    assert stop.value.code == 0
    assert re.search(r"example:\s+collpress dataset", capsys.readouterr().out)


def test_paths_are_relative_to_the_directory_of_the_call(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.carry()
    monkeypatch.chdir(world.results.parent)
    assert main(["dataset", "get", THETA, "--registry", "datasets.yaml"]) == 0
    assert Path("results/data/tiny/theta.bin").stat().st_size == 480
