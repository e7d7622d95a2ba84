"""Random values and damaged streams, their checksums made right again, through every codec: no crash, no broken bound.

The driver is fuzz.cpp; compile it and a codec with -fsanitize=address,undefined to look closer and longer.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from codec_building import NAMES, ROOT, compiler, skip_without_library

from collpress.codecs import codec_environment


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "fuzz"
    source = Path(__file__).with_name("fuzz.cpp")
    command = [*compiler(), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'native' / 'include'}"]
    done = subprocess.run(
        [*command, str(source), "-o", str(program), "-ldl"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return program


def fuzz(fuzzer: Path, plugin: Path, rounds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(fuzzer), "3", str(rounds), str(plugin)],
        env=os.environ | codec_environment(),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


@pytest.mark.parametrize("name", [*NAMES, "deltapack-portable", "deltapack-dense-portable"])
def test_damage_does_no_harm(fuzzer: Path, plugins: dict[str, Path], name: str) -> None:
    skip_without_library(name)
    done = fuzz(fuzzer, plugins[name], 250)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_the_fuzzer_notices_a_codec_that_breaks_its_bound(fuzzer: Path, plugins: dict[str, Path]) -> None:
    done = fuzz(fuzzer, plugins["deltapack-broken"], 250)
    assert done.returncode == 1
    assert "bound broken" in done.stderr
