"""From a prepared dataset to its files: what the verb writes, refuses and says, and what the page shows."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import card_of, field, normal, uniform
from legible import legible
from prepared_datasets import Prepare, prepared

from collpress.cards.files import write_card
from collpress.cards.page import draw
from collpress.cards.pictures import slice_of
from collpress.cards.sources import card_sources
from collpress.cards.words import caption
from collpress.cli import main
from collpress.data.generate import generate
from collpress.figures import style
from collpress.figures.stamped import read_stamp
from collpress.layout import ROOT

GOLDEN = Path(__file__).parent / "golden" / "waves.json"
SUFFIXES = ("pdf", "svg", "png", "json")


def waves() -> np.ndarray:
    """Three parts of 18 x 24 values that have a wave in common; five values are missing."""
    y, x = np.mgrid[:18, :24]
    common = np.sin(0.4 * x) * np.cos(0.3 * y)
    values = np.stack([common * (i + 1) + 0.3 * uniform(18 * 24, i).reshape(18, 24) for i in range(3)])
    values[1, 4:9, 7] = -999
    return values.astype("<f4")


WAVES = {"ranks": "parts", "missing": {"value": -999.0, "count": 5}}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the card of made/waves was written once, by the verb."""
    root = tmp_path_factory.mktemp("cards")
    prepared(root, "waves", waves(), **WAVES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["card", "made/waves"]) == 0
    return root


def written_card(root: Path) -> dict[str, Any]:
    return dict(json.loads((root / "results/cards/made/waves.json").read_text(encoding="utf-8")))


def same(found: Any, golden: Any, where: str = "card") -> None:
    """Equal; floats within 1e-6: other processors and versions of numpy round a Fourier transform otherwise."""
    if isinstance(golden, dict):
        assert list(found) == list(golden), where
        for key in golden:
            same(found[key], golden[key], f"{where}.{key}")
    elif isinstance(golden, list):
        assert len(found) == len(golden), where
        for i, value in enumerate(golden):
            same(found[i], value, f"{where}[{i}]")
    else:
        assert found == (pytest.approx(golden, rel=1e-6, abs=1e-9) if isinstance(golden, float) else golden), where


def test_the_card_is_the_golden_one(written: Path) -> None:
    found = written_card(written)
    del found["page"]
    same(found, json.loads(GOLDEN.read_text(encoding="utf-8")))


def test_the_golden_card_is_compared_number_by_number() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for path in (("values", "kurtosis"), ("parts", "coherence"), ("bits", "byte_entropy")):
        changed = json.loads(json.dumps(golden))
        changed[path[0]][path[1]] *= 1.00001
        with pytest.raises(AssertionError, match=path[1]):
            same(changed, golden)


