"""The real build, the real core, the real mpiexec: plugins of a user are built, described, measured, and may crash."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from collpress.errors import CollpressError
from collpress.execute.batch import Batch
from collpress.execute.build import build_plugins, build_project, plugin_sources
from collpress.execute.compilation import Compilation, compiler_error
from collpress.execute.supervisor import sweep
from collpress.execute.toolchain import Toolchain
from collpress.layout import ROOT, build_record
from collpress.plan.built import read_build
from collpress.records import Status

PLUGIN = """#include "collpress/algorithm.h"
static void run(const collpress_p2p *p2p, const collpress_call *call) {{
    {body}
}}
static const collpress_algorithm algorithm = {{"allreduce", 0, 1, 0, 0, run, nullptr, 0, 0, 0}};
static const collpress_plugin_t plugin = {{COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM, "{summary}", &algorithm}};
extern "C" const collpress_plugin_t *collpress_plugin(void) {{ return &plugin; }}
"""
GOOD = """
    const size_t bytes = call->count * p2p->element_bytes;
    void *other = p2p->scratch(p2p->self, bytes);
    p2p->copy(p2p->self, call->recv, call->send, bytes);
    for (int32_t peer = 0; peer < p2p->size; ++peer) {
        if (peer == p2p->rank) continue;
        const collpress_request in = p2p->receive(p2p->self, other, bytes, peer);
        const collpress_request out = p2p->send(p2p->self, call->send, bytes, peer);
        p2p->wait(p2p->self, in);
        p2p->wait(p2p->self, out);
        p2p->reduce(p2p->self, call->recv, other, call->count);
    }
"""
CRASH = "(void)p2p; (void)call; volatile int *nowhere = nullptr; *nowhere = 1;"


@pytest.fixture(scope="session")
def plugins(toolchain: Toolchain, project: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A user's two plugins in folders with odd names, built: what build.json says, and where everything lies."""
    folder = tmp_path_factory.mktemp("a folder é")
    (folder / "mine" / "below").mkdir(parents=True)
    (folder / "mine" / "everyone.cpp").write_text(PLUGIN.format(body=GOOD, summary="to all"), encoding="utf-8")
    (folder / "mine" / "below" / "crash.cpp").write_text(PLUGIN.format(body=CRASH, summary="dies"), encoding="utf-8")
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        built = build_plugins("local", toolchain, [folder / "mine"], folder / "out")
        again = build_plugins("local", toolchain, [folder / "mine"], folder / "out")
    finally:
        os.chdir(before)
    return {"folder": folder, "build": read_build(built.record), "changed": (built.changed, again.changed)}


def test_the_build_tells_of_core_compiler_library_and_every_plugin(project: dict[str, Any]) -> None:
    core = ROOT / project["core"]["path"]
    assert project["core"]["sha256"] == hashlib.sha256(core.read_bytes()).hexdigest()
    assert "Open MPI v5" in project["mpi"]["version"]
    assert "-std=c++20" in project["compiler"]["flags"]
    assert "/" not in project["compiler"]["flags"]
    sources = {p["source"] for p in project["plugins"]}
    expected = {
        str(path.relative_to(ROOT))
        for pattern in ("codecs/*.cpp", "metrics/*.cpp", "collectives/*/*.cpp", "compressed/*/*.cpp")
        for path in (ROOT / "native" / "src").glob(pattern)
    }
    assert sources == expected
    for plugin in project["plugins"]:
        assert plugin["sha256"] == hashlib.sha256((ROOT / plugin["path"]).read_bytes()).hexdigest()
        assert plugin["name"] == Path(plugin["source"]).stem


