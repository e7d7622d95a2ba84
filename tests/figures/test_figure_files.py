"""Files of a figure: the same bytes each time, provenance inside and beside, a CSV of exactly what is shown."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image
from synthetic_campaign import Campaign

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.figures.files import write_figure
from collpress.figures.pictures import read_stamp
from collpress.figures.registry import ONE_COLUMN, figure_names

SUFFIXES = ("pdf", "svg", "png", "csv", "json")
NAMES = [*figure_names(), "coverage-single", "latency-single"]


@pytest.fixture(scope="module")
def drawn(folder: Path) -> dict[str, dict[str, Path]]:
    return {
        name: {p.suffix[1:]: p for p in write_figure(name, folder / "cube.nc", folder / "figures", root=folder)}
        for name in NAMES
    }


@pytest.mark.parametrize("name", figure_names())
def test_a_redraw_gives_the_same_bytes(
    drawn: dict[str, dict[str, Path]], folder: Path, tmp_path: Path, name: str
) -> None:
    again = {p.suffix[1:]: p for p in write_figure(name, folder / "cube.nc", tmp_path, root=folder)}
    assert tuple(again) == SUFFIXES
    for suffix in SUFFIXES:
        assert again[suffix].read_bytes() == drawn[name][suffix].read_bytes(), suffix


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_provenance_inside_a_file_is_the_one_beside_it(
    drawn: dict[str, dict[str, Path]], folder: Path, name: str, suffix: str
) -> None:
    inside = read_stamp(drawn[name][suffix])
    beside = json.loads(drawn[name]["json"].read_text(encoding="utf-8"))
    assert inside == {k: v for k, v in beside.items() if k not in ("caption", "files_sha256")}
    assert inside["cube"]["sha256"] == hashlib.sha256((folder / "cube.nc").read_bytes()).hexdigest()
    assert inside["command"] == f"./run collpress figure {name} --campaign synthetic --platform fabricated"
    assert inside["software"]["matplotlib"]
    assert inside["world"]["mpi_libraries"] == ["Open MPI v5.0.11 (fabricated)"]
    assert beside["files_sha256"][suffix] == hashlib.sha256(drawn[name][suffix].read_bytes()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_no_file_holds_a_date_of_now_and_fonts_are_embedded_as_type_42(
    drawn: dict[str, dict[str, Path]], name: str
) -> None:
    pdf = drawn[name]["pdf"].read_bytes()
    assert b"/CreationDate" not in pdf
    assert b"/Type3" not in pdf
    fonts = set(re.findall(rb"/BaseFont /([\w+-]+)", pdf))
    assert {font.partition(b"+")[2] for font in fonts} <= {b"DejaVuSans", b"DejaVuSans-Bold"}
    assert fonts
    assert pdf.count(b"/FontFile2") >= len(fonts)  # TrueType, in the file
    assert "<dc:date>" not in drawn[name]["svg"].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_pictures_fill_their_columns_and_are_readable_images(drawn: dict[str, dict[str, Path]], name: str) -> None:
    with Image.open(drawn[name]["png"]) as image:
        assert image.width == round((3.5 if name.endswith(ONE_COLUMN) else 7.16) * 200)
        assert image.text["Description"] == caption_of(drawn[name])
        assert len(image.convert("L").histogram()) == 256


@pytest.mark.parametrize("name", NAMES)
def test_the_caption_in_a_pdf_keeps_its_signs(drawn: dict[str, dict[str, Path]], name: str) -> None:
    found = re.search(rb"/Subject \(((?:\\.|[^\\)])*)\)", drawn[name]["pdf"].read_bytes(), re.DOTALL)
    assert found
    escaped = {b"n": b"\n", b"r": b"\r"}
    text = re.sub(rb"\\(.)", lambda match: escaped.get(match[1], match[1]), found[1], flags=re.DOTALL)
    assert text.decode("utf-16" if text.startswith(b"\xfe\xff") else "ascii") == caption_of(drawn[name])


def test_the_captions_have_signs_beyond_ascii(drawn: dict[str, dict[str, Path]]) -> None:
    assert {"×", "−"} <= set("".join(caption_of(files) for files in drawn.values()))


def test_the_latency_csv_has_every_planned_point_and_the_numbers_of_the_ok_ones(
    drawn: dict[str, dict[str, Path]],
) -> None:
    rows = read(drawn["latency"]["csv"])
    assert len(rows) == 30 + 17
    assert sum(row["status"] == "ok" for row in rows) == 42
    for row in rows:
        assert bool(row["latency_median_s"]) == bool(row["busbw_byte_per_s"]) == (row["status"] == "ok")
    fastest = [r for r in rows if r["fastest"] == "1"]
    assert len(fastest) == 3 + 1 + 1
    ok = [r for r in rows if r["status"] == "ok" and r["experiment"] == "tuning" and r["message_bytes"] == "8"]
    assert min(ok, key=lambda r: float(r["latency_median_s"])) in fastest


def test_the_limits_of_the_rate_are_the_rates_of_the_limits(drawn: dict[str, dict[str, Path]]) -> None:
    for row in read(drawn["latency"]["csv"]):
        if row["status"] == "ok":
            scale = int(row["message_bytes"]) * 1.5
            assert float(row["busbw_low_byte_per_s"]) == pytest.approx(scale / float(row["latency_ci_high_s"]))
            assert float(row["busbw_high_byte_per_s"]) == pytest.approx(scale / float(row["latency_ci_low_s"]))


@pytest.mark.parametrize("name", NAMES)
def test_the_csv_is_the_golden_one(drawn: dict[str, dict[str, Path]], name: str) -> None:
    golden = Path(__file__).parent / "golden" / f"{name.removesuffix(ONE_COLUMN)}.csv"
    assert drawn[name]["csv"].read_text(encoding="utf-8") == golden.read_text(encoding="utf-8")


def test_both_verbs_work_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(launches=1)
    campaign.add("one")
    campaign.write(tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    assert main(["cube", "synthetic", "--platform", "fabricated"]) == 0
    assert "1 of 1 points ok" in capsys.readouterr().out
    assert main(["figure", "coverage", "--campaign", "synthetic", "--platform", "fabricated"]) == 0
    assert len(list(tmp_path.glob("results/campaigns/synthetic/fabricated/figures/coverage.*"))) == 5


def test_a_cube_of_a_campaign_that_never_ran_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["cube", "nobody"]) == 2
    assert "there is no plan" in capsys.readouterr().err


def test_a_misspelt_figure_is_told_with_the_right_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figure", "latancy", "--campaign", "x"]) == 2
    said = capsys.readouterr().err
    assert 'unknown figure "latancy"' in said
    assert 'did you mean "latency"?' in said


def test_a_missing_cube_is_told(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match="there is no cube"):
        write_figure("coverage", tmp_path / "cube.nc", tmp_path)


def test_a_damaged_cube_is_told(tmp_path: Path) -> None:
    (tmp_path / "cube.nc").write_bytes(b"\x89HDF\r\n\x1a\nnot really")
    with pytest.raises(CollpressError, match="cannot be read"):
        write_figure("coverage", tmp_path / "cube.nc", tmp_path)


def test_a_figure_that_cannot_be_written_leaves_the_old_one(
    drawn: dict[str, dict[str, Path]], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "coverage.pdf").write_bytes(b"old")

    def full(*args: object, **kwargs: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(CollpressError, match="No space left"):
        write_figure("coverage", folder / "cube.nc", tmp_path, root=folder)
    assert [p.name for p in tmp_path.iterdir()] == ["coverage.pdf"]


def test_a_file_without_provenance_is_told(tmp_path: Path) -> None:
    Figure().savefig(tmp_path / "bare.png")
    with pytest.raises(CollpressError, match="no provenance inside"):
        read_stamp(tmp_path / "bare.png")


def test_captions_state_n_statistic_confidence_and_machine(drawn: dict[str, dict[str, Path]]) -> None:
    caption = json.loads(drawn["latency"]["json"].read_text(encoding="utf-8"))["caption"]
    assert "medians over 5 launches" in caption
    assert "93.75 %" in caption
    assert re.search(r"n = 210 timed iterations", caption)
    assert "fabricated" in caption


@pytest.mark.parametrize("name", ["rate-distortion", "phases", "error-histogram"])
def test_captions_of_what_has_no_limits_say_so(drawn: dict[str, dict[str, Path]], name: str) -> None:
    caption = json.loads(drawn[name]["json"].read_text(encoding="utf-8"))["caption"]
    assert re.search(r"n = \d", caption)
    assert "5 launches" in caption
    assert re.search(r"no confidence limits|without confidence limits", caption)
    assert "on platform fabricated" in caption


def caption_of(files: dict[str, Path]) -> str:
    return str(json.loads(files["json"].read_text(encoding="utf-8"))["caption"])


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
