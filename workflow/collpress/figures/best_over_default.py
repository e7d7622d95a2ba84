"""Best over default: a cell per message size and number of ranks, its colour and text the time of the library's choice
over that of the best other algorithm, which is named where the difference is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator

from collpress.analysis.rivals import Choice, choices
from collpress.figures import labels, style
from collpress.figures.captions import experiments, machine, ratio_statistic
from collpress.figures.drawing import Drawing, Table
from collpress.figures.keys import Names, flowed, names_for
from collpress.figures.marks import MARKS, NOT_PLANNED_INK, said

MAX_FACETS = 24
_MARGIN, _TITLE, _HEAD, _LEGEND_H, _AXIS = 0.12, 0.2, 0.58, 0.14, 0.36
_LEFT, _NARROWEST, _WIDEST = 0.62, 0.36, 0.95
_LINE_H, _TEXT, _SMALL, _KEY_SIZE = 0.1, 6.0, 5.4, 6.5
"""Inches, and points of letters."""
_COLOURS, _CLAIMED = "PuOr_r", ("rival faster", "default faster")
_LOST = "#f0f0f0"
Box = tuple[float, float, float, float]
"""x, y, width, height in cells."""
_SIGNS = {"rival faster": "▲", "default faster": "▼"}
_NOT_SHOWN = {"no difference": "n.s.", "unknown": "few"}
_LEGEND = {
    "rival faster": "▲ other algorithm faster, named",
    "default faster": "▼ library's choice faster",
    "no difference": "n.s. no difference shown",
    "unknown": "few: too few launches to judge",
    "no rival": "no rivals: not planned",
    "default missing": "no default: not planned",
}


@dataclass(frozen=True)
class Facet:
    """Cells of one experiment that differ in message size and ranks only."""

    experiment: str
    title: str
    collective: str
    cells: Mapping[tuple[int, int], Choice]

    @property
    def sizes(self) -> list[int]:
        return sorted({size for size, _ in self.cells})

    @property
    def ranks(self) -> list[int]:
        return sorted({ranks for _, ranks in self.cells})


@dataclass(frozen=True)
class Grid:
    """How cells are laid out, in inches; `limit` is the |log2 ratio| at the ends of the colours."""

    room: float
    wide: float
    high: float
    names: Names
    limit: float

    def strips(self, facet: Facet) -> list[list[int]]:
        """Sizes that stand side by side, as many as fit, spread evenly over as few strips as that takes."""
        n = _columns(facet, self.room)
        return [facet.sizes[i : i + n] for i in range(0, len(facet.sizes), n)]

    def height(self, facet: Facet) -> float:
        return _TITLE + len(self.strips(facet)) * (self.high * len(facet.ranks) + _AXIS)


def _columns(facet: Facet, room: float) -> int:
    strips = ceil(len(facet.sizes) / max(1, int(room / _NARROWEST)))
    return ceil(len(facet.sizes) / strips)


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The heat map of every experiment that plans another algorithm beside the library's choice; without such an
    experiment, of those that plan the library's choice alone.
    """
    found = [c for dataset in experiments(cube).values() for c in choices(dataset)]
    facets = _facets(found)
    shown = facets[:MAX_FACETS]
    cells = [c for facet in shown for c in facet.cells.values()]
    page = style.inches(width)
    room = page - _LEFT - _MARGIN
    cell = min([_WIDEST, *(room / _columns(f, room) for f in shown)])
    winners = dict.fromkeys(_winner(c) for c in cells if c.verdict == "rival faster")
    names = names_for(list(winners), cell - 0.06, _SMALL)
    grid = Grid(room, cell, _LINE_H * (1 + max(1, names.lines)) + 0.12, names, _limit(cells))
    legend, key = _legend(cells, page), names.key(page - 2 * _MARGIN, _KEY_SIZE)
    rest = _words_below(found, len(facets) - len(shown))
    top = _HEAD + _LEGEND_H * len(legend) + 0.06
    height = top + sum(grid.height(f) for f in shown) + _LEGEND_H * (len(key) + len(rest)) + 0.14
    figure = style.blank(width, height)
    _head(figure, legend, grid.limit, page)
    for facet in shown:
        _draw_facet(figure, facet, top, grid)
        top += grid.height(facet)
    for line in [*key, *rest]:
        style.text_at(figure, _MARGIN, top, line, fontsize=_KEY_SIZE)
        top += _LEGEND_H
    placed = {id(c) for facet in facets for c in facet.cells.values()}
    return Drawing(figure, _table([c for c in found if id(c) in placed]), _caption(cube, found, facets))


