"""`./run`: the only program that a newcomer calls."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = re.compile(r"(.*-)?(g\+\+|gcc|c\+\+|cc|clang|clang\+\+|cpp|c89|c99)(-[\w.-]+)?")
OURS = ("PYTEST", "COLLPRESS", "CXX", "CMAKE")
"""How those variables begin that a newcomer's shell does not have."""

CAMPAIGN = """\
title: What the zig compiler built, measured
experiments:
  squeezed:
    matrix:
      collective: allreduce
      algorithm: [library:default, reference:ring, compressed:ring]
      codec: [none, deltapack, zfp]
      error_bound: rel 1e-3
      message_bytes: 64Ki
      ranks: 2
measure: {launches: 1, precision: 20%, at_most: 100 ms}
figures: [coverage]
"""


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every program of the system but the compilers, and the Python that this environment is made of."""
    folder = tmp_path_factory.mktemp("tools")
    for program in [*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()]:
        if not COMPILER.fullmatch(program.name) and not program.name.startswith("python"):
            (folder / program.name).unlink(missing_ok=True)
            (folder / program.name).symlink_to(program)
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return folder


def run(*arguments: str, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "COLLPRESS", "CXX", "CMAKE"))
    }
    return subprocess.run(
        [str(root / "run"), *arguments],
        env=kept | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=900,
    )


def test_it_tells_its_uses() -> None:
    done = run("help")
    assert done.returncode == 0
    for use in ("./run test", "./run collpress", "./run snakemake", "./run bench", "./run lock"):
        assert use in done.stdout


def test_without_a_python_it_says_what_is_needed(tools: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(tools, bare, symlinks=True)
    (bare / "python3").unlink()
    shutil.copy(ROOT / "run", tmp_path / "run")
    done = run("collpress", "--version", root=tmp_path, PATH=str(bare))
    assert done.returncode == 2
    assert "3.11 or newer" in done.stderr
    assert "fix:" in done.stderr


def test_without_a_package_index_it_says_so_and_leaves_no_half_set_up(tools: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "run", tmp_path / "run")
    shutil.copytree(ROOT / "envs", tmp_path / "envs")
    done = run("collpress", "--version", root=tmp_path, PATH=str(tools), PIP_NO_INDEX="1")
    assert done.returncode == 2
    assert "could not install envs/" in done.stderr
    assert not (tmp_path / ".venv" / "stamp-default").exists()


def test_without_a_compiler_the_one_of_the_ziglang_wheel_builds_what_is_measured(tools: Path, tmp_path: Path) -> None:
    if "zig" not in os.environ.get("COLLPRESS_REQUIRE", "").split(","):
        pytest.skip("takes minutes, for zig compiles its C++ library first; COLLPRESS_REQUIRE=zig runs it")
    home = ROOT / ".venv" / "home"
    assert home.read_text(encoding="utf-8").strip() == str(ROOT), "needs the environment that ./run makes"
    assert shutil.which("g++", path=str(tools)) is None
    set_up = run("collpress", "--version", PATH=str(tools))
    assert set_up.returncode == 0, set_up.stderr
    assert "no C++ compiler on PATH" in set_up.stderr

    checkout = tmp_path / "no compiler é"
    ignored = shutil.ignore_patterns(".venv", ".git", "results", ".cache", ".snakemake", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, checkout, ignore=ignored)
    (checkout / "config/campaigns/zigged.yaml").write_text(CAMPAIGN, encoding="utf-8")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "COLLPRESS", "CXX", "CMAKE"))
    }
    own = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{tools}",
        "PYTHONPATH": str(checkout / "workflow"),
        "XDG_CACHE_HOME": str(checkout / ".cache"),
        "MPLCONFIGDIR": str(checkout / ".cache/matplotlib"),
        "ZIG_GLOBAL_CACHE_DIR": str(ROOT / ".cache/zig"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "collpress", "run", "zigged"],
        cwd=checkout,
        env=kept | own,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    build = json.loads((checkout / "results/native/local/build.json").read_text(encoding="utf-8"))
    assert "zig" in build["compiler"]["command"]
    summary = json.loads((checkout / "results/campaigns/zigged/local/summary.json").read_text(encoding="utf-8"))
    assert summary["counts"]["ok"] == summary["counts"]["planned"] == 5
