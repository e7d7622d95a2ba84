"""The house style: paper columns, embedded fonts, colours that survive colour blindness and grey printing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.ft2font import LoadFlags

from collpress.errors import CollpressError

Width = Literal["single", "double"]
"""One or two columns of a page."""
SINGLE, DOUBLE = 3.5, 7.16
"""Their widths in inches, on an IEEE or ACM page."""
TALLEST = 8.5
"""Inches that a page has for a figure, above its caption."""
FONT = "DejaVu Sans"
_OTHER_FONTS = ("Bitstream Vera Sans", "Liberation Sans", "Arial", "Helvetica", "Noto Sans", "FreeSans")
"""Instead of it, in this order, where it cannot be found."""
_MEASURED_DPI = 720
_HINTED = 1.05
"""Letters on a coarse grid of pixels are wider than in print."""

INK, FAINT, GRID = "#1a1a1a", "#6b6b6b", "#e4e4e4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d1f", "#7b3fb5", "#b2182b")
"""Okabe and Ito's, the yellows darkened so that thin lines are seen on white; black is for the base case."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")

_RULES: dict[str, Any] = {
    "backend": "Agg",
    "font.family": "sans-serif",
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


def nth(place: int) -> tuple[str, str]:
    """Colour and marker of the `place`-th subject of a figure; no pair comes twice among the first 64."""
    return (
        COLOURS[place % len(COLOURS)],
        MARKERS[(place + place // len(COLOURS)) % len(MARKERS)],
    )


@contextmanager
def house() -> Iterator[None]:
    """The style, whatever a user's matplotlibrc says, for drawing and for writing.

    Warns on standard error where the house's font is missing and another stands in for it; CollpressError where there
    is none at all.
    """
    chosen = font()
    if chosen != FONT:
        print(
            f'warning: matplotlib cannot find the font "{FONT}", which comes with it; figures use "{chosen}" instead, '
            f"where the marks of some statuses may be missing\n  fix: pip install --force-reinstall matplotlib, and "
            f"remove {matplotlib.get_cachedir()}",
            file=sys.stderr,
        )
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RULES | {"font.sans-serif": [chosen]})  # type: ignore[arg-type]
        yield


def font() -> str:
    """The font that figures use: the house's, else the first other one that is installed."""
    for name in (FONT, *_OTHER_FONTS, *sorted({entry.name for entry in fontManager.ttflist})):
        try:
            path = Path(findfont(FontProperties(family=name), fallback_to_default=False))
            if path.is_file():
                get_font(path)  # opens the font that draws unknown letters as well, and fails without that one
                return name
        except (ValueError, OSError, RuntimeError):
            continue
    raise CollpressError(
        "matplotlib has no font that it can draw with",
        where=str(Path(matplotlib.get_data_path()) / "fonts" / "ttf"),
        allowed=FONT,
        fix="pip install --force-reinstall matplotlib brings it",
    )


def inches(width: Width) -> float:
    """How wide a figure is."""
    return SINGLE if width == "single" else DOUBLE


def fitted(most: float, least: float, height: Callable[[float], float]) -> float:
    """How large to make what there is many of in a figure, `most` if its page allows.

    Parameters
    ----------
    least : what can still be read; a figure that is too tall even so becomes taller than a page.
    height : of the whole figure by that size, at best linear.

    >>> fitted(0.2, 0.1, lambda row: 50 * row + 1), fitted(0.2, 0.1, lambda row: 20 * row + 1)
    (0.15, 0.2)
    """
    tall, gain = height(most), height(most) - height(least)
    if tall <= TALLEST or gain <= 0:
        return most
    return max(least, most - (tall - TALLEST) * (most - least) / gain)


def blank(width: Width, height: float) -> Figure:
    """An empty figure, `height` in inches; no pyplot, so nothing global and no display."""
    return Figure(figsize=(inches(width), height), facecolor="white")


def length_of(text: str, size: float, weight: str = "normal") -> float:
    """How long a text is in inches, set in `size` points in the font in force."""
    face = get_font(findfont(FontProperties(weight=weight)))
    face.set_size(size, _MEASURED_DPI)
    face.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    return _HINTED * float(face.get_width_height()[0]) / 64 / _MEASURED_DPI


def shortened(
    text: str, size: float, room: float, weight: str = "normal", *, keep: Literal["start", "end"] = "start"
) -> str:
    """`text`, cut with `…` where it is longer than `room` in inches; `keep` says which end stays.

    The `…` stays even where there is no room for it.
    """
    kept, shown = text, text
    while kept and length_of(shown, size, weight) > room:
        kept = kept[:-1] if keep == "start" else kept[1:]
        shown = kept.rstrip() + "…" if keep == "start" else "…" + kept.lstrip()
    return shown


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes placed in inches from the figure's upper left corner."""
    full_width, full_height = (float(v) for v in figure.get_size_inches())
    return figure.add_axes(
        (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height)
    )


def height_of(axes: Axes) -> float:
    """Height of axes in inches, for placing text at a distance that does not depend on it."""
    return float(axes.get_position().height * figure_of(axes).get_size_inches()[1])


def figure_of(axes: Axes) -> Figure:
    """The figure that axes are on."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def text_at(figure: Figure, left: float, top: float, text: str, **kwargs: object) -> None:
    """Text whose upper left corner is given in inches from the figure's upper left corner."""
    full_width, full_height = (float(v) for v in figure.get_size_inches())
    settings: dict[str, object] = {"ha": "left", "va": "top", "fontsize": 7.5} | kwargs
    figure.text(left / full_width, 1 - top / full_height, text, **settings)  # type: ignore[arg-type]
