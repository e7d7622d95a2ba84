"""The registry says what each dataset is; its mistakes are reported with file, line and field."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade import World

from collpress.data.generators import names
from collpress.data.registry import find, load_registry
from collpress.errors import CollpressError

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "config" / "datasets.yaml"


def test_the_shipped_registry_has_the_met_office_fields_and_every_generator() -> None:
    registry = load_registry(SHIPPED)
    assert {"colpex/theta", "colpex/pressure"} | {f"synthetic/{name}" for name in names()} == set(registry)
    assert all(entry.id == dataset for dataset, entry in registry.items())
    assert {e.pypi.pp.stash for e in registry.values() if e.pypi} == {4, 408}


def test_each_shipped_entry_has_its_own_checksum_and_a_licence_whose_file_exists() -> None:
    registry = load_registry(SHIPPED)
    assert len({e.sha256 for e in registry.values()}) == len(registry)
    for entry in registry.values():
        for name in re.findall(r"resources/\S+\.md", entry.licence):
            assert entry.id in (ROOT / name).read_text(encoding="utf-8")
        assert entry.synthetic or "resources/licences/" in entry.licence


def test_it_is_loaded_without_numpy_so_that_a_workflow_parses_quickly() -> None:
    code = (
        "import sys; from pathlib import Path; from collpress.data.registry import load_registry\n"
        f"load_registry(Path({str(SHIPPED)!r})); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT / "workflow").returncode == 0


def test_an_unknown_id_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(
        CollpressError, match=r'unknown dataset "colpex/teta"(?s:.*)did you mean "colpex/theta"'
    ) as caught:
        find(load_registry(SHIPPED), "colpex/teta", SHIPPED)
    assert str(SHIPPED) in str(caught.value)


def _entry(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda document: change(document["datasets"]["tiny/theta"])


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        pytest.param(
            _entry(lambda e: e.update(titel="x")), "tiny/theta.titel", 'did you mean "title"', id="unknown-key"
        ),
        pytest.param(
            _entry(lambda e: e["pypi"].update(sha265="x")),
            "tiny/theta.pypi.sha265",
            'did you mean "sha256"',
            id="unknown-inner-key",
        ),
        pytest.param(_entry(lambda e: e.pop("sha256")), "tiny/theta", '"sha256" is missing', id="no-checksum"),
        pytest.param(_entry(lambda e: e.update(sha256="abc")), "tiny/theta.sha256", "pattern", id="no-sha256"),
        pytest.param(
            _entry(lambda e: e.update(shape=[2, 0])), "tiny/theta.shape", "greater than or equal to 1", id="empty-shape"
        ),
        pytest.param(_entry(lambda e: e.update(shape=[])), "tiny/theta.shape", "at least 1", id="no-shape"),
        pytest.param(_entry(lambda e: e.update(dtype="float16")), "tiny/theta.dtype", "float32", id="dtype"),
        pytest.param(_entry(lambda e: e.pop("pypi")), "tiny/theta", "one of pypi and generator", id="no-source"),
        pytest.param(
            _entry(lambda e: e["pypi"].update(member="../../etc/passwd")), "pypi.member", "without ..", id="traversal"
        ),
        pytest.param(
            _entry(lambda e: e["pypi"].update(member="/etc/passwd")), "pypi.member", "relative path", id="absolute"
        ),
        pytest.param(_entry(lambda e: e["pypi"].update(file="../x.whl")), "pypi.file", "pattern", id="file-outside"),
        pytest.param(
            lambda d: d["datasets"]["tiny/normal"]["generator"].update(name="nromal"),
            "tiny/normal.generator.name",
            'did you mean "normal"',
            id="generator",
        ),
        pytest.param(
            lambda d: d["datasets"]["tiny/normal"]["generator"].update(seed=-1),
            "tiny/normal.generator.seed",
            "greater than",
            id="seed",
        ),
        pytest.param(
            lambda d: d["datasets"].update(Tiny=d["datasets"]["tiny/normal"]),
            "datasets.Tiny",
            "cannot be an id",
            id="id",
        ),
        pytest.param(lambda d: d.update(schema=2), "schema", "1", id="schema"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_field(
    world: World, change: Callable[[dict[str, Any]], Any], where: str, message: str
) -> None:
    change(world.document)
    world.rewrite()
    with pytest.raises(CollpressError) as caught:
        load_registry(world.registry)
    assert re.search(re.escape(str(world.registry)) + r":\d+: .*" + re.escape(where), str(caught.value))
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "just text", "datasets: [", "a: 1\na: 2\n"])
def test_what_is_no_registry_at_all_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CollpressError, match=r"datasets\.yaml"):
        load_registry(path)


def test_a_missing_registry_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match=r"nowhere\.yaml does not exist"):
        load_registry(tmp_path / "nowhere.yaml")
