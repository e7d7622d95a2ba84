"""Breakdown: what the time of a call is spent on, phase by phase, over the message size (as PICO's Fig. 11).

A block per algorithm, codec and bound, data and world: on its left the times, stacked, on its right their shares. A
colour is what the time is spent on, a hatch is the phase of the algorithm that it is spent in. What the library does
inside cannot be seen, so its algorithms have no block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import EngFormatter, NullLocator

from collpress.analysis.sizes import iec
from collpress.analysis.table import Row
from collpress.cube.quantities import OUTSIDE, PHASES
from collpress.figures import labels, style
from collpress.figures.blocks import Block, Head, page, page_height
from collpress.figures.captions import experiments, iterations, machine
from collpress.figures.choice import Group, chosen, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.marks import MARKS, said
from collpress.figures.placing import in_rows

_LEFT, _PANEL, _GAP = 0.47, 1.14, 0.46
_HIGH: Mapping[style.Width, float] = {"double": 0.95, "single": 0.85}
_LEAST = 0.42
_TICKS, _FOOT, _KEY, _BOX = 0.16, 0.14, 0.13, 0.2
"""Inches."""
_TICK = 5.8
"""Points."""
_LONG = 3
"""Sizes that show how a breakdown changes with them; shorter ones are drawn only where there is no longer one."""
_NONE = "∅"
"""Stands where a point that is ok has no instrumented pass."""


@dataclass(frozen=True)
class Look:
    """How a kind of work looks, and the ink of hatches on it."""

    colour: str
    ink: str


KINDS: Mapping[str, tuple[str, ...]] = {
    "codec": ("compress", "decompress"),
    "network": ("send", "wait"),
    "reduction": ("reduce",),
    "movement": ("copy",),
    "other": ("other",),
}
"""What time is spent on, from the cube's phases, in the order of the stack."""
LOOKS: Mapping[str, Look] = {
    "codec": Look("#062c55", "#ffffff"),
    "network": Look("#f0a43c", style.INK),
    "reduction": Look("#a23b4a", "#ffffff"),
    "movement": Look("#3f8f63", style.INK),
    "other": Look("#ffffff", style.INK),
}
"""No two share a grey, for hatches tell the phases apart."""
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++")
"""Of the phases of a block, in their order."""
_ABOUT = {
    "codec": "compressing and decompressing",
    "network": "posting sends and receives and waiting for them",
    "reduction": "combining values",
    "movement": "copies within a rank's memory",
    "other": "what the pass could not attribute",
}


@dataclass(frozen=True)
class Part:
    """Seconds that a call spends on one kind of work in one phase; `phase` is empty for an algorithm that tags none."""

    phase: str
    kind: str
    seconds: float


@dataclass(frozen=True)
class Bar:
    """A point, and its parts from the bottom up: none where it has no numbers."""

    point: Row
    parts: Sequence[Part]

    @property
    def total(self) -> float:
        """Sum of the parts: medians each, so it may differ from the median of the totals."""
        return sum(part.seconds for part in self.parts)


