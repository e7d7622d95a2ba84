"""Figures are found by their file's name, cheaply; each knows the sources that it depends on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.figures import registry
from collpress.figures.registry import figure_module, figure_names, figure_sources, width_of
from collpress.spec import campaign_text
from collpress.wiring import figures_of


def test_the_figures_are_the_modules_that_draw() -> None:
    assert figure_names() == [
        "best-over-default", "break-even", "breakdown", "coverage", "error-growth", "error-histogram",
        "fidelity-table", "latency", "phases", "rate-distortion", "speed-up",
    ]  # fmt: skip
    assert figure_module("latency").name == "latency.py"


def test_an_unknown_figure_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CollpressError, match=r'did you mean "coverage"') as caught:
        figure_module("converage")
    assert "coverage, " in str(caught.value)
    assert "-single behind it" in str(caught.value)


def test_a_figure_for_one_column_is_the_same_module_with_the_same_sources() -> None:
    assert figure_module("latency-single") == figure_module("latency")
    assert figure_sources("latency-single") == figure_sources("latency")
    assert (width_of("latency-single"), width_of("latency")) == ("single", "double")
    with pytest.raises(CollpressError, match=r'did you mean "latency-single"'):
        figure_module("latencie-single")


def test_a_figure_depends_on_its_own_module_and_on_what_it_imports_but_on_no_other_figure() -> None:
    names = {name: {p.name for p in figure_sources(name)} for name in figure_names()}
    assert {"latency.py", "style.py", "stamp.py", "files.py", "lines.py", "bandwidth.py"} <= names["latency"]
    assert "coverage.py" not in names["latency"]
    assert "latency.py" not in names["coverage"]
    assert "lines.py" not in names["coverage"]


def test_a_campaign_asks_for_either_width_and_a_mistake_is_told_with_its_line() -> None:
    text = (
        "title: t\nexperiments:\n  one:\n    matrix: {collective: allreduce, algorithm: library:default, "
        "message_bytes: 8, ranks: 2}\nfigures: [coverage-single, latency, phases-singel]\n"
    )
    assert figures_of(campaign_text(text.replace("singel", "single"))) == [
        "coverage-single",
        "latency",
        "phases-single",
    ]
    with pytest.raises(CollpressError, match=r'did you mean "phases-single"') as caught:
        figures_of(campaign_text(text))
    assert "figures[2]" in str(caught.value)


def test_asking_imports_no_matplotlib_and_no_xarray() -> None:
    code = (
        "import sys; from collpress.figures.registry import figure_sources; figure_sources('latency');"
        "sys.exit(any(m.split('.')[0] in ('matplotlib', 'xarray', 'numpy') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2] / "workflow").returncode == 0


def test_a_new_figure_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rate_distortion.py").write_text("def draw(cube):\n    return cube\n", encoding="utf-8")
    (tmp_path / "words.py").write_text("def say():\n    pass\n", encoding="utf-8")
    monkeypatch.setattr(registry, "_FIGURES", tmp_path)
    assert figure_names() == ["rate-distortion"]
    assert figure_module("rate-distortion") == tmp_path / "rate_distortion.py"