def _words_below(found: Sequence[Choice], more: int) -> list[str]:
    lines = [f"… and {more} more panels in the CSV"] if more else []
    if not found:
        lines.append("No experiment plans an algorithm without a codec.")
    elif not any(c.ratio for c in found):
        lines.append("Nothing is compared: the default and a rival are nowhere both ok.")
    return lines


def _facets(found: Sequence[Choice]) -> list[Facet]:
    """Those that have a rival in some cell; all of them where none has."""
    groups: dict[tuple[Any, ...], list[Choice]] = {}
    for choice in found:
        common = {n: v for n, v in choice.factors.items() if n not in ("message_bytes", "ranks")}
        groups.setdefault((choice.experiment, *common.items()), []).append(choice)
    telling = {k: g for k, g in groups.items() if any(c.verdict != "no rival" for c in g)} or groups
    return [
        Facet(
            str(key[0]),
            labels.factors(dict(key[1:])),
            str(dict(key[1:])["collective"]),
            {(int(c.factors["message_bytes"]), int(c.factors["ranks"])): c for c in group},
        )
        for key, group in telling.items()
    ]


def _limit(cells: Sequence[Choice]) -> float:
    """|log2| of 1.5, 2, 4, 8, …: the smallest that holds all coloured ratios, so that maps can be compared."""
    largest = max((abs(log2(c.ratio.value)) for c in cells if c.ratio and c.verdict in _CLAIMED), default=0.0)
    return log2(1.5) if largest <= log2(1.5) else float(ceil(largest))


def _winner(choice: Choice) -> str:
    best = choice.best
    assert best is not None
    return labels.algorithm(str(best.factors["algorithm"]))


def _draw_facet(figure: Figure, facet: Facet, top: float, grid: Grid) -> None:
    style.text_at(figure, _MARGIN, top, facet.experiment, fontsize=8, fontweight="bold")
    after = _MARGIN + style.length_of(facet.experiment, 8, "bold") + 0.1
    title = style.shortened(facet.title, 6.5, grid.room + _LEFT - after)
    style.text_at(figure, after, top + 0.015, title, fontsize=6.5, color=style.FAINT)
    top += _TITLE - 0.03
    for sizes in grid.strips(facet):
        axes = style.axes_at(figure, _LEFT, top, grid.wide * len(sizes), grid.high * len(facet.ranks))
        axes.set(xlim=(0, len(sizes)), ylim=(len(facet.ranks), 0))
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        for i, ranks in enumerate(facet.ranks):
            for j, size in enumerate(sizes):
                _draw_cell(axes, j, i, facet.cells.get((size, ranks)), grid)
        axes.set_xticks([j + 0.5 for j in range(len(sizes))], [_tick(s, grid.wide) for s in sizes], fontsize=6)
        names = [labels.factor("ranks", r) for r in facet.ranks]
        axes.set_yticks([i + 0.5 for i in range(len(names))], names, fontsize=6.5)
        axes.tick_params(length=0, pad=2)
        axes.set_xlabel(labels.size_label({facet.collective}), fontsize=6.5, labelpad=1.5)
        top += grid.high * len(facet.ranks) + _AXIS


def _tick(size: int, cell: float) -> str:
    """A size that fits under its cell: its unit without the `iB` where the cell is narrow."""
    text = labels.iec(size)
    return text if style.length_of(text, 6) < cell - 0.03 else text.replace("iB", "").replace(" ", "")


