"""Coverage: what was planned, and what became of it; a cell per point, or per group where there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from collpress.analysis.table import Row, rows
from collpress.cube.axes import FACTORS
from collpress.figures import labels, style
from collpress.figures.blocks import wrapped
from collpress.figures.captions import experiments, machine
from collpress.figures.drawing import Drawing, Table
from collpress.figures.keys import Names, least_room, names_for
from collpress.figures.marks import MARKS, NOT_PLANNED_INK, Mark, said

MAX_ROWS, MAX_PANELS = 36, 24
_LEGEND_H, _TITLE, _SUBTITLE, _LINE, _SIZES, _GAP = 0.2, 0.19, 0.14, 0.11, 0.32, 0.14
_MARGIN, _SLACK = 0.12, 0.05
"""Inches."""
_LETTERS = 6.5
"""Points."""
_COLUMNS = ("experiment", "panel", "row", "column", "planned", *MARKS, "shown", "reasons")


@dataclass(frozen=True)
class Layout:
    """What differs between one column and two; lengths in inches, sizes of letters in points."""

    page: float
    left: float
    """Where the cells begin; the names of the rows stand before them. `most_left` where names are long."""
    most_left: float
    between: float
    cell: float
    narrow: float
    """Width of a cell, and the least that it is made where more panels then stand side by side."""
    row: float
    """Height of a cell; `least_row` where more would not fit a page."""
    least_row: float
    names: float
    ticks: float
    reason: int
    """Letters of a reason that a line takes."""

    @property
    def room(self) -> float:
        return self.page - self.left - _MARGIN


LAYOUTS: Mapping[style.Width, Layout] = {
    "double": Layout(style.DOUBLE, 2.2, 3.2, 0.25, 0.42, 0.3, 0.165, 0.165, 6.5, 6.0, 105),
    "single": Layout(style.SINGLE, 1.6, 1.9, 0.2, 0.34, 0.24, 0.135, 0.106, 6.0, 5.5, 54),
}


@dataclass(frozen=True)
class Panel:
    """A matrix of counts: (row, column) → points by status. Row and column texts in their order; rows are those of all
    panels of the same collective.
    """

    experiment: str
    title: str
    rows: list[str]
    columns: list[str]
    column_factor: str
    cells: Mapping[tuple[str, str], Counter[str]]
    reasons: Mapping[tuple[str, str], list[str]]


@dataclass(frozen=True)
class Shelf:
    """Panels of one experiment that share the names of their rows; `at`: inches from the page's left edge."""

    panels: list[Panel]
    cell: float
    at: float

    def width(self, layout: Layout) -> float:
        """With the names and a margin."""
        widths = [_panel_width(panel, self.cell, layout) for panel in self.panels]
        return layout.left + sum(widths) + layout.between * (len(widths) - 1) + _MARGIN

    def height(self, layout: Layout) -> float:
        first = self.panels[0]
        return self.above(layout) + layout.row * len(first.rows) + self.below(layout) + _GAP

    def above(self, layout: Layout) -> float:
        """For the names of the experiment and of the panels."""
        lines = max(len(_title(panel, self.cell, layout)) for panel in self.panels)
        return _TITLE + (_SUBTITLE + _LINE * (lines - 1) if lines else 0.0)

    def below(self, layout: Layout) -> float:
        """For the names of the columns."""
        names = [_column_names(panel, self.cell, layout) for panel in self.panels]
        deep = [n.lines - 1 + len(n.key(layout.room, layout.ticks)) for n in names]
        return _SIZES + _LINE * max(deep)


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The coverage matrix of every experiment; works with no point ok, and with a single one."""
    layout = LAYOUTS[width]
    points = {name: rows(dataset) for name, dataset in experiments(cube).items()}
    panels = {name: _panels(name, found) for name, found in points.items()}
    layout = replace(layout, left=_left([row for found in panels.values() for p in found for row in p.rows], layout))
    floors = _floors([shelf for found in panels.values() for shelf in _shelves(found, layout)], layout)
    everything = [row for found in points.values() for row in found]
    counts = Counter(str(row["status"]) for row in everything)
    reasons = _reason_lines(everything, layout.reason)
    blanks = any(len(p.cells) < len(p.rows) * len(p.columns) for found in panels.values() for p in found)
    legend = _legend_rows(counts, blanks, layout)
    head = 0.42 + _LEGEND_H * len(legend)

    def height(row: float) -> float:
        rows_at = replace(layout, row=row)
        return head + sum(_height(f, rows_at) for f in floors) + (0.3 + 0.13 * len(reasons) if reasons else 0.1)

    layout = replace(layout, row=style.fitted(layout.row, layout.least_row, height))
    figure = style.blank(width, height(layout.row))
    _legend(figure, legend, layout, f"{len(everything)} points planned, {counts['ok']} ok")
    top = head
    for floor in floors:
        for shelf in floor:
            _draw_shelf(figure, shelf, layout, top)
        top += _height(floor, layout)
    if reasons:
        style.text_at(figure, _MARGIN, top, "Reasons", fontweight="bold")
        for i, line in enumerate(reasons):
            style.text_at(figure, _MARGIN, top + 0.16 + 0.13 * i, line, fontsize=6.5)
    return Drawing(
        figure, _table([p for found in panels.values() for p in found]), _caption(cube, counts, len(everything))
    )


def _panels(experiment: str, points: list[Row]) -> list[Panel]:
    """One panel per dataset, ranks, ...: what varies and is neither row nor column."""
    varying = [n for n in _factor_names(points) if len({row[n] for row in points}) > 1]
    column = "message_bytes" if "message_bytes" in varying or not varying else varying[-1]
    inside = ("algorithm", "codec", "error_bound", "target", "knobs")
    facets = [n for n in varying if n not in (*inside, column)]
    row_factors = [n for n in inside if n in varying and n != column]
    # Knobs and targets alone name no row that leaves them as they are.
    if set(row_factors) <= {"knobs", "target"} and column != "algorithm":
        row_factors.insert(0, "algorithm")
    folded: list[str] = []
    while len(row_factors) > 1 and _most_rows(points, row_factors) > MAX_ROWS:
        folded.insert(0, row_factors.pop())
    groups = _grouped(points, facets)
    if len(groups) > MAX_PANELS:  # too many to look at: fold the facets into counted cells
        folded += [n for n in facets if n != "collective"]
        facets = [n for n in facets if n == "collective"]
        groups = _grouped(points, facets)
    together = " · ".join([f"{', '.join(n.replace('_', ' ') for n in folded)}: counted together"] if folded else [])
    names: dict[str, dict[str, None]] = {}
    for p in points:
        names.setdefault(str(p["collective"]), {})[_row_name(p, row_factors)] = None
    out = []
    for key, group in groups.items():
        collective = str(group[0]["collective"])
        title = labels.factors(dict(zip(facets, key, strict=True)), collective)
        told = " · ".join(words for words in (title, together) if words)
        out.append(_panel(experiment, told, group, list(names[collective]), row_factors, column))
    return out


def _grouped(points: list[Row], facets: list[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for point in points:
        groups.setdefault(tuple(point[n] for n in facets), []).append(point)
    return groups


def _most_rows(points: list[Row], row_factors: list[str]) -> int:
    """Of a collective."""
    rows_of = {(str(p["collective"]), *(p[n] for n in row_factors)) for p in points}
    return max(Counter(row[0] for row in rows_of).values())


def _row_name(point: Row, row_factors: list[str]) -> str:
    return labels.factors({n: point[n] for n in row_factors}, str(point["collective"]))


def _panel(
    experiment: str, title: str, points: list[Row], names: list[str], row_factors: list[str], column: str
) -> Panel:
    cells: dict[tuple[str, str], Counter[str]] = {}
    reasons: dict[tuple[str, str], list[str]] = {}
    for point in points:
        place = _row_name(point, row_factors), _column_name(column, point[column])
        cells.setdefault(place, Counter())[str(point["status"])] += 1
        if point["reason"] and point["reason"] not in reasons.setdefault(place, []):
            reasons[place].append(str(point["reason"]))
    # rows() keeps the cube's order of labels, so the first of equal labels is in place
    ordered = sorted({p[column] for p in points}, key=lambda v: (isinstance(v, str), v))
    columns = list(dict.fromkeys(_column_name(column, v) for v in ordered))
    return Panel(experiment, title, names, columns, column, cells, reasons)


def _column_name(factor: str, value: Any) -> str:
    """The usual value of a factor has no words of its own."""
    return labels.factor(factor, value) or str(value)


def _factor_names(points: list[Row]) -> list[str]:
    beyond = [n for n in points[0] if n not in FACTORS and n not in ("status", "reason")]
    return [*(n for n in FACTORS if n in points[0]), *beyond]


def _shelves(panels: list[Panel], layout: Layout) -> list[Shelf]:
    """Panels of one experiment with the same rows side by side, as many as a page's width takes.

    Narrow cells where that saves a shelf.
    """
    wide, narrow = (_filled(panels, cell, layout) for cell in (layout.cell, layout.narrow))
    return narrow if len(narrow) < len(wide) else wide


def _filled(panels: list[Panel], cell: float, layout: Layout) -> list[Shelf]:
    shelves: list[Shelf] = []
    used = 0.0
    for panel in panels:
        width = _panel_width(panel, cell, layout)
        full = used + layout.between + width > layout.room
        if not shelves or full or panel.rows != shelves[-1].panels[0].rows:
            shelves.append(Shelf([], cell, 0.0))
            used = -layout.between
        shelves[-1].panels.append(panel)
        used += layout.between + width
    return shelves


def _floors(shelves: list[Shelf], layout: Layout) -> list[list[Shelf]]:
    """Shelves below each other; two that are no wider than half a page stand side by side."""
    half = layout.page / 2
    floors: list[list[Shelf]] = []
    for shelf in shelves:
        if floors and len(floors[-1]) == 1 and max(s.width(layout) for s in (floors[-1][0], shelf)) <= half:
            floors[-1].append(replace(shelf, at=half))
        else:
            floors.append([shelf])
    return floors


def _left(names: list[str], layout: Layout) -> float:
    """Where cells begin, so that the names before them stay whole where they can."""
    longest = max((style.length_of(name, layout.names) for name in names), default=0.0)
    return min(max(layout.left, longest + _MARGIN + 0.1), layout.most_left)


def _panel_width(panel: Panel, cell: float, layout: Layout) -> float:
    """At least as wide as its title, at most as wide as the page."""
    title = (style.length_of(panel.title, _LETTERS) + 0.01) / 0.95  # as `wrapped`
    return min(max(_cell_width(panel, cell, layout) * len(panel.columns), title), layout.room)


def _cell_width(panel: Panel, cell: float, layout: Layout) -> float:
    """Wider where columns have words for names, narrower where the page asks for it."""
    words = panel.column_factor != "message_bytes"
    least = least_room(panel.columns, layout.ticks) + _SLACK if words else 0.0
    return min(max(cell, least), layout.room / len(panel.columns))


def _column_names(panel: Panel, cell: float, layout: Layout) -> Names:
    """All whole, or letters for all; sizes without the room for either thin out, as on any axis."""
    names = names_for(panel.columns, _cell_width(panel, cell, layout) - _SLACK / 2, layout.ticks)
    if not names.letters or panel.column_factor != "message_bytes":
        return names
    return Names({name: [name] for name in panel.columns}, {})


def _title(panel: Panel, cell: float, layout: Layout) -> list[str]:
    return wrapped(panel.title, _LETTERS, _panel_width(panel, cell, layout))


def _height(floor: list[Shelf], layout: Layout) -> float:
    return max(shelf.height(layout) for shelf in floor)


def _draw_shelf(figure: Figure, shelf: Shelf, layout: Layout, top: float) -> None:
    start = shelf.at + _MARGIN
    name = style.shortened(shelf.panels[0].experiment, 8, shelf.width(layout) - _MARGIN, "bold")
    style.text_at(figure, start, top, name, fontsize=8, fontweight="bold")
    left = shelf.at + layout.left
    under = top + shelf.above(layout)
    for panel in shelf.panels:
        for i, line in enumerate(_title(panel, shelf.cell, layout)):
            style.text_at(figure, left, top + _TITLE + _LINE * i, line, fontsize=_LETTERS)
        axes = _draw_panel(figure, panel, shelf.cell, layout, left, under)
        if panel is shelf.panels[0]:
            room = layout.left - _MARGIN - 0.04
            names = [style.shortened(row, layout.names, room, keep="end") for row in panel.rows]
            axes.set_yticks([i + 0.5 for i in range(len(panel.rows))], names, fontsize=layout.names)
        else:
            axes.set_yticks([])
        left += _panel_width(panel, shelf.cell, layout) + layout.between


def _draw_panel(figure: Figure, panel: Panel, cell: float, layout: Layout, left: float, top: float) -> Axes:
    width = _cell_width(panel, cell, layout)
    high = layout.row * len(panel.rows)
    axes = style.axes_at(figure, left, top, width * len(panel.columns), high)
    axes.set(xlim=(0, len(panel.columns)), ylim=(len(panel.rows), 0))
    for i, row in enumerate(panel.rows):
        for j, column in enumerate(panel.columns):
            _draw_cell(axes, i, j, panel.cells.get((row, column), Counter()))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    names = _column_names(panel, cell, layout)
    longest = max(style.length_of(line, layout.ticks) for name in panel.columns for line in names.text(name))
    every = ceil((longest + _SLACK / 2) / width)
    shown = range(0, len(panel.columns), every)
    written = ["\n".join(names.text(panel.columns[j])) for j in shown]
    axes.set_xticks([j + 0.5 for j in shown], written, fontsize=layout.ticks, linespacing=1.0)
    axes.tick_params(length=0, pad=2)
    name = "message size" if panel.column_factor == "message_bytes" else panel.column_factor.replace("_", " ")
    axes.set_xlabel(name, fontsize=_LETTERS, labelpad=1.5)
    for i, line in enumerate(names.key(layout.room, layout.ticks)):
        at = top + high + _SIZES + _LINE * (names.lines - 1 + i)
        style.text_at(figure, left, at, line, fontsize=layout.ticks)
    return axes


def _draw_cell(axes: Axes, i: int, j: int, counts: Counter[str]) -> None:
    if not counts:
        axes.text(j + 0.5, i + 0.52, "·", ha="center", va="center", fontsize=6.5, color=NOT_PLANNED_INK)
        return
    mark = MARKS[[s for s in MARKS if counts[s]][-1]]
    total = sum(counts.values())
    _draw_box(axes, (j + 0.03, i + 0.05, 0.94, 0.9), mark, mark.glyph if total == 1 else f"{counts['ok']}/{total}")


def _legend_rows(counts: Counter[str], blanks: bool, layout: Layout) -> list[list[tuple[str, str, float]]]:
    """(status, text, width in inches) of what occurs, in rows that fit the page; `not_planned` stands for the dot."""
    entries = [(s, f"{said(s)} {counts[s]}") for s in MARKS if counts[s]] + (
        [("not_planned", "not planned")] if blanks else []
    )
    out: list[list[tuple[str, str, float]]] = [[]]
    for status, text in entries:
        width = 0.25 + 0.056 * len(text) + 0.14
        if sum(w for _, _, w in out[-1]) + width > layout.page - 2 * _MARGIN:
            out.append([])
        out[-1].append((status, text, width))
    return out


def _legend(figure: Figure, legend: list[list[tuple[str, str, float]]], layout: Layout, title: str) -> None:
    style.text_at(figure, _MARGIN, 0.1, title, fontsize=9, fontweight="bold")
    room = layout.page - 2 * _MARGIN
    axes = style.axes_at(figure, _MARGIN, 0.3, room, _LEGEND_H * len(legend))
    axes.set(xlim=(0, room), ylim=(_LEGEND_H * len(legend), 0))
    axes.set_axis_off()
    for i, entries in enumerate(legend):
        at, top = 0.0, _LEGEND_H * i + 0.02
        for status, text, width in entries:
            if status == "not_planned":
                axes.text(at + 0.1, top + 0.08, "·", ha="center", va="center", fontsize=6.5, color=NOT_PLANNED_INK)
            else:
                _draw_box(axes, (at, top, 0.2, 0.15), MARKS[status], MARKS[status].glyph)
            axes.text(at + 0.25, top + 0.08, text, ha="left", va="center", fontsize=7)
            at += width


def _draw_box(axes: Axes, box: tuple[float, float, float, float], mark: Mark, text: str) -> None:
    """A filled, hatched box (x, y, width, height) with a text on a clear ground in its middle."""
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=mark.fill, edgecolor="#8a8a8a", linewidth=0.4))
    ground = None
    if mark.hatch:
        axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor="#b5b5b5", hatch=mark.hatch, linewidth=0))
        ground = {"boxstyle": "round,pad=0.06", "facecolor": mark.fill, "edgecolor": "none"}
    middle = x + width / 2, y + height * 0.52
    axes.text(*middle, text, ha="center", va="center", fontsize=6.5, color=mark.ink, bbox=ground)


def _reason_lines(points: list[Row], letters: int, most: int = 10) -> list[str]:
    """`2 crashed: signal 11 …`, most frequent first, cut to the figure's width; the CSV has them whole."""
    counts = Counter((str(p["status"]), str(p["reason"])) for p in points if p["status"] != "ok")
    severity = list(MARKS)
    ordered = sorted(counts.items(), key=lambda item: (-severity.index(item[0][0]), -item[1], item[0][1]))
    lines = [f"{n} {said(s)}: {_short(reason or 'no reason recorded', letters)}" for (s, reason), n in ordered[:most]]
    return [*lines, f"… and {len(ordered) - most} more in the CSV"] if len(ordered) > most else lines


def _short(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _table(panels: list[Panel]) -> Table:
    out: list[Row] = []
    for p in panels:
        for row in p.rows:
            for column in p.columns:
                counts = p.cells.get((row, column), Counter())
                shown = [s for s in MARKS if counts[s]][-1] if counts else "not_planned"
                out.append(
                    {
                        "experiment": p.experiment,
                        "panel": p.title,
                        "row": row,
                        "column": column,
                        "planned": sum(counts.values()),
                    }
                    | {s: counts[s] for s in MARKS}
                    | {"shown": shown, "reasons": "; ".join(p.reasons.get((row, column), []))}
                )
    return Table.of(_COLUMNS, out)


def _caption(cube: xr.DataTree, counts: Counter[str], planned: int) -> str:
    parts = ", ".join(f"{counts[s]} {said(s)}" for s in MARKS if counts[s])
    return (
        f"Coverage: of {planned} planned points {parts}. "
        f"A point is ok when all of its {cube.attrs['launches']} launches are. "
        "A cell of several points shows ok/planned in the colour of its worst status; a dot was not planned. "
        f"{machine(cube)}"
    )
