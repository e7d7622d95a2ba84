"""A checksum that nobody publishes is recorded at the first use, in so many words, and asked for ever after."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from fetched import CONTENT, closed_port, sha256, source, unpublished
from webserver import Answer, WebServer

from collpress.cli import main
from collpress.data import web
from collpress.data.access import Access
from collpress.data.prepare import places, prepare, verify
from collpress.data.registry import Entry, load_registry
from collpress.errors import CollpressError

VALUES = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
RAW = VALUES.astype("<f4").tobytes()
Register = Callable[..., Entry]


@pytest.fixture
def register(tmp_path: Path) -> Register:
    """An entry of these fields; `tiny/wind` from a raw little-endian file, if they say no other."""

    def registered(**fields: Any) -> Entry:
        entry = {"title": "Wind", "dtype": "float32", "shape": [3, 4, 5], "units": "1", "licence": "free"}
        entry |= {"citation": "nobody", **fields}
        path = tmp_path / "datasets.yaml"
        path.write_text(yaml.safe_dump({"schema": 1, "datasets": {"tiny/wind": entry}}), encoding="utf-8")
        return load_registry(path)["tiny/wind"]

    return registered


def _unpublished(address: str) -> dict[str, Any]:
    return {
        "file": "wind.f32.gz",
        "addresses": [address],
        "sha256": "unpublished",
        "archive": "gz",
        "member_bytes": 240,
        "raw": {"byte_order": "little"},
    }


MANUAL = {
    "file": "wind.f32",
    "ask": "ask the authors",
    "page": "https://example.org/a",
    "sha256": "unpublished",
    "raw": {"byte_order": "little"},
}


def _refusal(act: Callable[[], object]) -> str:
    with pytest.raises(CollpressError) as caught:
        act()
    return str(caught.value)


# Files


def test_the_first_file_is_recorded_and_told_the_same_one_is_used_in_silence(
    server: WebServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["/field"] = Answer(CONTENT)
    wanted = unpublished(server.address("/field"))
    web.file(wanted, cache, "x")
    told = f"field.f32: nobody publishes its checksum; sha256 {sha256(CONTENT)} is recorded and asked for from now on"
    assert told in capsys.readouterr().err
    assert (cache / "field.f32.sha256").read_text(encoding="utf-8") == f"{sha256(CONTENT)}  field.f32\n"
    web.file(wanted, cache, "x")
    assert capsys.readouterr().err == ""


def test_another_file_than_the_recorded_one_is_refused(server: WebServer, cache: Path) -> None:
    server.answers["/field"] = Answer(CONTENT)
    wanted = unpublished(server.address("/field"))
    path = web.file(wanted, cache, "x")
    path.unlink()
    server.answers["/field"] = Answer(CONTENT[::-1])
    said = _refusal(lambda: web.file(wanted, cache, "x"))
    assert f"expected sha256 {sha256(CONTENT)}, found {sha256(CONTENT[::-1])}" in said
    server.answers["/field"] = Answer(CONTENT)
    path.write_bytes(b"damaged")
    assert web.file(wanted, cache, "x").read_bytes() == CONTENT


def test_a_record_that_is_none_is_named(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32.sha256").write_text("hello", encoding="utf-8")
    said = _refusal(lambda: web.file(source(closed_port(), sha256="unpublished"), cache, "x"))
    assert "field.f32.sha256: this is no record of a sha256" in said


def test_a_file_of_another_length_is_not_replaced_by_one_that_nobody_vouches_for(
    server: WebServer, cache: Path
) -> None:
    cache.mkdir(parents=True)
    (cache / "field.f32").write_bytes(b"mine")
    server.answers["/field"] = Answer(CONTENT)
    said = _refusal(lambda: web.file(source(server.address("/field"), sha256="unpublished"), cache, "x"))
    assert "field.f32 has 4 bytes, expected 300000" in said
    assert server.asked == []


def test_an_md5_is_asked_for_where_it_is_all_that_is_published(server: WebServer, cache: Path) -> None:
    wanted = source(server.address("/field"), sha256="unpublished", md5=hashlib.md5(CONTENT).hexdigest())
    server.answers["/field"] = Answer(CONTENT[::-1])
    assert "wrong checksum: expected md5" in _refusal(lambda: web.file(wanted, cache, "x"))
    server.answers["/field"] = Answer(CONTENT)
    assert web.file(wanted, cache, "x").read_bytes() == CONTENT
    assert [p.name for p in cache.iterdir()] == ["field.f32"], "nothing is recorded"


# Prepared values


def test_values_of_an_unpublished_file_are_recorded_and_verified_as_such(
    register: Register, server: WebServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["/w"] = Answer(gzip.compress(RAW))
    entry = register(url=_unpublished(server.address("/w")))
    made = prepare(entry, tmp_path)
    assert (made.checksum, made.sha256) == ("recorded", sha256(RAW))
    assert f"tiny/wind: sha256 {sha256(RAW)} of the prepared values is recorded" in capsys.readouterr().err
    assert verify(entry, tmp_path) == made == prepare(entry, tmp_path)
    assert server.asked == ["/w"]
    values, described = places("tiny/wind", tmp_path)
    assert json.loads(described.read_text(encoding="utf-8"))["checksum"] == "recorded"
    values.write_bytes(RAW[::-1])
    assert f"expected sha256 {sha256(RAW)}, found" in _refusal(lambda: verify(entry, tmp_path))
    assert prepare(entry, tmp_path) == made


def test_verify_says_which_checksums_are_only_recorded(
    register: Register, server: WebServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["/w"] = Answer(gzip.compress(RAW))
    prepare(register(url=_unpublished(server.address("/w"))), tmp_path)
    capsys.readouterr()
    paths = ["--registry", str(tmp_path / "datasets.yaml"), "--results", str(tmp_path)]
    assert main(["dataset", "verify", "tiny/wind", *paths]) == 0
    assert capsys.readouterr().out == "tiny/wind: ok (as recorded when it was first prepared)\n"


def test_once_the_registry_pins_the_checksum_it_is_pinned(
    register: Register, server: WebServer, tmp_path: Path
) -> None:
    server.answers["/w"] = Answer(gzip.compress(RAW))
    prepare(register(url=_unpublished(server.address("/w"))), tmp_path)
    pinned = register(url=_unpublished(server.address("/w")), sha256=sha256(RAW))
    assert "does not say what the registry says" in _refusal(lambda: verify(pinned, tmp_path))
    assert prepare(pinned, tmp_path).checksum == "pinned"
    other = register(url=_unpublished(server.address("/w")), sha256="0" * 64)
    assert f"expected sha256 {'0' * 64}, found {sha256(RAW)}" in _refusal(lambda: prepare(other, tmp_path))


def test_other_values_from_the_same_source_are_not_taken_in_silence(register: Register, tmp_path: Path) -> None:
    entry = register(manual=MANUAL)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "wind.f32").write_bytes(RAW)
    prepare(entry, tmp_path)
    values, described = places("tiny/wind", tmp_path)
    values.unlink()
    (cache / "wind.f32").write_bytes(RAW[::-1])
    (cache / "wind.f32.sha256").unlink()
    said = _refusal(lambda: prepare(entry, tmp_path))
    assert f"recorded was sha256 {sha256(RAW)}, found" in said
    assert f"delete {described}" in said
    assert not values.exists()
    described.unlink()
    assert prepare(entry, tmp_path).checksum == "recorded"


@pytest.mark.parametrize(
    "source_",
    [
        {"generator": {"name": "normal", "seed": 1}},
        {
            "url": {
                "file": "w.f32",
                "addresses": ["https://example.org/w"],
                "bytes": 240,
                "sha256": "1" * 64,
                "raw": {"byte_order": "big"},
            }
        },
    ],
    ids=["generator", "pinned-file"],
)
def test_a_checksum_that_can_be_known_must_be_given(register: Register, source_: dict[str, Any]) -> None:
    assert '"sha256" is missing' in _refusal(lambda: register(**source_))


# What a person brings


def test_a_file_that_no_program_can_fetch_says_who_has_it_and_where_to_put_it(
    register: Register, tmp_path: Path
) -> None:
    said = _refusal(lambda: prepare(register(manual=MANUAL), tmp_path))
    assert "tiny/wind: wind.f32 cannot be fetched by a program: ask the authors (https://example.org/a)" in said
    assert f"put the file at {tmp_path / 'cache' / 'wind.f32'} (length unknown, no checksum published)" in said


def test_once_it_is_there_it_is_used_and_recorded(
    register: Register, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wind.f32").write_bytes(RAW)
    made = prepare(register(manual=MANUAL), tmp_path, Access(True, (tmp_path / "mine",)))
    assert made.source["kind"] == "manual"
    assert f"sha256 {sha256(RAW)} is recorded" in capsys.readouterr().err
    (tmp_path / "cache" / "wind.f32").unlink()
    (tmp_path / "cache" / "wind.f32").write_bytes(RAW[::-1])
    places("tiny/wind", tmp_path)[0].unlink()
    said = _refusal(lambda: prepare(register(manual=MANUAL), tmp_path))
    assert f"is another file: 240 bytes, sha256 {sha256(RAW[::-1])}" in said
    assert f"allowed: length unknown, sha256 {sha256(RAW)}" in said


def test_a_file_of_the_wrong_length_is_told(register: Register, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wind.f32").write_bytes(RAW[:-4])
    assert "the file has 236 bytes" in _refusal(lambda: prepare(register(manual=MANUAL), tmp_path))
    assert not list(tmp_path.rglob("*.bin"))


# Missing values and ranges


def _with_holes(dtype: str) -> bytes:
    holes = VALUES.copy()
    holes[0, 0, :2] = 1.0e35
    return holes.astype(dtype).tobytes()


def test_missing_values_may_be_set_to_zero_and_are_counted(register: Register, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wind.f32").write_bytes(_with_holes(">f4"))
    manual = {**MANUAL, "raw": {"byte_order": "big", "missing": 1.0e35}}
    made = prepare(register(manual=manual, missing="zero", range=[0.0, 60.0]), tmp_path)
    expected = VALUES.copy()
    expected[0, 0, :2] = 0
    assert np.array_equal(np.fromfile(places("tiny/wind", tmp_path)[0], "<f4").reshape(VALUES.shape), expected)
    assert made.missing is not None
    assert (made.missing.value, made.missing.count, made.missing.policy) == (1.0e35, 2, "zero")
    assert (made.minimum, made.maximum) == (0.0, 59.0)


@pytest.mark.parametrize("missing", ["refuse", "keep", "zero"])
@pytest.mark.parametrize(("said", "is_"), [("little", ">f4"), ("big", "<f4")])
def test_the_wrong_byte_order_is_told_as_such(
    register: Register, tmp_path: Path, missing: str, said: str, is_: str
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wind.f32").write_bytes(_with_holes(is_))
    manual = {**MANUAL, "raw": {"byte_order": said, "missing": 1.0e35}}
    message = _refusal(lambda: prepare(register(manual=manual, missing=missing, range=[0.0, 60.0]), tmp_path))
    assert "tiny/wind: it looks byte-swapped" in message
    assert "lie outside 0 to 60 or next to 0, with their bytes reversed none" in message
    assert "say the other byte_order" in message
    assert not list(tmp_path.rglob("*.bin"))


def test_values_out_of_range_either_way_are_told_without_a_guess(register: Register, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wind.f32").write_bytes(RAW)
    message = _refusal(lambda: prepare(register(manual=MANUAL, range=[0.0, 50.0]), tmp_path))
    assert "9 of 60 values lie outside 0 to 50" in message
    assert "swapped" not in message
    assert prepare(register(manual=MANUAL, range=[0.0, 59.0]), tmp_path).maximum == 59.0


def test_tiny_numbers_alone_do_not_look_swapped(register: Register, tmp_path: Path) -> None:
    tiny = VALUES.copy()
    tiny[0, 0, :3] = 1e-40
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wind.f32").write_bytes(tiny.astype("<f4").tobytes())
    assert prepare(register(manual=MANUAL, range=[0.0, 59.0]), tmp_path).maximum == 59.0


def test_a_range_does_not_outvote_a_checksum(register: Register, server: WebServer, tmp_path: Path) -> None:
    server.answers["/w"] = Answer(gzip.compress(RAW))
    entry = register(url=_unpublished(server.address("/w")), sha256=sha256(RAW), range=[0.0, 50.0])
    assert prepare(entry, tmp_path).maximum == 59.0


def test_a_range_that_is_none_is_refused(register: Register) -> None:
    assert "range must be [smallest, largest]" in _refusal(lambda: register(manual=MANUAL, range=[1.0, 1.0]))
