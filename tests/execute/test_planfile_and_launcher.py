"""What the core is told: the plan file, the command line, the environment."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.errors import CollpressError
from collpress.execute import launcher as module
from collpress.execute.launcher import Launcher, Session, session
from collpress.execute.planfile import encode, plan_line, write_plan
from collpress.provenance.machine import allowed_cpus

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(value=TEXT)
def test_any_text_survives_the_plan_file(value: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z0-9._:/+-]|%[0-9A-F]{2})*", encode(value))
    assert unquote(encode(value)) == value


def test_a_plan_file_names_its_version_and_has_a_line_for_each_point(tmp_path: Path) -> None:
    path = tmp_path / "plan.tsv"
    write_plan(path, [{"key": "a", "plugin": None, "precision": 0.05}, {"data_path": "a\tb=c é~"}])
    assert path.read_bytes() == b"collpress-plan\t1\nkey=a\tprecision=0.05\ndata_path=a%09b%3Dc%20%C3%A9%7E\n"


def test_entries_without_a_value_are_left_out() -> None:
    assert plan_line({"codec": None}) == ""


@pytest.fixture
def programs(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "a dir" / "mpiexec", tmp_path / "a dir" / "core"
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o755)
    return paths


@pytest.mark.parametrize("binding", ["core", "hwthread", "none"])
def test_ranks_are_bound_as_the_plan_says(programs: tuple[Path, Path], binding: str) -> None:
    command = Launcher(programs[0], 1, binding, {}).command(programs[1], ["--plan", "a b"])
    assert command[:3] == [str(programs[0]), "-n", "1"]
    assert command[command.index("--bind-to") + 1].partition(":")[0] == binding
    assert command[-3:] == [str(programs[1]), "--plan", "a b"]


@pytest.mark.parametrize("binding", ["core", "hwthread"])
def test_a_binding_for_which_there_are_too_few_processors_is_refused(programs: tuple[Path, Path], binding: str) -> None:
    with pytest.raises(CollpressError, match="the plan binds"):
        Launcher(programs[0], allowed_cpus() + 1, binding, {}).command(programs[1], [])


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_program_is_named_with_its_remedy(programs: tuple[Path, Path], missing: int) -> None:
    programs[missing].unlink()
    with pytest.raises(CollpressError, match="was not found") as caught:
        Launcher(programs[0], 1, "none", {}).command(programs[1], [])
    assert caught.value.where == str(programs[missing])
    assert caught.value.fix


def test_only_listed_variables_and_the_batchs_own_reach_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_coll", "^tuned")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    given = Launcher(Path("m"), 1, "none", {"OMP_NUM_THREADS": "1"}).variables(
        Session(Path("/tmp/s"), Path("/dev/shm/s"))
    )
    assert "OMPI_MCA_coll" not in given
    assert given["OMP_NUM_THREADS"] == "1"
    assert given["PATH"] == os.environ["PATH"]
    assert (given["TMPDIR"], given["OMPI_MCA_btl_sm_backing_directory"]) == ("/tmp/s", "/dev/shm/s")


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_permission_to_run_as_root_is_given_only_to_root(
    monkeypatch: pytest.MonkeyPatch, user: int, allowed: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    given = Launcher(Path("m"), 1, "none", {}).variables(Session(Path("/tmp"), None))
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in given, "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM" in given) == (allowed, allowed)


def test_the_folders_of_a_session_are_short_and_vanish_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    with session() as folders:
        assert folders.temporary.is_dir()
        assert len(str(folders.temporary)) < 60
    assert not folders.temporary.exists()
    assert folders.shared_memory is None or not folders.shared_memory.exists()


def test_what_a_dead_sweep_left_is_removed_and_what_a_live_one_uses_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_LONGEST_TMPDIR", 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    left, used = tmp_path / f"collpress-{2**22 + 1}-x", tmp_path / f"collpress-{os.getppid()}-x"
    left.mkdir()
    used.mkdir()
    with session():
        assert not left.exists()
        assert used.exists()
