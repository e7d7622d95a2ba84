"""Phases: where the time of a call goes, as stacked bars, in seconds and in per cent.

A block per data, message size and world; a bar per codec and bound, or per reference algorithm. What the library does
inside cannot be seen, so its algorithms have no bar. A bar that would dwarf the others is drawn shorter in its own
proportions, with a gap, and its number says how long it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.ticker import EngFormatter

from collpress.analysis.table import Row
from collpress.cube.quantities import PHASES
from collpress.figures import style
from collpress.figures.blocks import Block, Head, page, page_height
from collpress.figures.captions import experiments, iterations, machine
from collpress.figures.choice import Group, chosen, entries, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.lines import names as line_names
from collpress.figures.marks import MARKS, said
from collpress.figures.placing import in_rows

_NAMES, _TIME, _NUMBER, _SHARE, _AXIS = 1.12, 0.92, 0.42, 0.76, 0.27
_BAR: Mapping[style.Width, float] = {"double": 0.125, "single": 0.105}
_LEAST_BAR = 0.08
_ENTRY_H, _BOX = 0.17, 0.24
"""Inches."""
_CUT_ABOVE, _CUT_AT = 5.0, 1.3
"""A bar longer than so many times the median bar is cut, at so many times the longest that is not."""
_VARIABLES = ("phase_total", *(f"phase_{name}" for name in PHASES), "phase_iterations", "n_ok")


@dataclass(frozen=True)
class Fill:
    """How a phase looks: no two share a hatch, and no two that touch share a grey."""

    colour: str
    hatch: str


FILLS: Mapping[str, Fill] = {
    "compress": Fill("#08447a", ""),
    "send": Fill("#f0a43c", "...."),
    "decompress": Fill("#4d8fc4", "////"),
    "reduce": Fill("#8f2d3a", "\\\\\\\\"),
    "wait": Fill("#d9dde0", ""),
    "copy": Fill("#6aa67c", "----"),
    "other": Fill("#ffffff", "xxxx"),
}
"""In the order of the stack, which is the cube's order of phases."""


@dataclass(frozen=True)
class Bar:
    """The phases of a point in seconds, empty where it has none; `why` says why then."""

    name: str
    point: Row
    phases: Mapping[str, float]
    why: str

    @property
    def total(self) -> float:
        """Sum of the phases: medians each, so it may differ from the median of the totals."""
        return sum(self.phases.values())


