"""Provenance is observed: from /proc and /sys, from git, from the environment."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from collpress.provenance import environment, git_state, observe
from collpress.provenance.machine import allowed_cores, allowed_cpus, cpu_limit, machine, machine_key
from collpress.provenance.software import software


@pytest.fixture
def another(tmp_path: Path) -> tuple[Path, Path]:
    """/proc and /sys of a machine with two sockets, of two cores and two threads each."""
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    blocks = [
        f"model name : Fast CPU\nphysical id : {socket}\ncore id : {core}\nflags : fpu avx2 fma"
        for socket in range(2)
        for core in range(2)
        for _ in ("thread 0", "thread 1")
    ]
    cache = "devices/system/cpu/cpu0/cache/index3/"
    for path, text in {
        proc / "cpuinfo": "\n\n".join(blocks),
        proc / "meminfo": "MemTotal:  1024 kB\nMemFree: 1 kB",
        proc / "loadavg": "0.25 0.1 0.1 1/100 42",
        sys / cache / "level": "3",
        sys / cache / "type": "Unified",
        sys / cache / "size": "36M",
        sys / cache / "shared_cpu_list": "0-7",
        sys / "devices/system/node/node0/x": "",
        sys / "devices/system/node/node1/x": "",
        sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        sys / "kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        sys / "fs/cgroup/cpu.max": "150000 100000",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return proc, sys


def test_a_machine_is_read_from_proc_and_sys(another: tuple[Path, Path]) -> None:
    seen = machine(*another)
    assert seen["cpu_model"] == "Fast CPU"
    assert (seen["sockets"], seen["cores"], seen["numa_nodes"]) == (2, 4, 2)
    assert seen["memory_bytes"] == 1 << 20
    assert seen["caches"] == [{"level": 3, "type": "Unified", "bytes": 36 << 20, "shared_by": "0-7"}]
    assert (seen["governor"], seen["transparent_hugepages"], seen["cpu_limit"]) == ("performance", "madvise", 1.5)
    assert seen["flags"] == ["avx2", "fma"]


def test_what_a_system_does_not_tell_is_null(tmp_path: Path) -> None:
    seen = machine(tmp_path, tmp_path)
    absent = ("sockets", "cores", "numa_nodes", "memory_bytes", "governor", "load_average", "cpu_limit")
    assert {name: seen[name] for name in absent} == dict.fromkeys(absent)


def test_an_unlimited_control_group_is_no_limit(another: tuple[Path, Path]) -> None:
    (another[1] / "fs/cgroup/cpu.max").write_text("max 100000", encoding="utf-8")
    assert cpu_limit(another[1]) is None


def test_the_key_of_a_machine_follows_its_processors_and_nothing_that_moves(another: tuple[Path, Path]) -> None:
    proc, _ = another
    before = machine_key(*another)
    (proc / "loadavg").write_text("9 9 9 1/1 1", encoding="utf-8")
    (proc / "meminfo").write_text("MemTotal: 1020 kB", encoding="utf-8")
    assert machine_key(*another) == before
    (proc / "cpuinfo").write_text("model name : Slow CPU", encoding="utf-8")
    assert machine_key(*another) != before


def test_there_are_no_more_cores_than_processors() -> None:
    assert 1 <= allowed_cores() <= allowed_cpus()


def test_everything_observed_can_be_written_as_json() -> None:
    seen = observe()
    assert json.loads(json.dumps(seen, allow_nan=False)) == seen
    assert seen["software"]["packages"]["pydantic"]


def test_compiler_and_library_are_quoted_from_the_build(tmp_path: Path) -> None:
    build = tmp_path / "build.json"
    assert software(build)["mpi"] is None
    made = {"core": {"sha256": "c"}, "compiler": {"command": "g++"}, "mpi": {"kind": "openmpi"}}
    build.write_text(json.dumps(made), encoding="utf-8")
    seen = software(build)
    assert (seen["mpi"], seen["compiler"], seen["core_sha256"]) == (made["mpi"], made["compiler"], "c")


def test_only_listed_variables_are_recorded_and_never_a_secret() -> None:
    given = {"OMP_NUM_THREADS": "1", "HOME": "/root", "OMPI_MCA_btl": "sm", "COLLPRESS_TOKEN": "x", "UCX_PASSWORD": "y"}
    assert environment(given) == {"OMPI_MCA_btl": "sm", "OMP_NUM_THREADS": "1"}


def _git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "a folder é"
    root.mkdir()
    try:
        _git(root, "init", "--quiet")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (root / "file").write_text("1", encoding="utf-8")
    return root


def test_before_the_first_commit_there_is_no_commit(checkout: Path) -> None:
    state = git_state(checkout)
    assert state is not None
    assert (state["commit"], state["dirty"]) == (None, True)


def test_a_clean_checkout_is_its_commit(checkout: Path) -> None:
    _git(checkout, "add", ".")
    _git(checkout, "commit", "-qm", "one")
    state = git_state(checkout)
    assert state is not None
    assert len(state["commit"]) == 40
    assert (state["dirty"], state["diff_sha256"]) == (False, None)


def test_the_hash_of_the_difference_follows_tracked_and_untracked_content(checkout: Path) -> None:
    _git(checkout, "add", ".")
    _git(checkout, "commit", "-qm", "one")
    hashes = set()
    for name, text in (("file", "2"), ("file", "3"), ("new é", "1"), ("new é", "2")):
        (checkout / name).write_text(text, encoding="utf-8")
        state = git_state(checkout)
        assert state is not None
        assert state["dirty"]
        hashes.add(state["diff_sha256"])
    assert len(hashes) == 4


def test_outside_a_repository_and_without_git_there_is_no_state(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert git_state(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(checkout) is None