@dataclass(frozen=True, eq=False)
class Stack:
    """The bars of one group by message size, and the phases that any of them has."""

    group: Group
    bars: Sequence[Bar]
    phases: Sequence[str]

    @property
    def drawn(self) -> int:
        """At how many sizes there are numbers."""
        return sum(bool(bar.parts) for bar in self.bars)


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; sizes without numbers have a mark, groups without any are named at its foot."""
    stacks: list[Stack] = []
    names: list[str] = []
    for experiment, dataset in experiments(cube).items():
        points = _points(dataset)
        stacks += [_stack(group, dataset) for group in groups(experiment, dataset, points, ("message_bytes",))]
        names += [n for n in factor_names(dataset) if n not in names]
    notes = [] if stacks else ["Only the library's algorithms are planned; what they do inside cannot be seen."]
    full = [stack for stack in stacks if stack.drawn]
    long = [stack for stack in full if stack.drawn >= _LONG] or full
    head = _legend(style.inches(width)) if full else None
    if full:
        notes += _short([stack for stack in full if stack not in long])
        notes += omissions([stack.group for stack in stacks if stack not in full])

    def blocks(high: float) -> list[Block]:
        return [_block(stack, high) for stack in long or stacks]

    high = style.fitted(_HIGH[width], _LEAST, lambda high: page_height(width, blocks(high), head, notes))
    figure = page(width, blocks(high), head, notes)
    return Drawing(figure, _table(stacks, names), _caption(cube, stacks))


def _points(dataset: xr.Dataset) -> list[Row]:
    """The points of algorithms that can be instrumented, with `parts`: seconds by tagged phase and phase."""
    wide, columns = dataset, {}
    tagged = [str(label) for label in dataset["tagged_phase"].values] if "tagged_phase_time" in dataset else []
    for phase in PHASES:
        if "phase_time" in dataset and phase in dataset["phase"].values:
            columns[f"0 {phase}"] = dataset["phase_time"].sel(phase=phase, drop=True)
        for i, name in enumerate(tagged, start=1):
            columns[f"{i} {phase}"] = dataset["tagged_phase_time"].sel(tagged_phase=name, phase=phase, drop=True)
    wide = dataset.assign(columns)
    rows = chosen(wide, ("phase_total", "phase_iterations", "n_ok", *columns))
    own = [row for row in rows if not str(row["algorithm"]).startswith("library:")]
    return [row | {"parts": _parts(row, tagged)} for row in own]


def _parts(row: Row, tagged: Sequence[str]) -> list[Part]:
    """The stack of a point: of the phases that its algorithm tags, else of the whole call."""
    if str(row["status"]) != "ok":
        return []
    own = [(name, i) for i, name in enumerate(tagged, start=1) if row[f"{i} other"] is not None]
    parts = [
        Part(name, kind, max(0.0, sum(row.get(f"{i} {phase}") or 0.0 for phase in phases)))
        for name, i in own or [("", 0)]
        for kind, phases in KINDS.items()
    ]
    return parts if any(part.seconds for part in parts) else []


def _stack(group: Group, dataset: xr.Dataset) -> Stack:
    bars = [Bar(p, p["parts"]) for p in sorted(group.points, key=lambda p: int(p["message_bytes"]))]
    present = {part.phase for bar in bars for part in bar.parts if part.seconds}
    tagged = [str(label) for label in dataset["tagged_phase"].values] if "tagged_phase" in dataset else []
    return Stack(group, bars, [name for name in tagged if name in present])


def _short(stacks: Sequence[Stack]) -> list[str]:
    """A sentence per experiment on stacks that are left out for a figure of longer ones."""
    counts = Counter(stack.group.experiment for stack in stacks)
    return [
        f"{name}, without a panel because fewer than {_LONG} sizes have numbers (see the figure phases): {n} groups."
        for name, n in counts.items()
    ]


def _block(stack: Stack, high: float) -> Block:
    rows = _key_rows(stack)
    above = _KEY * len(rows) + 0.04

    def put(figure: Figure, left: float, top: float, last: bool) -> None:
        _draw_key(figure, stack, rows, left, top)
        time = style.axes_at(figure, left + _LEFT, top + above, _PANEL, high)
        share = style.axes_at(figure, left + _LEFT + _PANEL + _GAP, top + above, _PANEL, high)
        _draw_bars(time, share, stack)
        if last:
            size = labels.size_label({str(bar.point["collective"]) for bar in stack.bars})
            middle = left + _LEFT + _PANEL + _GAP / 2
            style.text_at(figure, middle, top + above + high + _TICKS, size, fontsize=6.5, ha="center")

    return Block(stack.group.experiment, stack.group.factors, above + high + _TICKS, _FOOT, put)


def _draw_bars(time: Axes, share: Axes, stack: Stack) -> None:
    totals = [bar.total for bar in stack.bars if bar.parts]
    low = 10.0 ** floor(log10(min(totals) / 10)) if totals else 1e-6
    time.set_yscale("log")
    for axes, bottom, top in ((time, low, 1.15 * max(totals, default=10 * low)), (share, 0.0, 100.0)):
        axes.set(xlim=(-0.6, len(stack.bars) - 0.4), ylim=(bottom, top))
        axes.grid(visible=False, axis="x")
        axes.tick_params(axis="both", labelsize=_TICK, pad=1.5, length=2)
        places = _ticks(stack.bars)
        axes.set_xticks(places, [_size(stack.bars[i]) for i in places])
    time.yaxis.set_major_formatter(EngFormatter("s", sep=" "))
    time.yaxis.set_minor_locator(NullLocator())
    share.set_yticks([0, 50, 100])
    time.set_ylabel("time", fontsize=6, labelpad=2)
    share.set_ylabel("share (%)", fontsize=6, labelpad=2)
    for i, bar in enumerate(stack.bars):
        if bar.parts:
            _draw_bar(time, i, bar, stack.phases, 1.0)
            _draw_bar(share, i, bar, stack.phases, 100 / bar.total)
        else:
            for axes in (time, share):
                _mark(axes, i, len(stack.bars), bar)


def _draw_bar(axes: Axes, place: int, bar: Bar, phases: Sequence[str], scale: float) -> None:
    """Each edge at the sum of all below it, also on an axis of powers."""
    at, before = 0.0, bar.parts[0].phase
    bottom = axes.get_ylim()[0]
    for part in bar.parts:
        if part.phase != before and at > bottom:
            axes.plot([place - 0.4, place + 0.4], [at, at], color=style.INK, linewidth=0.9, solid_capstyle="butt")
        before = part.phase
        length = part.seconds * scale
        if length > 0 and at + length > bottom:
            start = max(at, bottom)
            _fill(axes, (place - 0.4, start), 0.8, at + length - start, part.kind, _hatch(phases, part.phase))
        at += length


def _fill(axes: Axes, corner: tuple[float, float], width: float, height: float, kind: str, hatch: str) -> None:
    look = LOOKS[kind]
    axes.add_patch(Rectangle(corner, width, height, facecolor=look.colour, edgecolor="none"))
    if hatch:
        axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=look.ink, hatch=hatch, linewidth=0))
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=style.INK, linewidth=0.3))


def _hatch(phases: Sequence[str], name: str) -> str:
    return HATCHES[phases.index(name) % len(HATCHES)] if name in phases else ""


def _mark(axes: Axes, place: int, places: int, bar: Bar) -> None:
    """Why a size has no bar, as a glyph that is no wider than a bar."""
    glyph = _NONE if bar.point["status"] == "ok" else MARKS[str(bar.point["status"])].glyph
    size = min(6.0, 72 * _PANEL / places)
    axes.text(place, 0.04, glyph, transform=axes.get_xaxis_transform(), fontsize=size, ha="center", color=style.FAINT)


def _ticks(bars: Sequence[Bar]) -> list[int]:
    """Which bars' sizes can be written without touching each other."""
    longest = max(style.length_of(_size(bar), _TICK) for bar in bars) + 0.06
    every = next(n for n in range(1, len(bars) + 2) if n * _PANEL / (len(bars) + 0.2) >= longest or n > len(bars))
    return list(range(0, len(bars), every))