def _draw_cell(axes: Axes, x: int, y: int, choice: Choice | None, grid: Grid) -> None:
    if choice is None:
        axes.text(x + 0.5, y + 0.5, "·", ha="center", va="center", fontsize=_TEXT, color=NOT_PLANNED_INK)
        return
    box = x + 0.02, y + 0.03, 0.96, 0.94
    if choice.ratio is not None and choice.verdict in _CLAIMED:
        fill = colormaps[_COLOURS](_place(choice.ratio.value, grid.limit))
        _box(axes, box, fill)
        ink = "white" if _lightness(fill) < 0.5 else style.INK
        text = f"{_SIGNS[choice.verdict]} {_number(choice.ratio.value)}"
        name = grid.names.text(_winner(choice)) if choice.verdict == "rival faster" else ["default"]
        _lines(axes, x, y, [text, *name], grid.high, ink, bold=True)
    elif choice.ratio is not None:
        _box(axes, box, "white")
        lines = [_number(choice.ratio.value), _NOT_SHOWN[choice.verdict]]
        _lines(axes, x, y, lines, grid.high, style.FAINT, bold=False)
    else:
        _draw_without_ratio(axes, x, y, box, choice, grid)


def _draw_without_ratio(axes: Axes, x: int, y: int, box: Box, choice: Choice, grid: Grid) -> None:
    """Why there is no time, and of whom if not of all: in a dotted frame if nobody was planned, else on a hatched grey
    with the glyph of its status.
    """
    status, who = _lost(choice)
    if status is None:
        _box(axes, box, "white", linestyle=":")
        _lines(axes, x, y, ["no", who], grid.high, style.FAINT, bold=False)
        return
    all_alike = {p.status for p in [*choice.rivals, *([choice.default] if choice.default else [])]} == {status}
    words = style.shortened(said(status) if all_alike else f"no {who}", _SMALL, grid.wide - 0.06)
    _box(axes, box, _LOST, hatch="////" if status == "unsupported" else "xxxx")
    ground = {"boxstyle": "round,pad=0.1", "facecolor": _LOST, "edgecolor": "none"}
    _lines(axes, x, y, [MARKS[status].glyph, words], grid.high, style.INK, bold=False, ground=ground)


def _lost(choice: Choice) -> tuple[str | None, str]:
    """The status of who has no time (None: not planned), and who that is."""
    if choice.default is None:
        return None, "default"
    if not choice.default.ok:
        return choice.default.status, "default"
    return (_commonest(choice), "rivals") if choice.rivals else (None, "rivals")


def _commonest(choice: Choice) -> str:
    return Counter(p.status for p in choice.rivals).most_common(1)[0][0]


def _box(axes: Axes, box: Box, fill: Any, *, hatch: str = "", linestyle: str = "-") -> None:
    x, y, width, height = box
    axes.add_patch(
        Rectangle((x, y), width, height, facecolor=fill, edgecolor="#8a8a8a", linewidth=0.4, linestyle=linestyle)
    )
    if hatch:
        axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor="#b5b5b5", hatch=hatch, linewidth=0))


def _lines(
    axes: Axes,
    x: int,
    y: int,
    lines: Sequence[str],
    high: float,
    ink: str,
    *,
    bold: bool,
    ground: Mapping[str, Any] | None = None,
) -> None:
    """Lines of text about the middle of a cell: the first larger than the others."""
    first = y + 0.5 - _LINE_H * (len(lines) - 1) / 2 / high
    for i, line in enumerate(lines):
        axes.text(
            x + 0.5,
            first + _LINE_H * i / high,
            line,
            ha="center",
            va="center",
            fontsize=_SMALL if i else _TEXT,
            fontweight="bold" if bold and not i else "normal",
            color=ink,
            bbox=dict(ground) if ground else None,
        )


def _number(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.3g}"


def _place(ratio: float, limit: float) -> float:
    """Where a ratio stands among the colours: 0.5 is 1; the darkest ends are left out, text must be read on them."""
    return 0.5 + 0.42 * log2(ratio) / limit


def _lightness(colour: tuple[float, float, float, float]) -> float:
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def _legend(cells: Sequence[Choice], page: float) -> list[str]:
    """What the texts in the cells mean, as far as they occur, in lines that fit the page."""
    verdicts = {c.verdict for c in cells}
    statuses = {c.default.status for c in cells if c.ratio is None and c.default and not c.default.ok}
    statuses |= {_commonest(c) for c in cells if c.verdict == "no rival ok"}
    entries = [text for verdict, text in _LEGEND.items() if verdict in verdicts]
    entries += [f"{MARKS[s].glyph} {said(s)}" for s in MARKS if s in statuses]
    return flowed(entries, page - 2 * _MARGIN, _KEY_SIZE)