def test_a_build_that_changes_nothing_touches_nothing(
    project: dict[str, Any], toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    files = [ROOT / build_record("local"), ROOT / project["core"]["path"]]
    files += [ROOT / plugin["path"] for plugin in project["plugins"]]
    before = [path.stat().st_mtime_ns for path in files]
    assert not build_project("local", toolchain).changed
    assert [path.stat().st_mtime_ns for path in files] == before


def test_a_users_plugins_are_found_in_and_below_the_directory(plugins: dict[str, Any]) -> None:
    build = plugins["build"]
    assert build["core"] is None
    assert plugins["changed"] == (True, False)
    assert [(p["name"], p["kind"], p["compresses"], p["summary"]) for p in build["plugins"]] == [
        ("crash", "algorithm", False, "dies"),
        ("everyone", "algorithm", False, "to all"),
    ]


def test_editing_one_plugin_changes_that_one_only(
    plugins: dict[str, Any], toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    folder = plugins["folder"]
    source = folder / "mine" / "below" / "crash.cpp"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace('"dies"', '"dies, too"'), encoding="utf-8")
    edited = read_build(build_plugins("local", toolchain, [folder / "mine"], folder / "out").record)
    source.write_text(text, encoding="utf-8")
    restored = read_build(build_plugins("local", toolchain, [folder / "mine"], folder / "out").record)
    before, after = ({p["name"]: p["sha256"] for p in b["plugins"]} for b in (plugins["build"], edited))
    assert before["everyone"] == after["everyone"]
    assert before["crash"] != after["crash"]
    assert restored == plugins["build"]


def test_a_plugin_that_crashes_costs_its_own_points_only(
    plugins: dict[str, Any], project: dict[str, Any], tmp_path: Path
) -> None:
    mine = {p["name"]: p["path"] for p in plugins["build"]["plugins"]}
    ring = next(p["path"] for p in project["plugins"] if p["source"].endswith("collectives/allreduce/ring.cpp"))
    lines = [
        {"algorithm": "reference:everyone", "plugin": mine["everyone"]},
        {"algorithm": "reference:crash", "plugin": mine["crash"]},
        {"algorithm": "reference:ring", "plugin": str(ROOT / ring)},
        {"algorithm": "library:default"},
    ]
    swept = sweep(_batch(lines), tmp_path / "a folder é")
    statuses = [swept.journals.status(f"{n:032x}", 2) for n in range(4)]
    assert [s.status for s in statuses] == [Status.OK, Status.CRASHED, Status.OK, Status.OK]
    assert "SIGSEGV" in str(statuses[1].reason)
    record = swept.journals.records[f"{0:032x}", 1]
    assert record.check is not None
    assert record.check.max_abs_error == 0
    assert record.samples is not None
    samples = tmp_path / "a folder é" / "batches" / "b" / record.samples.file
    part = samples.read_bytes()[record.samples.offset :][: record.samples.bytes]
    assert hashlib.sha256(part).hexdigest() == record.samples.sha256


def test_a_compiler_error_names_file_and_line(toolchain: Toolchain, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong é.cpp"
    wrong.write_text("#include <cstddef>\nint main() { return nothing; }\n", encoding="utf-8")
    with pytest.raises(CollpressError, match=r"compiler error: .*nothing") as caught:
        Compilation(ROOT / "native", tmp_path / "build", toolchain).run([wrong])
    assert caught.value.where == f"{wrong}:2"


def test_a_plugin_that_does_not_compile_or_is_none_is_written_down_as_broken_and_the_others_are_built(
    toolchain: Toolchain, project: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wrong.cpp").write_text("int main() { return nothing_here; }\n", encoding="utf-8")
    (tmp_path / "mine" / "nothing.cpp").write_text("int nothing() { return 0; }\n", encoding="utf-8")
    (tmp_path / "mine" / "sound.cpp").write_text(PLUGIN.format(body=GOOD, summary="sound"), encoding="utf-8")
    function = (
        '"""Largest error."""\nvalues = {"largest": "data"}\n\n'
        "def measure(expected, got):\n    return abs(got - expected).max()\n"
    )
    (tmp_path / "mine" / "in_python.py").write_text(function, encoding="utf-8")
    (tmp_path / "mine" / "no_metric.py").write_text("print('nothing')\n", encoding="utf-8")
    build = read_build(build_plugins("local", toolchain, [tmp_path / "mine"], tmp_path / "out").record)
    assert sorted(plugin["name"] for plugin in build["plugins"]) == ["in_python", "sound"]
    [metric] = [plugin for plugin in build["plugins"] if plugin["kind"] == "metric"]
    assert (metric["values"], metric["units"], metric["summary"]) == (["largest"], ["data"], "Largest error.")
    assert metric["source"] == str(tmp_path / "mine" / "in_python.py")
    reasons = {broken["name"]: broken["reason"] for broken in build["broken"]}
    assert reasons.keys() == {"wrong", "nothing", "no_metric"}
    assert reasons["no_metric"] == "no_metric.py: a metric in Python needs a function measure(expected, got)"
    assert reasons["wrong"].startswith("wrong.cpp:1: compiler error")
    assert "not a usable plugin" in reasons["nothing"]


def test_a_plugin_with_the_name_of_one_of_the_projects_is_refused_before_anything_is_written(
    toolchain: Toolchain, project: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ring.cpp").write_text(PLUGIN.format(body=GOOD, summary=""), encoding="utf-8")
    with pytest.raises(CollpressError, match="one of the project's own"):
        build_plugins("local", toolchain, [tmp_path / "mine"], tmp_path / "out")
    assert not (tmp_path / "out" / "build.json").exists()


def test_without_directories_the_record_says_that_there_are_no_plugins(
    toolchain: Toolchain, project: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    record = read_build(build_plugins("local", toolchain, [], tmp_path).record)
    assert (record["core"], record["plugins"]) == (None, [])


def test_two_plugins_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.cpp").touch()
    with pytest.raises(CollpressError, match='two plugins are called "same"'):
        plugin_sources([tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("there", [True, False])
def test_a_directory_that_is_empty_or_missing_is_named(tmp_path: Path, there: bool) -> None:
    directory = tmp_path / "mine"
    if there:
        directory.mkdir()
    with pytest.raises(CollpressError, match="holds no plugin" if there else "no such directory") as caught:
        plugin_sources([directory])
    assert caught.value.where == str(directory)


@pytest.mark.parametrize(
    ("output", "where", "what"),
    [
        ("FAILED: x.o\n../a b/x.cpp:3:7: error: expected ';'\n", "/a b/x.cpp:3", "expected ';'"),
        (
            "/usr/bin/ld: x.o: in function `f':\nx.cpp:(.text+0x5): undefined reference to `g'\n",
            "/build",
            "undefined reference",
        ),
        (
            "CMake Error at CMakeLists.txt:9 (message):\n  Two plugins\n  are one\n\n",
            "CMakeLists.txt:9",
            "Two plugins are one",
        ),
        ("something else\nwent wrong\n", "/build", "went wrong"),
    ],
)
def test_what_tools_say_becomes_one_message(output: str, where: str, what: str) -> None:
    error = compiler_error(output, Path("/build"))
    assert error.where == where
    assert what in error.what


def test_what_the_library_really_ran_stands_in_each_record(project: dict[str, Any], tmp_path: Path) -> None:
    """Some are told from all others by their messages, some from most; too few elements make the library fall back."""
    lines = [
        {"algorithm": "library:recursive_doubling"},
        {"algorithm": "library:ring"},
        {"algorithm": "library:ring", "message_bytes": "4"},
    ]
    swept = sweep(_batch(lines, ranks=4), tmp_path)
    first, second = (swept.journals.records[f"{n:032x}", 0].effective for n in (0, 1))
    assert first is not None
    assert second is not None
    assert (first.known_by, first.consistent_with) == ("traffic", ["recursive_doubling"])
    assert (second.known_by, second.consistent_with) == ("consistent", ["ring", "segmented_ring"])
    status = swept.journals.status(f"{2:032x}", 2)
    assert status.status is Status.UNSUPPORTED
    assert "in place of ring" in str(status.reason)


def _batch(lines: list[dict[str, str]], ranks: int = 2) -> Batch:
    same = {"collective": "allreduce", "bound": "none", "dtype": "float32", "op": "sum", "message_bytes": "4096"}
    same |= {"data": "pattern", "warmup": "1", "min_iterations": "5", "max_iterations": "20", "precision": "0.05"}
    same |= {"at_most": "0.5", "instrumented": "0"}
    points = [
        {"key": f"{n:032x}", "id": f"{n:032x}", "experiment": "e", "line": {**same, **line}}
        for n, line in enumerate(lines)
    ]
    build = ROOT / build_record("local")
    return Batch.model_validate(
        {
            "schema": 1,
            "batch": "b",
            "campaign": "c",
            "platform": "local",
            "digest": "d",
            "nodes": 1,
            "ranks": ranks,
            "launches": 2,
            "seed": 7,
            "launcher": "mpiexec",
            "oversubscribed": True,
            "binding": "none",
            "samples": "all",
            "environment": {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"},
            "core": build.with_name("collpress-core"),
            "build": build,
            "points": points,
        }
    )
