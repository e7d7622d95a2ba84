"""The house style: a font that is always there, no display, looks that survive grey print and colour blindness."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontEntry, fontManager
from synthetic_campaign import Campaign

from collpress.cube.build import build_cube
from collpress.errors import CollpressError
from collpress.figures import style
from collpress.figures.phases import FILLS
from collpress.layout import ROOT

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
BLINDNESS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> npt.NDArray[np.float64]:
    """sRGB without its gamma (IEC 61966-2-1)."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lightness(rgb: npt.NDArray[np.float64]) -> float:
    """CIE L* of linear RGB: what grey print keeps, 0 (black) to 100 (white)."""
    y = float(np.clip(rgb, 0, 1) @ [0.2126, 0.7152, 0.0722])
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


@pytest.fixture
def only_fonts() -> Iterator[list[FontEntry]]:
    """The fonts that matplotlib knows, to be cut down by a test."""
    known = list(fontManager.ttflist)
    fontManager._findfont_cached.cache_clear()
    yield fontManager.ttflist
    fontManager.ttflist[:] = known
    fontManager._findfont_cached.cache_clear()


def test_the_house_font_is_used_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with style.house():
        assert matplotlib.rcParams["font.sans-serif"] == ["DejaVu Sans"]
    assert capsys.readouterr().err == ""


def test_without_the_house_font_another_stands_in_and_is_named(
    only_fonts: list[FontEntry], capsys: pytest.CaptureFixture[str]
) -> None:
    only_fonts[:] = [f for f in only_fonts if f.name == "STIXGeneral"]
    with style.house():
        assert matplotlib.rcParams["font.sans-serif"] == ["STIXGeneral"]
        assert style.length_of("text", 10) > 0
    said = capsys.readouterr().err
    assert 'cannot find the font "DejaVu Sans"' in said
    assert '"STIXGeneral" instead' in said
    assert "pip install --force-reinstall matplotlib" in said


def test_a_machine_without_any_font_is_told(only_fonts: list[FontEntry]) -> None:
    only_fonts.clear()
    with pytest.raises(CollpressError, match="no font that it can draw with"), style.house():
        pass


def test_no_display_and_a_backend_that_does_not_exist_stop_no_figure(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from collpress.figures.files import write_figure;"
        "write_figure('coverage-single', Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "cube.nc"), str(tmp_path)],
        cwd=Path(__file__).parents[2] / "workflow",
        env=environment | {"MPLBACKEND": "silly"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.iterdir())) == 5


def test_each_phase_has_its_own_grey_and_its_own_hatch_or_none() -> None:
    greys = {name: lightness(linear(fill.colour)) for name, fill in FILLS.items()}
    for a, b in combinations(FILLS, 2):
        apart = abs(greys[a] - greys[b])
        assert apart >= 6 or FILLS[a].hatch != FILLS[b].hatch, f"{a} and {b} look alike in grey"
    for a, b in [*pairwise(FILLS), ("compress", "decompress"), ("send", "reduce"), ("decompress", "wait")]:
        assert abs(greys[a] - greys[b]) >= 6, f"{a} and {b} touch and have the same grey"


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colour_blind_people_tell_phases_apart(kind: str) -> None:
    seen = {name: np.array(BLINDNESS[kind]) @ linear(fill.colour) for name, fill in FILLS.items()}
    for a, b in combinations(FILLS, 2):
        same_hatch = FILLS[a].hatch == FILLS[b].hatch
        apart = abs(lightness(seen[a]) - lightness(seen[b]))
        assert not same_hatch or apart >= 20, f"{a} and {b} look alike with {kind}"


def test_subjects_differ_in_more_than_colour() -> None:
    looks = [style.nth(i) for i in range(64)]
    assert len(set(looks)) == 64
    for start in range(8):
        assert len({marker for _, marker in looks[8 * start : 8 * start + 8]}) == 8


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "Zs"]), max_size=60), st.floats(0.2, 4))
def test_a_shortened_text_fits_and_keeps_the_end_that_is_asked_for(text: str, room: float) -> None:
    with style.house():
        start, end = (style.shortened(text, 7, room, keep=keep) for keep in ("start", "end"))
        assert style.length_of(start, 7) <= room
        assert style.length_of(end, 7) <= room
    assert text.startswith(start.removesuffix("…"))
    assert text.endswith(end.removeprefix("…"))
    assert style.length_of(text, 7) > room or start == end == text


def drawn(folder: Path, before: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """`collpress figure` in a process of its own, in `folder`, after some statements."""
    code = f"import sys\n{before}\nfrom collpress.cli import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "figure", "coverage", "--campaign", "synthetic", "--platform", "fabricated"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "MPLCONFIGDIR": str(folder), **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the cube of a fabricated campaign of one point."""
    campaign = Campaign(launches=1)
    campaign.add("e")
    build_cube(campaign.write(tmp_path / "results"), root=tmp_path)
    return tmp_path


def test_without_any_font_a_figure_is_a_message_and_no_traceback(checkout: Path) -> None:
    # matplotlib as installed, with a folder of data in which no font is left.
    emptied = (
        "import matplotlib\nmatplotlib.get_data_path = lambda: 'no-data'\n"
        "from matplotlib.font_manager import fontManager\nfontManager.ttflist.clear()"
    )
    done = drawn(checkout, emptied)
    assert done.returncode == 2, done.stderr
    assert "no-data/fonts/ttf: matplotlib has no font that it can draw with" in done.stderr
    assert "fix: pip install --force-reinstall matplotlib" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_of_matplotlib_that_are_not_utf_8_change_nothing_or_are_named(checkout: Path) -> None:
    (checkout / "elsewhere").write_bytes(b"font.size: 20 # \xe9\n")
    done = drawn(checkout, MATPLOTLIBRC=str(checkout / "elsewhere"))
    assert done.returncode == 0, done.stderr
    (checkout / "matplotlibrc").write_bytes(b"font.size: 20 # \xe9\n")
    done = drawn(checkout)
    assert done.returncode == 2, done.stderr
    assert f"{checkout / 'matplotlibrc'}: matplotlib cannot read its settings" in done.stderr
    assert "Traceback" not in done.stderr