def _size(bar: Bar) -> str:
    return iec(int(bar.point["message_bytes"]))


def _key_rows(stack: Stack) -> list[list[tuple[float, int]]]:
    """Where the names of the phases stand; none where no phase has a name."""
    if not stack.phases:
        return []
    lengths = [_BOX + 0.04 + style.length_of(_words(name), 6) + 0.1 for name in stack.phases]
    return in_rows(lengths, _LEFT + 2 * _PANEL + _GAP)


def _draw_key(figure: Figure, stack: Stack, rows: list[list[tuple[float, int]]], left: float, top: float) -> None:
    if not rows:
        return
    width, height = _LEFT + 2 * _PANEL + _GAP, _KEY * len(rows)
    axes = _bare(figure, left, top, width, height)
    for line, row in enumerate(rows):
        for x, i in row:
            middle = _KEY * (line + 0.5)
            name = stack.phases[i]
            _fill(axes, (x, middle - 0.045), _BOX, 0.09, "other", _hatch(stack.phases, name))
            axes.text(x + _BOX + 0.04, middle, _words(name), fontsize=6, va="center")


def _words(phase: str) -> str:
    return "outside" if phase == OUTSIDE else phase


def _bare(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes in inches, downwards, without anything drawn."""
    axes = style.axes_at(figure, left, top, width, height)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return axes


def _legend(width: float) -> Head:
    """A box and a name for each kind of work."""
    kinds = list(KINDS)
    rows = in_rows([_BOX + 0.05 + style.length_of(kind, 7) + 0.16 for kind in kinds], width - 0.2)
    height = 0.17 * len(rows)

    def put(figure: Figure, left: float, top: float) -> None:
        axes = _bare(figure, left, top, width - 0.2, height)
        for line, row in enumerate(rows):
            for x, i in row:
                middle = 0.17 * (line + 0.5)
                _fill(axes, (x, middle - 0.055), _BOX, 0.11, kinds[i], "")
                axes.text(x + _BOX + 0.05, middle, kinds[i], fontsize=7, va="center")

    return Head(height + 0.1, put)


def _table(stacks: Sequence[Stack], names: Sequence[str]) -> Table:
    """A row for each part of each bar; a point without numbers has one row."""
    columns = ["experiment", *names, "id", "status", "reason", "n_ok", "iterations"]
    columns += ["tagged_phase", "kind", "seconds", "share", "sum_s", "phase_total_s"]
    out: list[dict[str, Any]] = []
    for stack in stacks:
        for bar in stack.bars:
            shared = {"experiment": stack.group.experiment} | {n: bar.point.get(n) for n in names}
            shared |= {n: bar.point[n] for n in ("id", "status", "reason", "n_ok")}
            shared |= {"iterations": _count(bar), "phase_total_s": bar.point["phase_total"]}
            shared |= {"sum_s": bar.total if bar.parts else None}
            own = [
                {"tagged_phase": p.phase, "kind": p.kind, "seconds": p.seconds, "share": p.seconds / bar.total}
                for p in bar.parts
            ]
            out += [shared | part for part in own or [dict.fromkeys(("tagged_phase", "kind", "seconds", "share"))]]
    return Table.of(columns, out)


def _caption(cube: xr.DataTree, stacks: Sequence[Stack]) -> str:
    bars = [bar for stack in stacks for bar in stack.bars]
    launches = int(cube.attrs["launches"])
    over = f"medians over {launches} launches" if launches > 1 else "values of a single launch"
    kinds = "; ".join(f"{kind}: {about}" for kind, about in _ABOUT.items())
    return (
        "What the time of a call is spent on, over the message size. Measured in an instrumented pass of its own, so "
        "that the clocks that it reads do not touch the times of the other figures, on the slowest rank: the one whose "
        "total is the largest. "
        f"The parts are {over} of each launch's median over the instrumented iterations"
        f"{iterations(map(_count, bars))}, without confidence limits; each is a median of its own, so a bar may "
        "differ from the median total (in the CSV). Left: "
        "the parts on top of each other, each edge at the sum of all below it; on an axis of powers a height is no "
        "share. Right: their shares. "
        f"Colours: {kinds}. Hatches: phases that the algorithm tags, the first at the bottom; outside: in "
        "none of them. "
        f"n = {sum(bool(bar.parts) for bar in bars)} of {len(bars)} points that can be instrumented have numbers"
        f"{_lost(bars)}. The library's algorithms cannot be instrumented. {machine(cube)}"
    )


def _lost(bars: Sequence[Bar]) -> str:
    """The marks that stand for what is missing, with their numbers."""
    counts = Counter(str(bar.point["status"]) for bar in bars if not bar.parts)
    told = [f"{MARKS[s].glyph} {counts[s]} {said(s)}" for s in MARKS if s != "ok" and counts[s]]
    told += [f"{_NONE} {counts['ok']} without an instrumented pass"] if counts["ok"] else []
    return f" (else: {', '.join(told)})" if told else ""


def _count(bar: Bar) -> int | None:
    n = bar.point["phase_iterations"]
    return int(n) if bar.parts and n is not None else None
