"""The launcher that compiles once for all rooms: what it copies is what the compiler would have made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import compile_once

HEADER = "inline int twice(int x) { return 2 * x; }\n"
SOURCE = '#include "twice.hpp"\nint four() { return twice(2); }\n'


class Workshop:
    """A compiler that notes each compilation, and folders with a source and a header."""

    def __init__(self, root: Path, real: str) -> None:
        self.root, self.notes = root, root / "notes"
        self.compiler = root / "compiler"
        noting = f'case " $* " in *" -c "*) echo >>"{self.notes}" ;; esac'
        self.compiler.write_text(f'#!/bin/sh\n{noting}\nexec "{real}" "$@"\n', encoding="utf-8")
        self.compiler.chmod(0o755)

    def compile(self, folder: str, *options: str, header: str = HEADER) -> bytes:
        place = self.root / folder
        place.mkdir(exist_ok=True)
        (place / "four.cpp").write_text(SOURCE, encoding="utf-8")
        (place / "twice.hpp").write_text(header, encoding="utf-8")
        target = place / "four.o"
        command = [str(self.compiler), *options, f"-I{place}", f"-ffile-prefix-map={place}=here", "-MD"]
        command += ["-MT", "four.o", "-MF", str(place / "four.d"), "-o", str(target), "-c", str(place / "four.cpp")]
        assert compile_once.main(command) == 0
        assert str(place / "twice.hpp").replace(" ", "\\ ") in (place / "four.d").read_text(encoding="utf-8")
        return target.read_bytes()

    @property
    def compilations(self) -> int:
        return len(self.notes.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gxx: str) -> Workshop:
    monkeypatch.setattr(compile_once, "KEPT", tmp_path / "kept")
    return Workshop(tmp_path, gxx)


def test_the_same_source_in_another_folder_is_copied_with_its_own_dependencies(workshop: Workshop) -> None:
    assert workshop.compile("one", "-O2") == workshop.compile("an other é", "-O2", "-Wall", "-Werror")
    assert workshop.compilations == 1


def test_another_header_or_option_is_compiled(workshop: Workshop) -> None:
    first = workshop.compile("one", "-O0")
    assert workshop.compile("one", "-O2") != first
    assert workshop.compile("one", "-O0", header=HEADER.replace("2 *", "3 *")) != first
    assert workshop.compilations == 3
    assert workshop.compile("one", "-O0") == first
    assert workshop.compilations == 3


def test_what_compiled_with_a_warning_is_not_kept(workshop: Workshop) -> None:
    for expected in (1, 2):
        workshop.compile("one", "-Wunused", header="static int unused;\n" + HEADER)
        assert workshop.compilations == expected


def test_an_error_is_the_compilers(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    place = workshop.root / "four.cpp"
    place.write_text("int four() { return nothing; }\n", encoding="utf-8")
    command = [str(workshop.compiler), "-o", str(place.with_suffix(".o")), "-c", str(place)]
    assert compile_once.main(command) == 1
    assert "four.cpp:1:21: error:" in capfd.readouterr().err
