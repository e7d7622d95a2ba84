"""The house style: paper columns, embedded fonts, colours that survive colour blindness and grey printing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SINGLE, DOUBLE = 3.5, 7.16
"""Widths in inches of one and two columns of an IEEE or ACM page."""

INK, FAINT, GRID = "#1a1a1a", "#6b6b6b", "#e4e4e4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d1f", "#7b3fb5", "#b2182b")
"""Okabe and Ito's, the yellows darkened so that thin lines are seen on white; black is for the base case."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")

_RULES: dict[str, Any] = {
    "backend": "Agg",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.edgecolor": "#4d4d4d",
    "axes.labelcolor": INK,
    "text.color": INK,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.5,
    "lines.solid_capstyle": "round",
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.bbox": "standard",
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "ps.fonttype": 42,
    "pdf.compression": 6,
    "svg.fonttype": "path",  # looks the same where the font is not installed
    "svg.hashsalt": "collpress",  # ids inside an SVG are random without it
    "path.simplify": False,
}


@contextmanager
def house() -> Iterator[None]:
    """The style, whatever a user's matplotlibrc says, for drawing and for writing."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RULES)  # type: ignore[arg-type]
        yield


def blank(width: Literal["single", "double"], height: float) -> Figure:
    """An empty figure, `height` in inches; no pyplot, so nothing global and no display."""
    return Figure(figsize=(SINGLE if width == "single" else DOUBLE, height), facecolor="white")


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes placed in inches from the figure's upper left corner."""
    full_width, full_height = (float(v) for v in figure.get_size_inches())
    return figure.add_axes(
        (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height)
    )


def height_of(axes: Axes) -> float:
    """Height of axes in inches, for placing text at a distance that does not depend on it."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return float(axes.get_position().height * figure.get_size_inches()[1])


def text_at(figure: Figure, left: float, top: float, text: str, **kwargs: object) -> None:
    """Text whose upper left corner is given in inches from the figure's upper left corner."""
    full_width, full_height = (float(v) for v in figure.get_size_inches())
    settings: dict[str, object] = {"ha": "left", "va": "top", "fontsize": 7.5} | kwargs
    figure.text(left / full_width, 1 - top / full_height, text, **settings)  # type: ignore[arg-type]