def _head(figure: Figure, legend: Sequence[str], limit: float, page: float) -> None:
    """Title, colours and what the texts in the cells mean."""
    title = style.shortened("Library's choice against the best other algorithm", 8.5, page - 2 * _MARGIN)
    style.text_at(figure, _MARGIN, 0.08, title, fontsize=8.5, fontweight="bold")
    name = "time of the choice / time of the other"
    style.text_at(figure, _MARGIN, 0.3, name, fontsize=6.5)
    left = _MARGIN + style.length_of(name, 6.5) + 0.16
    axes = style.axes_at(figure, left, 0.31, min(1.9, page - left - 0.2), 0.09)
    steps = 64
    edges = [2 ** (limit * (2 * i / steps - 1)) for i in range(steps + 1)]
    axes.pcolormesh(edges, [0, 1], [[_place(2 ** (limit * ((2 * i + 1) / steps - 1)), limit) for i in range(steps)]],
                    cmap=_COLOURS, vmin=0, vmax=1)  # fmt: skip
    axes.set(xscale="log", yticks=[], xlim=(edges[0], edges[-1]))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    ticks = [edges[0], 1.0, edges[-1]]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([_number(tick) for tick in ticks], fontsize=6)
    axes.tick_params(length=1.5, pad=1)
    for i, line in enumerate(legend):
        style.text_at(figure, _MARGIN, _HEAD + _LEGEND_H * i, line, fontsize=6.5)


def _table(found: Sequence[Choice]) -> Table:
    factors = list(dict.fromkeys(n for c in found for n in c.factors))
    sides = [f"{side}_{what}" for side in ("default", "best") for what in ("algorithm", "status", "median_s", "id")]
    columns = ["experiment", *factors, "verdict", "ratio", "low", "high", "confidence", "rivals", "rivals_ok", *sides]
    return Table.of(columns, [_csv_row(c, factors) for c in found])


def _csv_row(c: Choice, factors: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"experiment": c.experiment, "verdict": c.verdict, "rivals": len(c.rivals)}
    row |= {n: c.factors.get(n) for n in factors} | {"rivals_ok": sum(p.ok for p in c.rivals)}
    row |= {n: getattr(c.ratio, n) if c.ratio else None for n in ("low", "high", "confidence")}
    row["ratio"] = c.ratio.value if c.ratio else None
    for side, point in (("default", c.default), ("best", c.best)):
        row |= {
            f"{side}_algorithm": point.factors["algorithm"] if point else None,
            f"{side}_status": point.status if point else "not_planned" if side == "default" else None,
            f"{side}_median_s": point.time if point and point.ok else None,
            f"{side}_id": point.id if point else None,
        }
    return row


def _caption(cube: xr.DataTree, found: Sequence[Choice], facets: Sequence[Facet]) -> str:
    cells = [c for facet in facets for c in facet.cells.values()]
    compared = [c for c in cells if c.ratio is not None]
    shown = Counter(c.verdict for c in compared)
    tried = sorted({len(c.rivals) for c in compared})
    rivals = f"{tried[0]}" if len(tried) == 1 else f"{tried[0]} to {tried[-1]}" if tried else "0"
    alone = len(found) - len(cells)
    return (
        "Time of the library's choice over that of the fastest other library or reference algorithm, both without a "
        f"codec; above 1 (▲) the other is faster. {ratio_statistic(cube)} Their error probability is divided by the "
        f"number of rivals that the fastest was picked from ({rivals}; Bonferroni), and each cell is judged alone. "
        "Coloured, with its winner named, only where the limits leave out 1: "
        f"{shown['rival faster']} cells for another algorithm, {shown['default faster']} for the library's choice, of "
        f"{len(compared)} compared and {len(cells)} planned; a dot was not planned. "
        + (f"Left out: {alone} cells of experiments without rivals. " if alone else "")
        + machine(cube)
    )
