"""A plugin of a source with tags is, byte for byte, that of the same source without them."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from native_core import NATIVE, environment, tool

TAG = re.compile(r"^ *CP_TAG(_BEGIN|_END)?\(.*\);\n", re.MULTILINE)
SOURCES = sorted(path for room in ("collectives", "compressed") for path in (NATIVE / "src" / room).rglob("*.cpp"))
EXAMPLES = [
    NATIVE / "src" / place
    for place in (
        "collectives/allreduce/ring.cpp",
        "collectives/allreduce/hierarchical.cpp",
        "collectives/reduce_scatter/bine.cpp",
        "collectives/allgather/bruck.cpp",
        "compressed/allreduce/ring.cpp",
    )
]
"""Tags in the source, in headers, and in both; the others are made of the same headers."""


def without_tags(tree: Path) -> Path:
    """A copy of the public headers and the sources without a line that tags."""
    shutil.copytree(NATIVE / "include", tree / "include")
    removed = 0
    for path in (tree / "include").rglob("*.hpp"):
        text, count = TAG.subn("", path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        removed += count
    assert removed
    return tree / "include"


def compiled(source: Path, include: Path, target: Path, *flags: str) -> Path:
    """The object of a source with the options of a plugin."""
    command = [tool("mpicxx"), "-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden"]
    command += ["-fvisibility-inlines-hidden", "-ffp-contract=off", *flags, f"-I{include}", "-c", str(source)]
    done = subprocess.run(
        [*command, "-o", str(target)], capture_output=True, text=True, env=environment(), encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def sections(path: Path) -> dict[str, bytes]:
    """What an ELF object (64 bits, little-endian) holds: code, data, relocations and symbols, by section."""
    raw = path.read_bytes()
    assert raw[:6] == b"\x7fELF\x02\x01"
    (table,) = struct.unpack_from("<Q", raw, 0x28)
    size, count, names = struct.unpack_from("<HHH", raw, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", raw, table + i * size) for i in range(count)]
    text = headers[names][4]
    found: dict[str, bytes] = {}
    for number, (name, kind, _, _, offset, length) in enumerate(headers):
        label = raw[text + name : raw.index(b"\0", text + name)].decode("ascii")
        found[f"{number} {label}"] = b"" if kind == 8 else raw[offset : offset + length]  # 8: no bits in the file
    return found


def differences(one: Path, other: Path) -> set[str]:
    """Sections in which two objects differ; the name of the source is not told apart, for both have the same."""
    a, b = sections(one), sections(other)
    return {name for name in {*a, *b} if a.get(name) != b.get(name)}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_tags(tmp_path_factory.mktemp("bare"))


def pair(source: Path, bare: Path, folder: Path, *flags: str) -> tuple[Path, Path]:
    """The object as it is built, with `flags`, and that of the source without its tags."""
    plain = folder / source.name
    text = TAG.sub("", source.read_text(encoding="utf-8"))
    assert "CP_TAG" not in text
    plain.write_text(text, encoding="utf-8")
    return (
        compiled(source, NATIVE / "include", folder / "as-built.o", *flags),
        compiled(plain, bare, folder / "bare.o"),
    )


@pytest.mark.parametrize("source", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_code_data_and_symbols_are_those_of_the_source_without_tags(source: Path, bare: Path, tmp_path: Path) -> None:
    assert differences(*pair(source, bare, tmp_path)) == set()


def test_with_tags_the_code_is_another_so_that_the_comparison_can_see_them(bare: Path, tmp_path: Path) -> None:
    found = differences(*pair(EXAMPLES[0], bare, tmp_path, "-DCOLLPRESS_TAGS"))
    assert any(".text" in name for name in found)


def test_a_macro_that_leaves_anything_behind_is_noticed(bare: Path, tmp_path: Path) -> None:
    leaky = tmp_path / "include"
    shutil.copytree(NATIVE / "include", leaky)
    header = leaky / "collpress" / "tag.h"
    text = header.read_text(encoding="utf-8")
    assert text.count("#define CP_TAG(comm, name) ((void)0)") == 1
    left = "#define CP_TAG(comm, name) (void)*static_cast<const volatile int *>(&(comm).raw()->rank)"
    header.write_text(text.replace("#define CP_TAG(comm, name) ((void)0)", left), encoding="utf-8")
    source = EXAMPLES[0]
    one = compiled(source, leaky, tmp_path / "leaky.o")
    other = pair(source, bare, tmp_path)[1]
    assert any(".text" in name for name in differences(one, other))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_line_that_tags_is_one_that_can_be_taken_away(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert text.count("CP_TAG") == len(TAG.findall(text))
