"""Codecs that load outside libraries: found by one table, told when missing, and bytes come back at any setting."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from codec_building import SOURCES, skip_without_library
from codec_judgement import bits, power_law

from collpress.codecs import Codec, Setting, codec_environment
from collpress.codecs.outside import LIBRARIES, libraries, missing_library, outside_library
from collpress.errors import CollpressError

OUTSIDE = [codec for library in LIBRARIES for codec in library.codecs]
LOSSLESS = ["zstd", "lz4", "blosc2-shuffle"]
CHUNK = 16 << 20


def test_every_codec_that_asks_for_a_library_is_in_the_table() -> None:
    asks: dict[str, str] = {}
    for source in SOURCES.glob("*.cpp"):
        text = source.read_text(encoding="utf-8")
        for header in re.findall(r'#include "(\w+\.hpp)"', text):
            text += (SOURCES / header).read_text(encoding="utf-8")
        variable = re.search(r'load\("(COLLPRESS_\w+)"', text)
        if variable is not None:
            asks[source.stem] = variable[1]
    assert asks == {codec: library.variable for library in LIBRARIES for codec in library.codecs}


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = tmp_path / "libzstd.so"
    mine.write_bytes(b"mine")
    monkeypatch.setenv("COLLPRESS_ZSTD_LIBRARY", str(mine))
    monkeypatch.setenv("COLLPRESS_LZ4_LIBRARY", "")  # the system's, please
    environment = codec_environment()
    assert environment["COLLPRESS_ZSTD_LIBRARY"] == str(mine)
    assert environment["COLLPRESS_LZ4_LIBRARY"] == ""
    assert outside_library("zstd") == mine
    assert outside_library("lz4") is None


def test_another_library_is_another_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = tmp_path / "libzstd.so"
    before = libraries()
    mine.write_bytes(b"one")
    monkeypatch.setenv("COLLPRESS_ZSTD_LIBRARY", str(mine))
    one = libraries()
    mine.write_bytes(b"other")
    assert one["zstd"] != libraries()["zstd"]
    assert {codec for codec in one if one[codec] != before.get(codec)} == {"zstd"}


def test_without_the_wheel_it_is_said_what_is_missing_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for library in LIBRARIES:
        monkeypatch.delenv(library.variable, raising=False)
    monkeypatch.setattr("collpress.codecs.outside._bundled", lambda package, pattern: None)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert libraries() == codec_environment() == {}
    said = missing_library("zstd")
    assert said is not None
    assert "package blosc2" in said
    assert "COLLPRESS_ZSTD_LIBRARY=" in said
    assert missing_library("deltapack") is None
    library = tmp_path / "lib" / "libzstd.so"  # as in a conda environment
    library.parent.mkdir()
    library.write_bytes(b"conda's")
    assert codec_environment() == {"COLLPRESS_ZSTD_LIBRARY": str(library)}
    assert missing_library("zstd") is None


@pytest.mark.parametrize("name", OUTSIDE)
def test_without_the_library_the_codec_says_that_it_is_missing(plugins: dict[str, Path], name: str) -> None:
    variable = next(library.variable for library in LIBRARIES if name in library.codecs)
    code = (
        "import sys, numpy as np; from collpress.codecs import Codec\n"
        "from collpress.errors import CollpressError\n"
        "try: Codec(sys.argv[1]).compress(np.zeros(9, np.float32), 1.0)\n"
        "except CollpressError as error: print(error)"
    )
    environment = os.environ | {variable: "/nowhere/lib.so", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(plugins[name])],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    # Empty: this system has one of its own.
    assert done.stdout == "" or f"its library is missing: {variable} names /nowhere/lib.so" in done.stdout


@pytest.mark.parametrize("name", LOSSLESS)
def test_every_setting_gives_every_bit_back(plugins: dict[str, Path], name: str) -> None:
    skip_without_library(name)
    codec = Codec(plugins[name])
    values = power_law(16)
    bits(values)[::97] = 0x7FC12345
    ways = [p.choices or [p.least, p.usual, p.most] for p in codec.parameters]
    sizes = set()
    for setting in itertools.product(*ways):
        given = dict(zip([p.name for p in codec.parameters], setting, strict=True))
        with codec.context("float32", setting=Setting(parameters=given)) as context:
            stream = np.empty(context.max_bytes(values.size), np.uint8)
            used = context.compress_into(values, stream)
            back = np.empty_like(values)
            context.decompress_into(stream[:used], back)
        assert np.array_equal(bits(back), bits(values)), given
        sizes.add(used)
    assert len(sizes) > 1 or name == "lz4", "no setting does anything"


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "float16", "bfloat16"])
def test_other_types_come_back_too(plugins: dict[str, Path], name: str, dtype: str) -> None:
    skip_without_library(name)
    with Codec(plugins[name]).context(dtype) as context:
        values = np.arange(3001).astype(np.uint8).astype(context.dtype)
        stream = np.empty(context.max_bytes(values.size), np.uint8)
        stream = stream[: context.compress_into(values, stream)]
        assert stream.size < values.nbytes
        back = np.empty_like(values)
        context.decompress_into(stream, back)
    assert np.array_equal(back, values)


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("extra", [-1, 0, 1, CHUNK])
def test_messages_of_several_chunks_come_back(plugins: dict[str, Path], name: str, extra: int) -> None:
    skip_without_library(name)
    values = np.zeros(CHUNK + extra, np.int8)
    values[::4097] = np.arange(values[::4097].size).astype(np.int8)
    with Codec(plugins[name]).context("int8") as context:
        stream = np.empty(context.max_bytes(values.size), np.uint8)
        stream = stream[: context.compress_into(values, stream)]
        assert stream.size < values.nbytes / 50
        back = np.empty_like(values)
        context.decompress_into(stream, back)
        assert np.array_equal(back, values)
        swapped = stream.copy()
        swapped[32:40] = stream[32:40][::-1]  # the first chunk's size
        with pytest.raises(CollpressError, match="damaged"):
            context.decompress_into(swapped, back)


def test_noise_is_kept_as_it_is(plugins: dict[str, Path]) -> None:
    values = np.frombuffer(np.random.default_rng(0).bytes(4096), np.float32)
    for name in LOSSLESS:
        skip_without_library(name)
        assert Codec(plugins[name]).compress(values).size == 32 + 8 + values.nbytes


def test_a_shuffle_finds_what_bytes_in_their_order_hide(plugins: dict[str, Path]) -> None:
    for name in LOSSLESS:
        skip_without_library(name)
    values = power_law(32)
    plain, shuffled = (Codec(plugins[name]).compress(values).size for name in ("zstd", "blosc2-shuffle"))
    assert shuffled < 0.93 * plain


def test_blosc2_headers_that_ask_for_something_else_are_refused(plugins: dict[str, Path]) -> None:
    """Other filters, dictionaries, lazy chunks, values that nobody wrote: in byte 16 to 31 of Blosc2's header."""
    skip_without_library("blosc2-shuffle")
    codec = Codec(plugins["blosc2-shuffle"])
    values = power_law(16)
    stream = codec.compress(values)
    for byte, value in ((16, 3), (20, 4), (21, 2), (30, 1), (31, 1), (31, 8), (31, 4 << 4), (4, 1), (12, 1)):
        damaged = stream.copy()
        damaged[40 + byte] = value
        with pytest.raises(CollpressError, match="damaged"):
            codec.decompress(damaged, values.size, np.float32)
