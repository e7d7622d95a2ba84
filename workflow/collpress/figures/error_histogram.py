"""Error histogram: how the errors of a result lie inside the bound that they must keep.

A block per data, message size and world, a row per codec and bound: the share of the values in 40 bins of error over
bound, on a logarithmic axis, so that a single value outside can be seen. What lies outside is counted beside the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator

from collpress.analysis.table import Row
from collpress.figures import style
from collpress.figures.blocks import Block, Head, page, page_height, wrapped
from collpress.figures.captions import experiments, machine
from collpress.figures.choice import Group, chosen, entries, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.lines import names as line_names
from collpress.figures.marks import MARKS, said

BINS = tuple(f"b{i:02d}" for i in range(40))
"""Equally wide over [-1, 1] in units of the bound; `below` and `above` are outside."""
_NAMES, _PANEL, _GAP, _ABOVE, _BELOW = 1.0, 1.36, 0.045, 0.02, 0.27
_ROW: Mapping[style.Width, float] = {"double": 0.22, "single": 0.15}
_LEAST_ROW = 0.11
"""Inches."""
_HISTOGRAM = "result_error_histogram"
_VARIABLES = (*(f"{_HISTOGRAM}_{name}" for name in ("below", *BINS, "above")), "result_bound", "n_ok")
_OUTSIDE = "#b2182b"
_EDGE = 1.18
"""Where the axis of errors over bound ends; values outside are drawn between 1 and it, however far out they are."""


@dataclass(frozen=True)
class Entry:
    """One distribution: counts of values below the bound's range, in its bins, and above; None with the reason why."""

    name: str
    point: Row
    counts: tuple[float, ...] | None
    why: str

    @property
    def total(self) -> float:
        return sum(self.counts or ())

    @property
    def outside(self) -> float:
        return self.counts[0] + self.counts[-1] if self.counts else 0.0


