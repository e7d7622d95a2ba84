"""Names of lines: beside their ends with leaders, or below in columns; with its sample, each is the legend too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from math import ceil, inf

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from collpress.analysis.table import Row
from collpress.figures import style
from collpress.figures.lines import Facet, Line
from collpress.figures.marks import MARKS, said

NAME_H = 0.128
"""Height of a name in inches."""
_SAMPLE, _SAMPLE_BELOW, _MARGIN = 0.26, 0.22, 0.06
_BESIDE, _UNDER = 6.3, 5.6
"""Points of letters."""


def names_beside(axes: Axes, facet: Facet, panel: float) -> None:
    """Each line's name at the right, in the order of the lines' right ends, moved apart; a thin leader joins the two.

    A line that wins has the ring of its points around its sample, and at how many sizes it wins. Lines without any
    time stand below. Where the panel has no rates, the fastest name is on top. `panel`: width of the axes in inches.
    """
    height = style.height_of(axes)
    low, high = np.log(axes.get_ylim())
    if facet.has_rate:
        ends = {line: [p for p in line.points if p["busbw"] is not None][-1] for line in facet.lines if line.drawn}
        wanted = {line: float((np.log(p["busbw"]) - low) / (high - low)) * height for line, p in ends.items()}
    else:
        ends = {}
        wanted = {line: height - NAME_H * (i + 0.5) for i, line in enumerate(_fastest_first(facet))}
    absent = [line for line in facet.lines if not line.drawn]
    floor = NAME_H * (len(absent) + 0.3)
    before = 0.12 + _SAMPLE + 0.06
    x = 1 + before / panel
    room = _right_of(axes) - before - _MARGIN
    for line, y in _apart(wanted, NAME_H, floor, height).items():
        if line in ends:
            _leader(axes, ends[line], 1.0 + 0.1 / panel, y / height)
        _sample(axes, line, 1 + 0.12 / panel, 1 + (0.12 + _SAMPLE) / panel, y / height)
        name = style.shortened(_said(line, facet), _BESIDE, room, _weight(line))
        axes.text(x, y / height, name, transform=axes.transAxes, fontsize=_BESIDE, va="center", weight=_weight(line))
    for i, line in enumerate(absent):
        y = NAME_H * (i + 0.2) / height
        axes.text(
            x,
            y,
            _lost(line, _BESIDE, room),
            transform=axes.transAxes,
            fontsize=_BESIDE,
            va="center",
            color=style.FAINT,
        )
    axes.set_ylim(np.exp(low), np.exp(high))


def rows_below(facet: Facet, room: float) -> int:
    """How many rows `names_below` takes, each `NAME_H` high."""
    return len(_columns(facet, room)[0])


def names_below(figure: Figure, facet: Facet, left: float, top: float, room: float) -> None:
    """The lines' names under the panels within `room` inches, best at the largest size first, those without any time
    last; in two columns where whole names leave the room.
    """
    columns = _columns(facet, room)
    high = NAME_H * len(columns[0])
    axes = style.axes_at(figure, left, top, room, high)
    axes.set(xlim=(0, room), ylim=(high, 0))
    axes.set_axis_off()
    spare = max(0.0, room - sum(map(partial(_width, facet), columns))) / len(columns)
    x = 0.0
    for column in columns:
        for i, line in enumerate(column):
            y = NAME_H * (i + 0.5)
            space = room - x - _SAMPLE_BELOW - 0.06
            if line.drawn:
                text = style.shortened(_said(line, facet), _UNDER, space, _weight(line))
                _sample(axes, line, x / room, (x + _SAMPLE_BELOW) / room, 1 - y / high)
            else:
                text = _lost(line, _UNDER, space)
            ink = style.INK if line.drawn else style.FAINT
            axes.text(x + _SAMPLE_BELOW + 0.06, y, text, fontsize=_UNDER, va="center", weight=_weight(line), color=ink)
        x += _width(facet, column) + spare


def _columns(facet: Facet, room: float) -> list[list[Line]]:
    """The lines in the order of their names below, in two columns or in one."""
    ordered = [*_fastest_first(facet), *(line for line in facet.lines if not line.drawn)]
    half = ceil(len(ordered) / 2)
    columns = [ordered[:half], ordered[half:]] if len(ordered) > 1 else [ordered]
    return columns if sum(map(partial(_width, facet), columns)) <= room else [ordered]


def _width(facet: Facet, column: Sequence[Line]) -> float:
    """Inches of the longest name with its sample."""
    texts = [(_said(line, facet) if line.drawn else _lost(line, _UNDER), _weight(line)) for line in column]
    return _SAMPLE_BELOW + 0.16 + max(style.length_of(text, _UNDER, weight) for text, weight in texts)


def _fastest_first(facet: Facet) -> list[Line]:
    """The drawn lines by bytes over time at their largest size, those without a time there last."""

    def speed(line: Line) -> float:
        time = line.points[-1]["latency_median"]
        return float(line.points[-1]["message_bytes"] / time) if time else 0.0

    return sorted((line for line in facet.lines if line.drawn), key=speed, reverse=True)


def _leader(axes: Axes, end: Row, x: float, y: float) -> None:
    """A thin line from the point `end` of the data to a place beside the panel, in fractions of the axes."""
    axes.annotate(
        "",
        xy=(end["message_bytes"], end["busbw"]),
        xycoords="data",
        xytext=(x, y),
        textcoords="axes fraction",
        annotation_clip=False,
        zorder=1,
        arrowprops={"arrowstyle": "-", "color": "#bdbdbd", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
    )


def _said(line: Line, facet: Facet) -> str:
    return f"{line.name}  {line.wins}/{len(facet.ok_by_size())}" if line.wins else line.name


def _lost(line: Line, size: float, room: float = inf) -> str:
    """The name of a line without any time and why, within `room` inches; it is the name that is cut."""
    status = Counter(str(p["status"]) for p in line.points).most_common(1)[0][0]
    before, after = f"{MARKS[status].glyph}  ", f": {said(status)}"
    left = room - style.length_of(before + after, size)
    return before + style.shortened(line.name, size, left) + after


def _right_of(axes: Axes) -> float:
    """Inches from the right edge of the axes to that of the page."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return float((1 - axes.get_position().x1) * figure.get_size_inches()[0])