@dataclass(frozen=True, eq=False)
class Stack:
    """The bars of one group, in the order of the cube."""

    group: Group
    bars: Sequence[Bar]


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a bar without numbers says why, and so does a cube of library algorithms only."""
    stacks: list[Stack] = []
    names: list[str] = []
    for experiment, dataset in experiments(cube).items():
        points = _points(dataset)
        stacks += [_stack(group) for group in groups(experiment, dataset, points)]
        names += [n for n in factor_names(dataset) if n not in names]
    notes = [] if stacks else ["Only the library's algorithms are planned; what they do inside cannot be seen."]
    head = _legend(style.inches(width)) if any(bar.phases for stack in stacks for bar in stack.bars) else None
    full = [stack for stack in stacks if any(bar.phases for bar in stack.bars)]
    if full:  # a figure of empty blocks only says at each bar why
        notes += omissions([stack.group for stack in stacks if stack not in full])

    def blocks(bar: float) -> list[Block]:
        return [_block(stack, bar) for stack in full or stacks]

    bar = style.fitted(_BAR[width], _LEAST_BAR, lambda bar: page_height(width, blocks(bar), head, notes))
    figure = page(width, blocks(bar), head, notes)
    return Drawing(figure, _table(stacks, names), _caption(cube, stacks))


def _points(dataset: xr.Dataset) -> list[Row]:
    """The points of algorithms that can be instrumented."""
    wide = entries(dataset, "phase_time", "phase", "phase_")
    return [row for row in chosen(wide, _VARIABLES) if not str(row["algorithm"]).startswith("library:")]


def _stack(group: Group) -> Stack:
    keys = [(str(p["algorithm"]), str(p["codec"]), str(p["error_bound"])) for p in group.points]
    called = line_names(keys)
    return Stack(group, [_bar(called[key], point) for key, point in zip(keys, group.points, strict=True)])


def _bar(name: str, point: Row) -> Bar:
    status = str(point["status"])
    if status != "ok":
        return Bar(name, point, {}, f"{MARKS[status].glyph} {said(status)}")
    phases = {phase: point[f"phase_{phase}"] for phase in PHASES}
    if any(value is None for value in phases.values()) or not sum(phases.values()):
        return Bar(name, point, {}, "no instrumented pass")
    return Bar(name, point, phases, "")


def limit(totals: Sequence[float]) -> float:
    """Where the axis of times ends: bars far beyond the median are cut, so that the others can be read."""
    usual = [t for t in totals if t <= _CUT_ABOVE * median(totals)]
    return max(totals) if len(usual) == len(totals) else _CUT_AT * max(usual)


def _block(stack: Stack, bar: float) -> Block:
    height = bar * len(stack.bars)

    def put(figure: Figure, left: float, top: float, last: bool) -> None:
        time = style.axes_at(figure, left + _NAMES, top, _TIME, height)
        share = style.axes_at(figure, left + _NAMES + _TIME + _NUMBER, top, _SHARE, height)
        _draw_bars(time, share, stack, last=last)

    return Block(stack.group.experiment, stack.group.factors, height, _AXIS, put)


def _draw_bars(time: Axes, share: Axes, stack: Stack, *, last: bool) -> None:
    totals = [bar.total for bar in stack.bars if bar.phases]
    end = limit(totals) if totals else 1.0
    for axes, right in ((time, end * 1.02), (share, 100.0)):
        axes.set(xlim=(0, right), ylim=(len(stack.bars), 0))
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0, pad=3)
    time.set_yticks(
        [i + 0.5 for i in range(len(stack.bars))],
        [style.shortened(bar.name, 6, _NAMES - 0.05, keep="end") for bar in stack.bars],
        fontsize=6,
    )
    share.set_yticks([])
    for i, bar in enumerate(stack.bars):
        if bar.phases:
            _draw_bar(time, i, bar.phases, min(1.0, end / bar.total))
            _draw_bar(share, i, bar.phases, 100 / bar.total)
            _number(time, i, bar, end)
        else:
            time.text(
                0.02,
                i + 0.52,
                bar.why,
                transform=time.get_yaxis_transform(),
                fontsize=5.8,
                va="center",
                color=style.FAINT,
            )
    _axis(time, share, named=last)


def _axis(time: Axes, share: Axes, *, named: bool) -> None:
    """Times have a scale in each block and no ticks, for each bar has its number; shares have one scale in all."""
    time.set_xticks([])
    share.set_xticks([0, 50, 100], ["0", "50", "100"] if named else [""] * 3)
    share.tick_params(axis="x", labelsize=6, pad=1.5, length=2.5 if named else 0)
    if named:
        time.set_xlabel("time", fontsize=6.5, labelpad=1.5)
        share.set_xlabel("share of the time (%)", fontsize=6.5, labelpad=1.5)


def _draw_bar(axes: Axes, row: int, phases: Mapping[str, float], scale: float) -> None:
    at = 0.0
    for phase, fill in FILLS.items():
        length = phases[phase] * scale
        if length <= 0:
            continue
        box = (at, row + 0.12), length, 0.76
        axes.add_patch(Rectangle(*box, facecolor=fill.colour, edgecolor="none"))
        if fill.hatch:
            ink = "#ffffff" if phase == "reduce" else style.INK
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=ink, hatch=fill.hatch, linewidth=0))
        axes.add_patch(Rectangle(*box, fill=False, edgecolor=style.INK, linewidth=0.35))
        at += length


def _number(axes: Axes, row: int, bar: Bar, end: float) -> None:
    """The bar's length in words at its end; a gap near the end of one that is drawn shorter."""
    if bar.total > end * 1.0001:
        x, tilt = 0.9 * end, 0.03 * end
        corners = [(x - tilt, row + 0.97), (x + tilt, row + 0.03), (x + 3 * tilt, row + 0.03), (x + tilt, row + 0.97)]
        axes.add_patch(Polygon(corners, facecolor="white", edgecolor="none", clip_on=False, zorder=3))
    text = EngFormatter("s", sep=" ", places=None)(float(f"{bar.total:.2g}"))
    axes.text(
        min(bar.total, end) + 0.03 / _TIME * end,
        row + 0.52,
        text,
        fontsize=5.5,
        va="center",
        color=style.INK,
        clip_on=False,
    )