@dataclass(frozen=True, eq=False)
class Ladder:
    """The entries of one group, in the order of the cube."""

    group: Group
    entries: Sequence[Entry]


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a row without a distribution says why, and so does a cube that no codec ran for."""
    ladders: list[Ladder] = []
    names: list[str] = []
    measured = any(_HISTOGRAM in dataset for dataset in experiments(cube).values())
    for experiment, dataset in experiments(cube).items():
        points = _points(dataset)
        ladders += [_ladder(group) for group in groups(experiment, dataset, points)]
        names += [n for n in factor_names(dataset) if n not in names]
    codecs = list(dict.fromkeys(str(e.point["codec"]) for ladder in ladders for e in ladder.entries))
    colours = {codec: style.nth(place)[0] for place, codec in enumerate(codecs)}
    low = _lowest(ladders)
    notes = [] if ladders else ["No point of this campaign compresses: there is no error to show."]
    full = [ladder for ladder in ladders if any(e.counts for e in ladder.entries)]
    if full:  # a figure of empty blocks only says in each row why
        notes += omissions([ladder.group for ladder in ladders if ladder not in full])
    if ladders and not measured:
        notes.append(
            "No point has a histogram of its errors: add error_histogram to the campaign's metrics: and run it again."
        )
    head = _key(style.inches(width)) if full else None

    def blocks(row: float) -> list[Block]:
        return [_block(ladder, colours, low, row) for ladder in full or ladders]

    row = style.fitted(_ROW[width], _LEAST_ROW, lambda row: page_height(width, blocks(row), head, notes))
    figure = page(width, blocks(row), head, notes)
    return Drawing(figure, _table(ladders, names), _caption(cube, ladders))


def _key(width: float) -> Head:
    text = "Height: share of the values, logarithmic · dotted: uniform errors · hatched, red: outside the bound"
    lines = wrapped(text, 6.3, width - 0.2)

    def put(figure: Figure, left: float, top: float) -> None:
        for i, line in enumerate(lines):
            style.text_at(figure, left, top + 0.12 * i, line, fontsize=6.3)

    return Head(0.12 * len(lines) + 0.1, put)


def _points(dataset: xr.Dataset) -> list[Row]:
    """The points that compress."""
    wide = entries(dataset, _HISTOGRAM, "error_histogram_value", f"{_HISTOGRAM}_")
    return [row for row in chosen(wide, _VARIABLES) if str(row["algorithm"]).startswith("compressed:")]


def _ladder(group: Group) -> Ladder:
    keys = [(str(p["algorithm"]), str(p["codec"]), str(p["error_bound"])) for p in group.points]
    called = line_names(keys)
    own = {key: ", own bound" if key[1] != "none" and key[2] == "none" else "" for key in keys}
    named = [called[key] + own[key] for key in keys]
    return Ladder(group, [_entry(name, point) for name, point in zip(named, group.points, strict=True)])


def _entry(name: str, point: Row) -> Entry:
    status = str(point["status"])
    counts = [point[variable] for variable in _VARIABLES[:42]]
    if status != "ok":
        return Entry(name, point, None, f"{MARKS[status].glyph} {said(status)}")
    if any(count is None for count in counts) or not sum(counts):
        return Entry(name, point, None, "no histogram in the cube")
    return Entry(name, point, tuple(float(c) for c in counts), "")


def _lowest(ladders: Sequence[Ladder]) -> float:
    """The decade below the smallest share that is not zero: one axis for all rows, so that they can be compared."""
    shares = [c / e.total for ladder in ladders for e in ladder.entries if e.counts for c in e.counts if c]
    return float(10.0 ** min(floor(log10(min(shares))), -2)) if shares else 1e-2


def _block(ladder: Ladder, colours: Mapping[str, str], low: float, row: float) -> Block:
    height = (row + _GAP) * len(ladder.entries) - _GAP

    def put(figure: Figure, left: float, top: float, last: bool) -> None:
        for i, entry in enumerate(ladder.entries):
            at = top + _ABOVE + (row + _GAP) * i
            axes = style.axes_at(figure, left + _NAMES, at, _PANEL, row)
            name = style.shortened(entry.name, 6, _NAMES - 0.06, keep="end")
            style.text_at(figure, left + _NAMES - 0.06, at + row / 2, name, fontsize=6, ha="right", va="center")
            _frame(axes, low, labelled=i == 0)
            if entry.counts:
                _draw_entry(axes, entry, colours[str(entry.point["codec"])], low)
                _outside(figure, entry, left + _NAMES + _PANEL + 0.38, at + row / 2)
            else:
                axes.text(0.5, 0.5, entry.why, transform=axes.transAxes, fontsize=5.8, ha="center", va="center")
            _error_axis(axes, last=last and i == len(ladder.entries) - 1)

    return Block(ladder.group.experiment, ladder.group.factors, _ABOVE + height, _BELOW, put)


def _frame(axes: Axes, low: float, *, labelled: bool) -> None:
    axes.set(yscale="log", ylim=(low, 1), xlim=(-_EDGE, _EDGE))
    axes.yaxis.tick_right()
    axes.yaxis.set_major_locator(FixedLocator([low, 1.0]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticklabels([_percent(low), "100 %"] if labelled else ["", ""], fontsize=5)
    axes.tick_params(axis="y", length=1.5, pad=1.5)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.spines["right"].set_visible(True)
    axes.axvspan(-1, 1, facecolor="#f4f4f4", edgecolor="none", zorder=0)
    axes.vlines([-1, 1], low, 1, color=style.INK, linewidth=0.7, zorder=4)
    axes.hlines([1 / len(BINS)], -1, 1, color=style.FAINT, linewidth=0.6, linestyle=(0, (1, 1.5)), zorder=3)


def _draw_entry(axes: Axes, entry: Entry, colour: str, low: float) -> None:
    assert entry.counts is not None
    shares = np.array(entry.counts) / entry.total
    edges = np.linspace(-1, 1, len(BINS) + 1)
    inside = np.maximum(shares[1:-1], low)
    axes.stairs(inside, edges, baseline=low, fill=True, facecolor=colour, alpha=0.45, zorder=1)
    axes.stairs(inside, edges, baseline=low, color=colour, linewidth=0.8, zorder=2)
    for left, share in ((-_EDGE + 0.04, shares[0]), (1.04, shares[-1])):
        if share > 0:
            box = (left, low), 0.1, share - low
            axes.add_patch(Rectangle(*box, facecolor=_OUTSIDE, edgecolor="white", hatch="////", linewidth=0, zorder=2))
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=style.INK, linewidth=0.5, zorder=3))


def _error_axis(axes: Axes, *, last: bool) -> None:
    axes.set_xticks([-1, 0, 1], ["−1", "0", "1"] if last else ["", "", ""], fontsize=6)
    axes.tick_params(axis="x", length=2 if last else 0, pad=1.5)
    if last:
        axes.set_xlabel("error / bound", fontsize=6.5, labelpad=1.5)


def _outside(figure: Figure, entry: Entry, left: float, middle: float) -> None:
    """How many values lie outside the bound, and which share of all that is."""
    if not entry.outside:
        style.text_at(figure, left, middle, "0 outside", fontsize=5.5, va="center", color=style.FAINT)
        return
    text = f"{entry.outside:,.0f} outside\n{_percent(float(f'{entry.outside / entry.total:.1g}'))}"
    style.text_at(
        figure, left, middle, text, fontsize=5.5, va="center", color=_OUTSIDE, weight="bold", linespacing=0.95
    )


def _percent(share: float) -> str:
    return f"{100 * share:g} %".replace("e-0", "e-")


def _table(ladders: Sequence[Ladder], names: Sequence[str]) -> Table:
    edges = ("below", *BINS, "above")
    columns = [
        "experiment",
        *names,
        "id",
        "status",
        "reason",
        "n_ok",
        "result_bound",
        "values",
        "outside",
        "outside_share",
    ]
    out: list[dict[str, Any]] = []
    for ladder in ladders:
        for entry in ladder.entries:
            known = entry.counts is not None
            shares = [c / entry.total for c in entry.counts] if entry.counts else [None] * len(edges)
            out.append(
                {"experiment": ladder.group.experiment}
                | {n: entry.point.get(n) for n in names}
                | {n: entry.point[n] for n in ("id", "status", "reason", "n_ok", "result_bound")}
                | {
                    "values": entry.total if known else None,
                    "outside": entry.outside if known else None,
                    "outside_share": entry.outside / entry.total if known else None,
                }
                | {f"share_{edge}": share for edge, share in zip(edges, shares, strict=True)}
            )
    return Table.of([*columns, *(f"share_{edge}" for edge in edges)], out)


def _caption(cube: xr.DataTree, ladders: Sequence[Ladder]) -> str:
    found = [entry for ladder in ladders for entry in ladder.entries]
    drawn = [entry for entry in found if entry.counts]
    values = sorted({int(entry.total) for entry in drawn})
    spread = f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}" if values else "no"
    outside = sum(entry.outside > 0 for entry in drawn)
    return (
        "Errors of rank 0's result against the float64 oracle, over the bound that the result must keep: what the "
        "algorithm makes of the codec's bound over all ranks, and the rounding of the plain sum. A codec that takes no "
        "bound (int8, bf16) is held against the one that it states itself for these data; without a codec only the "
        "rounding is left. Share of the values in 40 equally wide bins between −1 and 1, logarithmic, the same axis in "
        "every row; dotted: errors that were uniform over the bound. Hatched beyond the lines at −1 and 1: values "
        "outside, however far; their number and share stand at the right "
        f"({outside} of {len(drawn)} rows have any). "
        f"n = {spread} values a row, all of the result; median count over {cube.attrs['launches']} launches; nothing "
        f"is sampled, so that no confidence limits apply. {len(drawn)} of {len(found)} points that compress are drawn. "
        f"{machine(cube)}"
    )
