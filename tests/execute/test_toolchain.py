"""The compiler is tried out before it is used, and stands under one word whatever it is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.execute import toolchain as module
from collpress.execute.toolchain import find_compiler, resolve_toolchain
from collpress.plan.built import mpi_library

REAL = shutil.which("g++")
pytestmark = pytest.mark.usefixtures("gxx")  # it stands in for all the compilers that are made up


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any compiler; programs put into this folder are on its PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for part in ("as", "ld"):  # g++ calls these; they are no compilers
        (folder / part).symlink_to(str(shutil.which(part)))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(module, "_zig", lambda: None)
    return folder


def test_a_gxx_that_does_not_know_cxx20_is_passed_over(bare: Path, tmp_path: Path) -> None:
    program(bare / "g++", 'echo "unrecognized option -std=c++20" >&2; exit 1')
    program(bare / "clang++", f'exec {REAL} "$@"')
    assert find_compiler(tmp_path / "shims", {}).command == "clang++"


def test_without_a_compiler_the_message_says_what_was_tried(bare: Path, tmp_path: Path) -> None:
    program(bare / "c++", 'echo "too old" >&2; exit 1')
    with pytest.raises(CollpressError, match=r"no compiler for C\+\+20 was found; c\+\+: too old") as caught:
        find_compiler(tmp_path / "shims", {})
    assert "ziglang" in caught.value.fix


def test_without_a_compiler_the_ziglang_wheel_stands_in_under_one_word(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zig = program(tmp_path / "a folder é" / "zig", f'[ "$1" = c++ ] || exit 9; shift; exec {REAL} "$@"')
    monkeypatch.setattr(module, "_zig", lambda: zig)
    shims = tmp_path / "shims é"
    found = find_compiler(shims, {})
    assert (found.command, found.c_command) == ("collpress-zig-cxx", "collpress-zig-cc")
    said = subprocess.run([shims / found.command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[0] == found.version


def test_a_cxx_that_does_not_compile_is_a_mistake_not_a_hint(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "g++", f'exec {REAL} "$@"')
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(CollpressError, match='the compiler "no-such-compiler" does not compile') as caught:
        find_compiler(tmp_path / "shims", {})
    assert caught.value.where == "environment variable CXX"


@pytest.mark.parametrize("options", ["", " -O1"])
def test_a_cxx_of_several_words_or_in_a_folder_with_a_space_gets_a_shim(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    compiler = program(tmp_path / "a folder é" / "my++", f'exec {REAL} "$@"')
    monkeypatch.setenv("CXX", f"'{compiler}'{options}" if options else str(compiler))
    shims = tmp_path / "shims"
    found = find_compiler(shims, {})
    assert found.command == "collpress-cxx"
    text = (shims / "collpress-cxx").read_text(encoding="utf-8")
    assert f"'{compiler}'{options}" in text


def test_a_prefix_without_an_mpi_wrapper_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match="no MPI compiler wrapper") as caught:
        resolve_toolchain(str(tmp_path), tmp_path / "shims")
    assert str(tmp_path) in caught.value.where


def test_the_wheels_wrapper_is_called_by_name_for_the_checkout_may_move(tmp_path: Path) -> None:
    found = resolve_toolchain("wheel", tmp_path / "shims")
    assert found.wrapper == "mpicxx"
    assert found.wrapper_path == Path(sys.prefix) / "bin" / "mpicxx"
    assert found.environment["OMPI_CXX"] == found.compiler.command


def test_the_library_is_where_the_wrapper_looks_when_it_is_not_beside_it(tmp_path: Path) -> None:
    """As in Debian's packages, with a folder for each architecture."""
    folder = tmp_path / "lib/x86 64/openmpi"
    folder.mkdir(parents=True)
    (folder / "libmpi.so").write_text("a library")
    wrapper = tmp_path / "usr/bin/mpicxx"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(f'#!/bin/sh\n[ "$1" = -show ] && echo "g++ -I/usr/include -L\'{folder}\' -lmpi"\n')
    wrapper.chmod(0o755)
    assert mpi_library(str(wrapper)) == folder / "libmpi.so"
    (folder / "libmpi.so").unlink()
    assert mpi_library(str(wrapper)) is None
    wrapper.write_text('#!/bin/sh\necho "an unclosed \'quote"\n')
    assert mpi_library(str(wrapper)) is None