def _legend(width: float) -> Head:
    """A box and a name for each phase, in rows that fit the page."""
    phases = list(FILLS)
    rows = in_rows([_BOX + 0.06 + style.length_of(phase, 7) + 0.16 for phase in phases], width - 0.2)
    height = _ENTRY_H * len(rows)

    def put(figure: Figure, left: float, top: float) -> None:
        axes = style.axes_at(figure, left, top, width - 0.2, height)
        axes.set(xlim=(0, width - 0.2), ylim=(height, 0))
        axes.set_axis_off()
        for line, row in enumerate(rows):
            for x, i in row:
                phase = phases[i]
                middle = _ENTRY_H * (line + 0.5)
                _draw_box(axes, x, middle - 0.055, FILLS[phase], phase)
                axes.text(x + _BOX + 0.06, middle, phase, fontsize=7, va="center")

    return Head(height + 0.1, put)


def _draw_box(axes: Axes, x: float, y: float, fill: Fill, phase: str) -> None:
    box = (x, y), _BOX, 0.11
    axes.add_patch(Rectangle(*box, facecolor=fill.colour, edgecolor="none"))
    if fill.hatch:
        ink = "#ffffff" if phase == "reduce" else style.INK
        axes.add_patch(Rectangle(*box, fill=False, edgecolor=ink, hatch=fill.hatch, linewidth=0))
    axes.add_patch(Rectangle(*box, fill=False, edgecolor=style.INK, linewidth=0.35))


def _table(stacks: Sequence[Stack], names: Sequence[str]) -> Table:
    columns = ["experiment", *names, "id", "status", "reason", "n_ok", "iterations"]
    columns += [*(f"{phase}_s" for phase in PHASES), "sum_s", "phase_total_s", *(f"{phase}_share" for phase in PHASES)]
    out: list[dict[str, Any]] = []
    for stack in stacks:
        for bar in stack.bars:
            out.append(
                {"experiment": stack.group.experiment}
                | {n: bar.point.get(n) for n in names}
                | {n: bar.point[n] for n in ("id", "status", "reason", "n_ok")}
                | {"iterations": _count(bar)}
                | {f"{phase}_s": bar.phases.get(phase) for phase in PHASES}
                | {"sum_s": bar.total if bar.phases else None, "phase_total_s": bar.point["phase_total"]}
                | {f"{phase}_share": bar.phases[phase] / bar.total if bar.phases else None for phase in PHASES}
            )
    return Table.of(columns, out)


def _caption(cube: xr.DataTree, stacks: Sequence[Stack]) -> str:
    bars = [bar for stack in stacks for bar in stack.bars]
    drawn = sum(bool(bar.phases) for bar in bars)
    cut = any(
        bar.total > limit([b.total for b in stack.bars if b.phases])
        for stack in stacks
        for bar in stack.bars
        if bar.phases
    )
    launches = int(cube.attrs["launches"])
    over = f"medians over {launches} launches" if launches > 1 else "values of a single launch"
    return (
        "Where the time of a call goes. Measured in an instrumented pass of its own, so that the clocks that it reads "
        "do not touch the times of the other figures. Each bar is of the rank whose total is the largest; its phases "
        f"are {over} of each launch's median over the instrumented iterations"
        f"{iterations(map(_count, bars))}, without confidence limits. Each phase "
        "is a median of its own, so a bar may differ from the median total (in the CSV); the number is the bar's "
        "length. "
        "Right: the same bars as shares of their length. Wait: for messages of other ranks; copy: within a rank's "
        "memory; other: what the pass could not attribute. The library's algorithms cannot be instrumented. "
        + (
            "Bars with a gap are drawn shorter, in their own proportions, so that the others can be read. "
            if cut
            else ""
        )
        + f"n = {drawn} of {len(bars)} points that can be instrumented are drawn. {machine(cube)}"
    )


def _count(bar: Bar) -> int | None:
    n = bar.point["phase_iterations"]
    return int(n) if bar.phases and n is not None else None
