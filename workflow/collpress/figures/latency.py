"""Latency and bus bandwidth over message size: two panels per experiment, data and world; one line per algorithm or
codec.

On two columns of a page the panels stand side by side and a line's name at its right end; on one column they are
stacked, the names below. Of many facets, two columns of a page hold two such stacks beside each other. A facet without
any time is named at the foot, unless no facet has one. A point that is not ok breaks its line and leaves its status's
mark above the panel. One rank sends nothing: its rate of 0 is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from collpress.analysis.bandwidth import busbw
from collpress.analysis.table import Row
from collpress.figures import labels, style
from collpress.figures.blocks import wrapped
from collpress.figures.captions import experiments, machine, sample_sizes, statistic
from collpress.figures.choice import Group, identified, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.lines import Facet, Line, facets
from collpress.figures.marks import MARKS, said
from collpress.figures.names import NAME_H, names_below, names_beside, rows_below

_MARGIN, _ABOVE, _SUBTITLE, _MARK_H, _NOTE = 0.1, 0.43, 0.115, 0.105, 0.12
_TICK_W, _TICK_H, _NUMBER_H, _MARK_W, _MARGIN_OCTAVES = 0.38, 0.17, 0.105, 0.17, 0.7


@dataclass(frozen=True)
class Layout:
    """What differs between one column and two; inches."""

    page: float
    """Width of a facet with its margins."""
    left: float
    panel: float
    height: float
    """Of a panel; `least` where more would not fit a page."""
    least: float
    below: float
    """For the sizes and the words under them."""
    between: float
    """Two panels: beside each other, or stacked."""
    stacked: bool
    subtitle: float
    letters: float
    """Points, of the words at an axis too."""
    rate: str
    """What the axis of the rate is called; both names stand above each other where the panels are stacked."""

    @property
    def room(self) -> float:
        """For words."""
        return self.page - 2 * _MARGIN


_WIDE = Layout(
    style.DOUBLE,
    0.64,
    1.9,
    1.75,
    1.2,
    0.42,
    0.62,
    stacked=False,
    subtitle=6.8,
    letters=7.5,
    rate="bus bandwidth (byte/s)",
)
_NARROW = Layout(
    style.SINGLE,
    0.66,
    2.7,
    0.82,
    0.5,
    0.34,
    0.09,
    stacked=True,
    subtitle=6.4,
    letters=5.7,
    rate="busbw (byte/s)",
)
_PAIRED = replace(_NARROW, height=1.0, least=0.75, letters=6.3)
_MANY = 6
"""Facets of which two columns of a page hold one beside its names; more stand in pairs."""

_VARIABLES = (
    "latency_median",
    "latency_ci_low",
    "latency_ci_high",
    "busbw",
    "busbw_low",
    "busbw_high",
    "n_ok",
    "n_iterations",
    "noisy",
    "effective_algorithm",
    "known_by",
)
_UNITS = {
    "latency_median": "latency_median_s",
    "latency_ci_low": "latency_ci_low_s",
    "latency_ci_high": "latency_ci_high_s",
    "busbw": "busbw_byte_per_s",
    "busbw_low": "busbw_low_byte_per_s",
    "busbw_high": "busbw_high_byte_per_s",
}


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a panel without any ok point says so and names what became of its lines."""
    groups = experiments(cube)
    points = {name: identified(_with_rates(dataset), _VARIABLES) for name, dataset in groups.items()}
    factors = {name: [str(d) for d in dataset["status"].dims] for name, dataset in groups.items()}
    everything = [row for found in points.values() for row in found]
    found = [facet for name, group in points.items() for facet in facets(name, group, factors[name])]
    full = [facet for facet in found if facet.ok_by_size()]
    shown = full or found
    notes = _words_at_foot([facet for facet in found if facet not in shown], style.inches(width) - 2 * _MARGIN)
    layout = _NARROW if width == "single" else _PAIRED if len(shown) > _MANY else _WIDE
    shelves = _shelves(shown, round(style.inches(width) // layout.page))

    def height(panel: float) -> float:
        sized = replace(layout, height=panel)
        return sum(_shelf_height(shelf, sized) for shelf in shelves) + _NOTE * len(notes) + 0.2

    layout = replace(layout, height=style.fitted(layout.height, layout.least, height))
    figure = style.blank(width, height(layout.height))
    top = 0.0
    for shelf in shelves:
        for i, facet in enumerate(shelf):
            _draw_facet(figure, facet, layout, i * (style.inches(width) - layout.page), top)
        top += _shelf_height(shelf, layout)
    for i, line in enumerate(notes):
        style.text_at(figure, _MARGIN, top + 0.06 + _NOTE * i, line, fontsize=6.3, color=style.FAINT)
    columns = list(dict.fromkeys(n for names in factors.values() for n in names))
    return Drawing(figure, _table(found, columns), _caption(cube, everything))


def _shelves(facets: Sequence[Facet], columns: int) -> list[list[Facet]]:
    """Facets beside each other; those of an experiment fill their shelves from the left."""
    shelves: list[list[Facet]] = []
    for facet in facets:
        if shelves and len(shelves[-1]) < columns and shelves[-1][0].experiment == facet.experiment:
            shelves[-1].append(facet)
        else:
            shelves.append([facet])
    return shelves


def _shelf_height(shelf: Sequence[Facet], layout: Layout) -> float:
    return max(_height(facet, layout) for facet in shelf)


def _words_at_foot(empty: Sequence[Facet], room: float) -> list[str]:
    """What is not drawn because all of it is lost."""
    lost = [Group(f.experiment, f.factors, [p for line in f.lines for p in line.points]) for f in empty]
    return [line for sentence in omissions(lost) for line in wrapped(sentence, 6.3, room)]


def _with_rates(dataset: xr.Dataset) -> xr.Dataset:
    """Limits of the rate are the rates of the limits: the shortest time gives the highest rate. A rate of 0 is none."""
    where = dataset["collective"], dataset["message_bytes"], dataset["ranks"]
    rates = {
        "busbw": dataset["busbw"],
        "busbw_low": busbw(dataset["latency_ci_high"], *where),
        "busbw_high": busbw(dataset["latency_ci_low"], *where),
    }
    return dataset.assign({name: rate.where(rate > 0) for name, rate in rates.items()})


def _height(facet: Facet, layout: Layout) -> float:
    around = _above(facet, layout) + layout.below
    if layout.stacked:
        return around + 2 * layout.height + layout.between + _names_height(facet, layout)
    return around + max(layout.height, NAME_H * (len(facet.lines) + 0.5))


def _names_height(facet: Facet, layout: Layout) -> float:
    return NAME_H * (rows_below(facet, layout.room) + 0.3)


def _above(facet: Facet, layout: Layout) -> float:
    """For the words and the marks above the panels."""
    return _ABOVE + _SUBTITLE * (len(_title(facet, layout)) - 1) + _MARK_H * _mark_rows(facet)


def _title(facet: Facet, layout: Layout) -> list[str]:
    return wrapped(facet.title, layout.subtitle, layout.room)


def _draw_facet(figure: Figure, facet: Facet, layout: Layout, left: float, top: float) -> None:
    style.text_at(figure, left + _MARGIN, top + 0.08, facet.experiment, fontsize=8.5, fontweight="bold")
    for i, words in enumerate(_title(facet, layout)):
        at = top + 0.23 + _SUBTITLE * i
        style.text_at(figure, left + _MARGIN, at, words, fontsize=layout.subtitle, color=style.FAINT)
    time, rate = _panels(figure, facet, layout, left, top)
    scale = min(1.0, max(0.6, _nearest(facet, layout) / _MARK_W))
    for line in (line for line in facet.lines if line.drawn):
        _draw_line(time, line, scale, "latency_median", "latency_ci_low", "latency_ci_high")
        if facet.has_rate:
            _draw_line(rate, line, scale, "busbw", "busbw_low", "busbw_high")
    _ring_the_fastest(time, facet, scale)
    for axes in (time, rate):
        _size_axis(axes, facet, layout)
        if axes is time or not layout.stacked:
            _marks_above(axes, facet, layout)
    if layout.stacked:
        time.set_xlabel("")
        time.tick_params(labelbottom=False)
    if facet.ok_by_size():
        _log_axis(time, "s", "time (median)", layout.letters)
    else:
        _say_instead(time, "no point is ok")
    if facet.has_rate:
        _log_axis(rate, "", layout.rate, layout.letters)
    else:
        _say_instead(rate, _no_rate(facet) if facet.ok_by_size() else "no point is ok")
    if layout.stacked:
        under = top + _height(facet, layout) - _names_height(facet, layout)
        names_below(figure, facet, left + _MARGIN, under, layout.room)
    else:
        names_beside(rate, facet, layout.panel)


def _no_rate(facet: Facet) -> str:
    return (
        "one rank: no bus bandwidth" if labels.has_rate(facet.collective) else f"{facet.collective}: no bus bandwidth"
    )


def _place(size: int) -> float:
    """Where a size stands on its logarithmic axis; a barrier's 0 has an axis for itself."""
    return float(size or 1)


def _say_instead(axes: Axes, words: str) -> None:
    """Words in the middle of a panel that has nothing to draw."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=style.FAINT)
    axes.set(yscale="log", ylim=(1, 10))
    axes.yaxis.set_major_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())


def _panels(figure: Figure, facet: Facet, layout: Layout, left: float, top: float) -> tuple[Axes, Axes]:
    at, left = top + _above(facet, layout), left + layout.left
    if layout.stacked:
        below = at + layout.height + layout.between
        return (
            style.axes_at(figure, left, at, layout.panel, layout.height),
            style.axes_at(figure, left, below, layout.panel, layout.height),
        )
    height = _height(facet, layout) - layout.below - (at - top)
    return (
        style.axes_at(figure, left, at, layout.panel, height),
        style.axes_at(figure, left + layout.panel + layout.between, at, layout.panel, height),
    )


def _draw_line(axes: Axes, line: Line, scale: float, middle: str, low: str, high: str) -> None:
    x = np.array([_place(p["message_bytes"]) for p in line.points])
    y, lower, upper = (np.array([p[n] for p in line.points], dtype=float) for n in (middle, low, high))
    look = line.look
    strong = line.wins > 0
    order = 4 if strong else 3
    alpha = 1.0 if strong or look.base else 0.8
    axes.plot(
        x,
        y,
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.5 if strong else 0.9,
        marker=look.marker,
        markersize=scale * (3.4 if strong else 2.8),
        markerfacecolor=look.face,
        markeredgewidth=0.7,
        alpha=alpha,
        zorder=order,
    )
    axes.fill_between(x, lower, upper, color=look.colour, alpha=0.16, linewidth=0, zorder=2)
    # A band has no width where a point has no neighbour, so each point has its bar as well.
    axes.vlines(x, lower, upper, color=look.colour, linewidth=0.7, alpha=0.7 * alpha, zorder=order)


def _ring_the_fastest(axes: Axes, facet: Facet, scale: float) -> None:
    best = [min(group, key=lambda p: float(p["latency_median"])) for group in facet.ok_by_size().values()]
    axes.plot(
        [_place(p["message_bytes"]) for p in best],
        [p["latency_median"] for p in best],
        linestyle="none",
        marker="o",
        markersize=6.5 * scale,
        markerfacecolor="none",
        markeredgecolor=style.INK,
        markeredgewidth=0.6,
        zorder=5,
    )


def _inches_per_octave(sizes: Sequence[int], layout: Layout) -> float:
    return layout.panel / (float(np.log2(_place(sizes[-1]) / _place(sizes[0]))) + 2 * _MARGIN_OCTAVES)


def _nearest(facet: Facet, layout: Layout) -> float:
    """Inches between the two sizes that are nearest to each other."""
    octaves = min((float(np.log2(b / a)) for a, b in pairwise(facet.sizes)), default=float("inf"))
    return octaves * _inches_per_octave(facet.sizes, layout)


def _size_axis(axes: Axes, facet: Facet, layout: Layout) -> None:
    axes.set_xscale("log", base=2)
    sizes = facet.sizes
    axes.set_xlim(_place(sizes[0]) / 2**_MARGIN_OCTAVES, _place(sizes[-1]) * 2**_MARGIN_OCTAVES)
    inch = _inches_per_octave(sizes, layout)
    shown: list[int] = []
    for size in reversed(sizes):
        if not shown or np.log2(shown[-1] / size) * inch >= _TICK_W:
            shown.append(size)
    axes.xaxis.set_major_locator(FixedLocator([_place(s) for s in shown]))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.set_xticklabels([labels.factor("message_bytes", s) for s in shown], fontsize=6.5)
    axes.set_xlabel(labels.size_label({facet.collective}), labelpad=1.5, fontsize=layout.letters)


def _log_axis(axes: Axes, unit: str, name: str, letters: float) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    first, last = np.log10([low, high])
    subs = _subs(float(last - first), style.height_of(axes))
    most = max(2, int(style.height_of(axes) / _TICK_H))
    places = [sub * 10.0**power for power in range(int(first) - 2, int(last) + 2) for sub in subs]
    if sum(low <= place <= high for place in places) >= 2:
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=most))
    else:  # so short a piece of a logarithmic axis is nearly linear
        axes.yaxis.set_major_locator(MaxNLocator(min(most, 5)))
    axes.yaxis.set_major_formatter(EngFormatter(unit=unit, sep=" "))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(name, labelpad=3, fontsize=letters)


def _subs(decades: float, height: float) -> tuple[float, ...]:
    """Which multiples of each power have room for their numbers on an axis `height` inches high."""
    if decades <= 2.5:
        for subs in ((1.0, 2.0, 5.0), (1.0, 3.0)):
            nearest = min(np.log10(b / a) for a, b in pairwise((*subs, 10.0)))
            if nearest * height / decades >= _NUMBER_H:
                return subs
    return (1.0,)


def _mark_rows(facet: Facet) -> int:
    return max((len(counts) for counts in facet.missing().values()), default=0)


def _marks_above(axes: Axes, facet: Facet, layout: Layout) -> None:
    """Above each size: how many lines have no time there, and why, as `2T`; no number where sizes are dense."""
    height = style.height_of(axes)
    near = _nearest(facet, layout)
    for size, counts in facet.missing().items():
        for i, status in enumerate(s for s in MARKS if counts[s]):
            axes.text(
                _place(size),
                1 + (0.06 + _MARK_H * i) / height,
                f"{counts[status]}{MARKS[status].glyph}" if near >= _MARK_W else MARKS[status].glyph,
                fontsize=6 if near >= _MARK_W else 5,
                ha="center",
                va="bottom",
                color=style.INK,
                transform=axes.get_xaxis_transform(),
            )


def _table(found: list[Facet], names: list[str]) -> Table:
    columns = ["experiment", *names, "id", "status", "reason", *(_UNITS.get(v, v) for v in _VARIABLES), "fastest"]
    out: list[dict[str, Any]] = []
    for facet in found:
        best = {id(min(group, key=lambda p: float(p["latency_median"]))) for group in facet.ok_by_size().values()}
        for line in facet.lines:
            out += [_csv_row(facet.experiment, point, id(point) in best, names) for point in line.points]
    return Table.of(columns, out)


def _csv_row(experiment: str, point: Row, fastest: bool, names: list[str]) -> Row:
    row = {"experiment": experiment, "fastest": int(fastest)} | {n: point[n] for n in ("id", "status", "reason")}
    return row | {n: point.get(n) for n in names} | {_UNITS.get(v, v): point[v] for v in _VARIABLES}


def _meaning(points: list[Row]) -> str:
    """What size and rate mean for the collectives that are there."""
    collectives = list(dict.fromkeys(str(p["collective"]) for p in points))
    return "".join(f"{said} " for said in (labels.sizes_said(collectives), labels.rates_said(collectives)) if said)


def _knobs(points: list[Row]) -> str:
    """What a name behind an algorithm's means, where any is."""
    sets = dict.fromkeys(str(p["knobs"]) for p in points if p.get("knobs", "none") != "none")
    if not sets:
        return ""
    return (
        f"Behind an algorithm's name ({', '.join(sets)}): the knobs, variables of the library that the platform sets "
        "under this name, in a colour and dots and dashes of their own; lines without one keep the library's own "
        "values. "
    )


def _caption(cube: xr.DataTree, points: list[Row]) -> str:
    missing = Counter(str(p["status"]) for p in points if p["status"] != "ok")
    told = ", ".join(f"{MARKS[s].glyph} {said(s)} {missing[s]}" for s in MARKS if missing[s])
    gaps = (
        "Marks above a panel count lines without a time at that size, which are broken there; a line without any is "
        f"named among the others ({told}). "
        if told
        else ""
    )
    return (
        "Time and bus bandwidth over message size. Solid: the library's algorithms; dashed: reference algorithms; "
        "black: the library's default, the base case. Where messages are compressed, colour is the codec and the "
        f"dash the error bound, and bandwidth counts uncompressed bytes. {_knobs(points)}Rings: smallest "
        "median at a size, whether or not the limits separate it from the next; a bold name says at how many sizes. "
        f"{_meaning(points)}{statistic(cube)} {sample_sizes(points)} {gaps}{machine(cube)}"
    )
