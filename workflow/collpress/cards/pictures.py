"""The panels of a card's page that are pictures: a slice of the field, and the similarity of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from collpress.cards.field import Field, Reals, in_line
from collpress.cards.panels import nothing
from collpress.cards.words import number
from collpress.figures import style

Card = dict[str, Any]
_MOST = 512
"""Points of a slice along each edge."""
_FOLD = 256
"""Values a row where one axis is folded into rows."""
_NO_VALUE = "#bdbdbd"


@dataclass(frozen=True, eq=False)
class Slice:
    """What is shown of a field: `values` as rows of a picture."""

    values: Reals
    title: str
    below: str
    beside: str
    steps: tuple[int, int] = (1, 1)
    """Points of the data from one row, and from one column, to the next."""


def slice_of(field: Field) -> Slice:
    """The last two axes, the leading ones at their middle; every k-th point where an edge is longer than _MOST.

    A single axis (of the first part) is folded into rows.
    """
    axes = field.inside
    if len(axes) < 2:
        line = in_line(field)
        n = min(_FOLD * _FOLD, math.prod(field.shape[a] for a in axes))
        width = min(_FOLD, n)
        rows = line.reals((slice(0, n // width * width),)).reshape(-1, width)
        part = "part 0, " if field.parts else ""
        said = f"first {rows.size:,} values" if rows.size < field.bits.size else "all values"
        return Slice(rows, part + said, f"place in a row of {width}", "row")
    at = [n // 2 for n in field.shape[:-2]]
    steps = _steps(*field.shape[-2:])
    chosen = tuple(slice(i, i + 1) for i in at) + tuple(slice(None, None, k) for k in steps)
    values = field.reals(chosen).reshape([-(-n // k) for n, k in zip(field.shape[-2:], steps, strict=True)])
    first, second = len(field.shape) - 2, len(field.shape) - 1
    where = f"slice at {', '.join(map(str, at))}" if at else "the field"
    every = ["" if k == 1 else f" (1 in {k})" for k in steps]
    return Slice(values, where, f"axis {second}{every[1]}", f"axis {first}{every[0]}", steps)


def _steps(rows: int, columns: int) -> tuple[int, int]:
    """The same along both edges, unless one of them is so short that it would be lost."""
    alike = math.ceil(max(rows, columns) / _MOST)
    if min(rows, columns) >= 64 * alike:
        return alike, alike
    return math.ceil(rows / _MOST), math.ceil(columns / _MOST)


def draw_slice(figure: Figure, axes: Axes, bar: Axes, field: Field, card: Card) -> str:
    """Colours from the 0.1 to the 99.9 % quantile; about 0 where values have both signs. Returns the title."""
    shown = slice_of(field)
    values = np.ma.masked_invalid(shown.values)
    axes.set(xlabel=shown.below, ylabel=shown.beside)
    if not card["values"]["usable"]:
        nothing(axes, "no usable value")
        bar.set_visible(False)
        return shown.title
    low, high = card["values"]["quantiles"]["0.001"], card["values"]["quantiles"]["0.999"]
    both = low < 0 < high and min(-low, high) > 0.2 * max(-low, high)
    if both:
        high = max(-low, high)
        low = -high
    elif low == high:
        low, high = low - (abs(low) or 1) / 10, high + (abs(high) or 1) / 10
    colours = colormaps["RdBu_r" if both else "cividis"].with_extremes(bad=_NO_VALUE)
    scale = Normalize(low, high)
    rows, columns = values.shape
    square = max(rows, columns) <= 2 * min(rows, columns)
    axes.imshow(values, cmap=colours, norm=scale, aspect="auto", interpolation="nearest")
    if square:
        _square(axes, bar, rows / columns)
    axes.grid(visible=False)
    _indices(axes, shown)
    _bar(figure, bar, ScalarMappable(scale, colours), "" if card["units"] == "1" else card["units"])
    return shown.title


def _square(axes: Axes, bar: Axes, height: float) -> None:
    """Shrink axes so that a point is as high as wide, `height` in widths, and the bar beside them with them."""
    box, beside = axes.get_position(), bar.get_position()
    full_width, full_height = (float(v) for v in style.figure_of(axes).get_size_inches())
    width = min(box.width * full_width, box.height * full_height / height)
    low = box.y1 - width * height / full_height
    axes.set_position((box.x0, low, width / full_width, box.y1 - low))
    bar.set_position((box.x0 + (width + 0.07) / full_width, low, beside.width, box.y1 - low))


def _indices(axes: Axes, shown: Slice) -> None:
    """Ticks count points of the data, not of the picture."""
    for axis, every in ((axes.xaxis, shown.steps[1]), (axes.yaxis, shown.steps[0])):
        axis.set_major_locator(MaxNLocator(3, integer=True, min_n_ticks=1))
        axis.set_major_formatter(FuncFormatter(lambda v, _, k=every: f"{int(v) * k:,}"))


def _bar(figure: Figure, axes: Axes, colours: ScalarMappable, units: str) -> None:
    figure.colorbar(colours, cax=axes, extend="both")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: number(v, 4)))
    axes.tick_params(labelsize=6, length=1.5, pad=1.5)
    axes.set_title(units, fontsize=6, pad=6, loc="left")


def draw_similarity(figure: Figure, axes: Axes, bar: Axes, card: Card) -> str:
    """The cosine of each pair of parts; with numbers where there are few. Returns the title."""
    found = card["parts"]
    matrix = np.array(found["cosine"], dtype=float)
    colours = colormaps["RdBu_r"].with_extremes(bad=_NO_VALUE)
    shown = np.ma.masked_invalid(matrix)
    axes.imshow(shown, cmap=colours, norm=Normalize(-1, 1), aspect="auto", interpolation="nearest")
    _square(axes, bar, 1.0)
    axes.grid(visible=False)
    axes.set(xlabel="part", ylabel="part")
    n = len(matrix)
    if n <= 6:
        for (row, column), value in np.ndenumerate(matrix):
            ink = "white" if abs(value) > 0.7 else style.INK
            text = "–" if math.isnan(value) else f"{value:.2f}".replace("-", "−")
            axes.text(column, row, text, ha="center", va="center", fontsize=6 if n <= 4 else 5, color=ink)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(range(n)) if n <= 8 else MaxNLocator(4, integer=True))
        axis.set_minor_locator(NullLocator())
        if found["compared"]:
            names = found["compared"]
            axis.set_major_formatter(
                FuncFormatter(lambda v, _, names=names: str(names[int(v)]) if 0 <= v < len(names) else "")
            )
    figure.colorbar(ScalarMappable(Normalize(-1, 1), colours), cax=bar)
    bar.yaxis.set_major_locator(FixedLocator([-1, 0, 1]))
    bar.tick_params(labelsize=6, length=1.5, pad=1.5)
    return "similarity of parts: cosine"
