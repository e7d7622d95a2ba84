"""The build: plugins that stand alone, load without MPI, and are the same bytes wherever they are built."""

from __future__ import annotations

import ctypes
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from native_core import NATIVE, Core, cmake_build, tool


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.so")
    }


def test_each_source_is_a_plugin_of_its_name(core: Core) -> None:
    kinds = {"codecs": "codecs", "metrics": "metrics", "collectives": "reference", "compressed": "compressed"}
    for sources, kind in kinds.items():
        names = {
            path.relative_to(NATIVE / "src" / sources).with_suffix(".so")
            for path in (NATIVE / "src" / sources).rglob("*.cpp")
        }
        folder = core.build / "plugins" / kind
        assert names, kind
        assert names <= {path.relative_to(folder) for path in folder.rglob("*.so")}


@pytest.mark.parametrize("name", ["plugins/reference/allreduce/ring.so", "plugins/compressed/allreduce/ring.so"])
def test_a_plugin_loads_without_mpi_and_exports_one_symbol(core: Core, name: str) -> None:
    path = core.build / name
    assert ctypes.CDLL(str(path)).collpress_plugin is not None
    assert b"libmpi" not in path.read_bytes()
    if (nm := shutil.which("nm")) is not None:
        listed = subprocess.run([nm, "-D", "--defined-only", path], capture_output=True, encoding="utf-8", check=True)
        assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["collpress_plugin"]


def test_plugins_describe_themselves(core: Core, user: Path) -> None:
    done = core.call("--describe", core.build / "plugins/compressed/allreduce/ring.so", user / "codec_copies.so")
    ring, codec = json.loads(done.stdout)
    assert ring["name"] == "ring"
    assert (ring["kind"], ring["collective"], ring["compresses"]) == ("algorithm", "allreduce", True)
    assert (ring["min_ranks"], ring["power_of_two_ranks"], ring["count_at_least_ranks"]) == (1, False, False)
    assert ring["summary"]
    assert codec == {
        "name": "codec_copies",
        "kind": "codec",
        "dtypes": ["float32", "float64", "int32"],
        "takes_bound": False,
        "lossless": True,
        "parameters": [],
        "adds": False,
        "remembers": False,
        "summary": "copies",
    }


def test_a_plugin_that_does_not_fit_is_named_with_the_reason(core: Core, user: Path, tmp_path: Path) -> None:
    old = core.call("--describe", user / "old_abi.so")
    assert old.returncode == 2
    assert "old_abi.so was compiled for ABI version 44; this core has version 3" in old.stderr
    text = tmp_path / "text.so"
    text.write_text("not a shared object", encoding="utf-8")
    broken = core.call("--describe", text)
    assert broken.returncode == 2
    assert "text.so cannot be loaded" in broken.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ofers"], 'did you mean "--offers"?'),
        (["--plan", "p", "--journl", "j"], 'unknown argument "--journl" (did you mean "--journal"?)'),
        (["--plan", "p"], "--journal is missing"),
        (["--schedule", "x.so", "--ranks", "0", "--count", "1"], '"0" is not a whole number from 1'),
        ([], "--describe"),
    ],
)
def test_a_bad_command_line_says_what_is_known(core: Core, arguments: list[str], message: str) -> None:
    done = core.call(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_users_plugin_is_the_same_bytes_in_any_folder_and_only_its_own_source_changes_it(tmp_path: Path) -> None:
    """Built twice, the second time in a folder with a space and an accent, in the C locale."""
    odd = tmp_path / "bar é"
    for copy in (tmp_path / "one", odd):
        shutil.copytree(NATIVE, copy / "native", ignore=shutil.ignore_patterns("build*"))
        shutil.copy(NATIVE / "src/collectives/allreduce/ring.cpp", copy / "my.ring.cpp")
        shutil.copy(NATIVE / "tests/plain_c.c", copy / "other.c")
    built = []
    for copy in (tmp_path / "one", odd):
        sources = [copy / "my.ring.cpp", copy / "other.c"]
        if copy == odd:
            sources[1].write_text(
                sources[1].read_text(encoding="utf-8").replace("1, 0, 0, run", "2, 0, 0, run"), encoding="utf-8"
            )
        cmake_build(
            copy / "build",
            "-DCOLLPRESS_ONLY_USER_PLUGINS=ON",
            "-DCMAKE_C_COMPILER=" + tool("mpicc"),
            "-DCOLLPRESS_USER_PLUGINS=" + ";".join(str(source) for source in sources),
            source=copy / "native",
            LANG="C",
            LC_ALL="C",
        )
        built.append(digests(copy / "build/user"))
    first, second = built
    assert set(first) == set(second) == {"my.ring.so", "other.so"}
    assert first["my.ring.so"] == second["my.ring.so"]
    assert first["other.so"] != second["other.so"]
    assert not (odd / "build/collpress-core").exists()