def _weight(line: Line) -> str:
    return "bold" if line.wins else "normal"


def _sample(axes: Axes, line: Line, start: float, stop: float, y: float) -> None:
    """A short piece of the line, so that the names are the legend too; in fractions of the axes."""
    x, look = [start, (start + stop) / 2, stop], line.look
    axes.plot(
        x,
        [y] * 3,
        transform=axes.transAxes,
        clip_on=False,
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.5 if line.wins else 0.9,
        marker=look.marker,
        markevery=[1],
        markersize=3,
        markerfacecolor=look.face,
        markeredgewidth=0.7,
    )
    if line.wins:
        axes.plot(
            x[1:2],
            [y],
            transform=axes.transAxes,
            clip_on=False,
            marker="o",
            markersize=6.5,
            markerfacecolor="none",
            markeredgecolor=style.INK,
            markeredgewidth=0.6,
        )


def _apart(wanted: dict[Line, float], gap: float, floor: float, ceiling: float) -> dict[Line, float]:
    """Positions as near to the wanted ones as `gap` between neighbours, `floor` and `ceiling` allow."""
    lines = sorted(wanted, key=lambda line: wanted[line])
    blocks: list[
        tuple[float, int]
    ] = []  # touching names: the sum of where each wants the block's bottom, and how many they are
    for line in lines:
        total, n = wanted[line], 1
        while blocks and _bottom(*blocks[-1], gap, floor, ceiling) + gap * blocks[-1][1] > _bottom(
            total, n, gap, floor, ceiling
        ):
            below, m = blocks.pop()
            total, n = below + total - gap * m * n, m + n
        blocks.append((total, n))
    positions = [_bottom(total, n, gap, floor, ceiling) + gap * i for total, n in blocks for i in range(n)]
    return dict(zip(lines, positions, strict=True))


def _bottom(total: float, n: int, gap: float, floor: float, ceiling: float) -> float:
    return max(floor, min(total / n, ceiling - gap * (n - 1)))