def test_writing_again_gives_the_same_bytes(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    assert main(["card", "made/waves", "--out", str(tmp_path)]) == 0
    for suffix in SUFFIXES:
        again = (tmp_path / "made" / f"waves.{suffix}").read_bytes()
        assert again == (written / "results/cards/made" / f"waves.{suffix}").read_bytes(), suffix


def test_the_provenance_inside_the_pictures_is_the_one_in_the_card(written: Path) -> None:
    page = written_card(written)["page"]
    for suffix in ("pdf", "svg", "png"):
        path = written / "results/cards/made" / f"waves.{suffix}"
        assert read_stamp(path) == {
            k: v for k, v in page.items() if k not in ("caption", "alternative", "files_sha256")
        }
        assert page["files_sha256"][suffix] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert page["command"] == "./run collpress card made/waves"
    assert page["data_sha256"] == hashlib.sha256(waves().tobytes()).hexdigest()
    pdf = (written / "results/cards/made/waves.pdf").read_bytes()
    assert b"/CreationDate" not in pdf
    assert b"/Type3" not in pdf


def test_caption_and_alternative_text_say_how_many_values_there_are_and_that_they_are_synthetic(written: Path) -> None:
    page = written_card(written)["page"]
    for text in (page["caption"], page["alternative"]):
        assert "synthetic: made by a generator" in text
    assert "n = 1,291 usable values of 1,296 (3 × 18 × 24, float32)" in page["caption"]
    assert "usable values: 1,291 of 1,296; left out: 5 missing" in page["alternative"]
    real = card_of(normal(2000)) | {"synthetic": False}
    assert "not synthetic" in caption(real)
    sampled = card_of(normal(2000))
    sampled["spectrum"]["values"] = 1000
    assert "the spectrum is of 1,000 values" in caption(sampled)


def test_the_verb_prints_main_numbers_and_files_or_the_card(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(written)
    monkeypatch.setattr("collpress.cards.files.pictures", lambda *_: {})  # the words need no picture
    assert main(["card", "made/waves", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "synthetic: made by a generator" in said
    assert "1,291 of 1,296" in said
    assert str(tmp_path / "made" / "waves.json") in said
    assert main(["card", "made/waves", "--json", "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["parts"]["parts"] == 3


def refused(capsys: pytest.CaptureFixture[str], dataset: str) -> str:
    assert main(["card", dataset]) == 2
    assert not list(Path().glob("results/cards/**/*.*"))
    return capsys.readouterr().err


def test_other_bytes_than_the_sidecar_says_are_refused(prepare: Prepare, capsys: pytest.CaptureFixture[str]) -> None:
    path = prepare("field", normal(100).astype("<f4"))
    data = bytearray(path.read_bytes())
    data[17] ^= 1
    path.write_bytes(data)
    said = refused(capsys, "made/field")
    assert "wrong checksum: expected sha256" in said
    assert "fix: collpress dataset get made/field" in said
    path.write_bytes(data[:-4])
    assert "396 bytes, the sidecar says 400" in refused(capsys, "made/field")


def test_parts_without_a_value_are_refused(prepare: Prepare, capsys: pytest.CaptureFixture[str]) -> None:
    prepare("empty", np.zeros((3, 0), dtype="<f4"), ranks="parts")
    assert "made/empty.json" in refused(capsys, "made/empty")


def test_a_dataset_that_is_not_prepared_not_known_or_no_id_is_told(
    prepare: Prepare, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "not prepared\n  fix: collpress dataset get made/nothing" in refused(capsys, "made/nothing")
    assert '"../made/x" cannot be an id' in refused(capsys, "../made/x")
    (tmp_path / "config").mkdir()
    shutil.copy(ROOT / "config/datasets.yaml", tmp_path / "config")
    assert 'did you mean "synthetic/sparse"?' in refused(capsys, "synthetic/spars")
    assert "not prepared" in refused(capsys, "synthetic/sparse")


def test_a_folder_that_cannot_be_written_is_told_and_holds_no_half_card(
    prepare: Prepare, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collpress.cards.files.pictures", lambda *_: {"pdf": b"a page"})
    prepare("field", normal(100).astype("<f4"))
    (tmp_path / "made").write_text("a file where a folder should be", encoding="utf-8")
    assert main(["card", "made/field", "--out", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "made").is_file()


def test_bfloat16_values_are_described_as_they_are(prepare: Prepare, tmp_path: Path) -> None:
    values = normal(4 * 64).reshape(4, 64).astype(np.float32)
    prepare("half", (values.view(np.uint32) >> np.uint32(16)).astype("<u2"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("collpress.cards.files.pictures", lambda *_: {})
        content, _ = write_card("made/half", tmp_path)
    cut = (values.view(np.uint32) & np.uint32(0xFFFF_0000)).view(np.float32)
    assert content["values"]["maximum"] == cut.max()
    assert content["bytes"] == 4 * 64 * 2


def test_a_slice_of_a_large_field_keeps_the_field_s_proportions() -> None:
    shown = slice_of(field(np.zeros((5, 1200, 800))))
    assert (shown.values.shape, shown.steps, shown.title) == ((400, 267), (3, 3), "slice at 2")
    long = slice_of(field(np.arange(10_000.0).reshape(2, 5000), parts=True))
    assert long.values.shape == (19, 256)
    assert long.values[1, 0] == 256
    thin = slice_of(field(np.zeros((30, 2000))))
    assert (thin.values.shape, thin.steps) == ((30, 500), (1, 4))


def capture() -> np.ndarray:
    """Many parts of bfloat16, with outliers."""
    values = (normal(12 * 20 * 500).reshape(12, 20, 500) * 1e-5).astype(np.float32)
    values[:, :, 300] *= 200
    return (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


PAGES = {
    "capture": (capture, True),
    "weather": (lambda: 101_325 + 5 * normal(2 * 3 * 40 * 30).reshape(2, 3, 40, 30).cumsum(axis=3), False),
    "nothing": (lambda: np.full(300, np.nan), False),
    "constant": (lambda: np.full((4, 30), 2.0), True),
    "lognormal": (lambda: generate("lognormal", 9, (3000,)), False),
    "whole numbers": (lambda: generate("ccbench-rank-product", 0, (4, 1000)), True),
}


@pytest.mark.parametrize("name", PAGES)
def test_no_text_of_a_page_lies_on_another_or_leaves_it(name: str) -> None:
    make, parts = PAGES[name]
    values = make()
    content = card_of(values, parts=parts)
    with style.house():
        figure = draw(field(values, parts=parts), content)
    assert "SYNTHETIC" in legible(figure)


def test_a_card_tells_what_a_family_of_values_is() -> None:
    constant = card_of(generate("constant", 0, (2, 500), {"value": 273.15}), parts=True)
    assert (constant["values"]["distinct"], constant["values"]["std"]) == (1, 0)
    assert constant["parts"]["cosine_of_pairs"]["mean"] == pytest.approx(1)
    lognormal = card_of(generate("lognormal", 9, (20_000,)))
    assert (lognormal["values"]["negative"], lognormal["values"]["zeros"]) == (0, 0)
    assert lognormal["values"]["quantiles"]["0.5"] == pytest.approx(1, abs=0.05)
    uniform = card_of(generate("uniform", 8, (20_000,)))
    assert uniform["values"]["kurtosis"] == pytest.approx(1.8, abs=0.05)
    counting = card_of(generate("ccbench-rank-linear", 0, (4, 1000)), parts=True)
    assert counting["looks"]["step"] == 1
    assert counting["parts"]["coherence"] == pytest.approx(1, abs=1e-3)


def test_a_card_depends_on_its_own_room_and_on_the_figures_style_and_asking_costs_no_import() -> None:
    names = {f"{path.parent.name}/{path.name}" for path in card_sources()}
    assert {"cards/page.py", "cards/lorenzo.py", "figures/style.py", "figures/pictures.py"} <= names
    assert not names & {"figures/latency.py", "figures/stamp.py", "figures/files.py"}
    code = (
        "import sys; from collpress.cards.sources import card_sources; card_sources();"
        "sys.exit(any(m.split('.')[0] in ('matplotlib', 'xarray', 'numpy') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT / "workflow").returncode == 0
