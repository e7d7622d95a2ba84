"""Rate and distortion: bits per value of rank 0's compressed message against the PSNR of that same message.

A panel per data, message size and world, a line per codec through its bounds; a codec without a bound is a single mark.
The grey steps are the Pareto front: nothing in the panel has a higher PSNR for as few bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from collpress.analysis.table import Row
from collpress.figures import labels, style
from collpress.figures.blocks import WIDTH, Block, Head, page, page_height, wrapped
from collpress.figures.captions import experiments, machine
from collpress.figures.choice import Group, chosen, entries, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.marks import MARKS, said
from collpress.figures.placing import Places, in_rows

_LEFT, _PANEL, _ABOVE, _TICKS, _AXIS, _NOTE = 0.44, 2.8, 0.13, 0.15, 0.17, 0.115
_HEIGHT: Mapping[style.Width, float] = {"double": 1.75, "single": 1.32}
_LEAST_HEIGHT = 0.9
_ENTRY_H, _SAMPLE = 0.15, 0.26
"""Inches."""
_ABSOLUTE = "message_max_error_absolute"
_NEEDED = ("raw_bytes", "compressed_bytes", "message_psnr", _ABSOLUTE, "n_ok")
_COLUMNS = ("id", "status", "reason", "bits_per_value", "message_psnr_db", "exact", "pareto", "n_ok")


@dataclass(frozen=True, eq=False)
class Mark:
    """A point that can be drawn; `psnr` in dB is infinite where the message came back exactly."""

    point: Row
    bits: float
    psnr: float


@dataclass(frozen=True, eq=False)
class Panel:
    """The marks of one group, by codec in the order of their bits, and why the other points have none."""

    group: Group
    lines: Mapping[str, Sequence[Mark]]
    front: Sequence[Mark]
    notes: Sequence[str]
    dtype: str


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a panel without any mark says why, and so does a cube that no codec ran for."""
    panels: list[Panel] = []
    names: list[str] = []
    for experiment, dataset in experiments(cube).items():
        found = _points(dataset)
        panels += [_panel(group, "message_psnr" in dataset) for group in groups(experiment, dataset, found)]
        names += [n for n in factor_names(dataset) if n not in names]
    codecs = list(dict.fromkeys(str(p["codec"]) for panel in panels for p in panel.group.points))
    looks = {codec: style.nth(place) for place, codec in enumerate(codecs)}
    full = [panel for panel in panels if panel.lines]
    notes = [] if panels else ["No point of this campaign compresses: there is neither a rate nor a distortion."]
    if full:  # a figure of empty panels only says below each why
        notes += omissions([panel.group for panel in panels if panel not in full])
    head = _legend(looks, style.inches(width))

    def blocks(high: float) -> list[Block]:
        return [_block(panel, looks, high) for panel in full or panels]

    high = style.fitted(_HEIGHT[width], _LEAST_HEIGHT, lambda high: page_height(width, blocks(high), head, notes))
    figure = page(width, blocks(high), head, notes)
    return Drawing(figure, _table(panels, names), _caption(cube, panels))


def _points(dataset: xr.Dataset) -> list[Row]:
    """The points that compress."""
    wide = entries(dataset, "message_max_error", "max_error_value", "message_max_error_")
    return [row for row in chosen(wide, _NEEDED) if str(row["algorithm"]).startswith("compressed:")]


def _panel(group: Group, measured: bool) -> Panel:
    marks = [mark for point in group.points if (mark := _mark(point))]
    lines: dict[str, list[Mark]] = {}
    for mark in sorted(marks, key=lambda m: (m.bits, m.psnr)):
        lines.setdefault(str(mark.point["codec"]), []).append(mark)
    drawn = {id(mark.point) for mark in marks}
    notes = [_why_not(point) for point in group.points if id(point) not in drawn]
    if not measured:
        notes = ["the cube has no PSNR of messages (message_psnr): measure the campaign again"]
    return Panel(group, lines, front(marks), notes, str(group.points[0]["dtype"]))


def _mark(point: Row) -> Mark | None:
    exact = point[_ABSOLUTE] == 0
    if point["status"] != "ok" or not point["raw_bytes"] or not point["compressed_bytes"]:
        return None
    if point["message_psnr"] is None and not exact:
        return None
    bits = 8 * float(point["compressed_bytes"]) * _item_bytes(str(point["dtype"])) / float(point["raw_bytes"])
    return Mark(point, bits, inf if exact else float(point["message_psnr"]))


def _item_bytes(dtype: str) -> int:
    return int(np.dtype(dtype).itemsize)


def front(marks: Sequence[Mark]) -> list[Mark]:
    """The marks that no other mark beats: more PSNR costs more bits. In the order of their bits."""
    best: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.bits, -m.psnr)):
        if not best or mark.psnr > best[-1].psnr:
            best.append(mark)
    return best


def _why_not(point: Row) -> str:
    name = " ".join(w for w in (labels.factor(n, point[n]) for n in ("codec", "error_bound")) if w)
    status = str(point["status"])
    return f"{name}: PSNR undefined" if status == "ok" else f"{MARKS[status].glyph} {name}: {said(status)}"


def _note_lines(panel: Panel) -> list[str]:
    return wrapped("Not drawn: " + "; ".join(panel.notes), 6, WIDTH) if panel.notes else []


def _block(panel: Panel, looks: Mapping[str, tuple[str, str]], high: float) -> Block:
    notes = _note_lines(panel)

    def put(figure: Figure, left: float, top: float, last: bool) -> None:
        axes = style.axes_at(figure, left + _LEFT, top + _ABOVE, _PANEL, high)
        _draw_panel(axes, panel, looks)
        if last:
            axes.set_xlabel("bits per value", labelpad=1.5)
        for i, line in enumerate(notes):
            at = top + _ABOVE + high + _TICKS + (_AXIS if last else 0.0) + _NOTE * i
            style.text_at(figure, left, at, line, fontsize=6, color=style.FAINT)

    height = _ABOVE + high + _TICKS + _NOTE * len(notes)
    return Block(panel.group.experiment, panel.group.factors, height, _AXIS, put)


def _draw_panel(axes: Axes, panel: Panel, looks: Mapping[str, tuple[str, str]]) -> None:
    marks = [mark for line in panel.lines.values() for mark in line]
    own = 8 * _item_bytes(panel.dtype)
    right = max([own, *(m.bits for m in marks)]) * 1.08
    bottom, top = _limits([m.psnr for m in marks if m.psnr < inf])
    axes.set(xlim=(0, right), ylim=(bottom, top))
    axes.set_xticks([t for t in _bit_ticks(own) if t <= right])
    axes.tick_params(axis="x", pad=2)
    axes.set_ylabel("PSNR of the message (dB)", labelpad=3, fontsize=7)
    axes.axvline(own, color=style.FAINT, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
    if not marks:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", color=style.FAINT)
    _draw_front(axes, panel.front, top)
    for codec, line in panel.lines.items():
        _draw_line(axes, line, *looks[codec], top)
    _label(axes, panel, own, top)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Room above the highest PSNR, where exact messages lie on the edge."""
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    spread = max(high - low, 20.0)
    return low - 0.1 * spread, high + 0.18 * spread


def _bit_ticks(own: int) -> list[int]:
    return [own * i // 8 for i in range(9)]


def _draw_front(axes: Axes, members: Sequence[Mark], top: float) -> None:
    if not members:
        return
    x = [m.bits for m in members] + [axes.get_xlim()[1]]
    y = [min(m.psnr, top) for m in members]
    axes.plot(
        x, [*y, y[-1]], drawstyle="steps-post", color="#c4c4c4", linewidth=2.6, zorder=1.5, solid_joinstyle="miter"
    )
    axes.plot(
        x[:-1],
        y,
        linestyle="none",
        marker="o",
        markersize=7.2,
        markerfacecolor="none",
        markeredgecolor=style.INK,
        markeredgewidth=0.6,
        clip_on=False,
        zorder=5,
    )


def _draw_line(axes: Axes, line: Sequence[Mark], colour: str, marker: str, top: float) -> None:
    axes.plot(
        [m.bits for m in line],
        [min(m.psnr, top) for m in line],
        color=colour,
        linewidth=1.1,
        marker=marker,
        markersize=4,
        markeredgecolor="white",
        markeredgewidth=0.4,
        clip_on=False,
        zorder=4,
    )


def _label(axes: Axes, panel: Panel, own: int, top: float) -> None:
    """Names what stands still first, then each mark's bound where it has room beside all others."""
    places = Places(axes)
    marks = [mark for line in panel.lines.values() for mark in line]
    places.keep_free([(m.bits, min(m.psnr, top)) for m in marks], 0.05)
    for line in panel.lines.values():
        for a, b in pairwise(line):
            places.keep_free_between((a.bits, min(a.psnr, top)), (b.bits, min(b.psnr, top)))
    steps = [(m.bits, min(m.psnr, top)) for m in panel.front]
    for (x0, y0), (x1, y1) in pairwise([*steps, *((axes.get_xlim()[1], y) for _, y in steps[-1:])]):
        places.keep_free_between((x0, y0), (x1, y0), 0.018)
        places.keep_free_between((x1, y0), (x1, y1), 0.018)
    places.put((own, axes.get_ylim()[0]), f"{panel.dtype}: {own} bits", 5.8, style.FAINT, ["upper left"])
    for mark in marks:
        if mark.psnr == inf:
            places.put((mark.bits, top), "exact", 5.8, style.INK, ["lower left", "left", "lower right"])
    for mark in marks:
        bound = labels.factor("error_bound", mark.point["error_bound"])
        if bound:
            places.put((mark.bits, min(mark.psnr, top)), bound.removeprefix("rel "), 5.5, style.INK)


def _legend(looks: Mapping[str, tuple[str, str]], width: float) -> Head | None:
    """A sample and a name for each codec, then the front; in rows that fit the page."""
    if not looks:
        return None
    names = [*(labels.factor("codec", codec) for codec in looks), "Pareto front (ringed)"]
    samples: list[tuple[str, str] | None] = [*looks.values(), None]
    rows = in_rows([_SAMPLE + 0.06 + style.length_of(name, 7) + 0.16 for name in names], width - 0.2)
    height = _ENTRY_H * len(rows)

    def put(figure: Figure, left: float, top: float) -> None:
        axes = style.axes_at(figure, left, top, width - 0.2, height)
        axes.set(xlim=(0, width - 0.2), ylim=(height, 0))
        axes.set_axis_off()
        for line, row in enumerate(rows):
            for x, i in row:
                _entry(axes, x, _ENTRY_H * (line + 0.5), names[i], samples[i])

    return Head(height + 0.1, put)


def _entry(axes: Axes, x: float, y: float, name: str, sample: tuple[str, str] | None) -> None:
    colour, marker = sample or ("#c4c4c4", "o")
    axes.plot(
        [x, x + _SAMPLE / 2, x + _SAMPLE],
        [y] * 3,
        color=colour,
        linewidth=1.1 if sample else 2.6,
        marker=marker,
        markevery=[1],
        markersize=4 if sample else 7.2,
        markerfacecolor=colour if sample else "none",
        markeredgecolor="white" if sample else style.INK,
        markeredgewidth=0.4 if sample else 0.6,
        clip_on=False,
    )
    axes.text(x + _SAMPLE + 0.06, y, name, fontsize=7, va="center")


def _table(panels: Sequence[Panel], names: Sequence[str]) -> Table:
    out: list[dict[str, Any]] = []
    for panel in panels:
        marks = {id(m.point): m for line in panel.lines.values() for m in line}
        members = {id(m.point) for m in panel.front}
        for point in panel.group.points:
            mark = marks.get(id(point))
            out.append(
                {"experiment": panel.group.experiment}
                | {n: point.get(n) for n in names}
                | {n: point[n] for n in ("id", "status", "reason", "n_ok")}
                | {
                    "bits_per_value": mark.bits if mark else None,
                    "message_psnr_db": mark.psnr if mark and mark.psnr < inf else None,
                    "exact": int(mark.psnr == inf) if mark else None,
                    "pareto": int(id(point) in members) if mark else None,
                }
            )
    return Table.of(["experiment", *names, *_COLUMNS], out)


def _caption(cube: xr.DataTree, panels: Sequence[Panel]) -> str:
    marks = sum(len(line) for panel in panels for line in panel.lines.values())
    planned = sum(len(panel.group.points) for panel in panels)
    return (
        "Rate and distortion of rank 0's own message, compressed and decompressed once: bits per value "
        "(8 × compressed bytes / number of values) against the peak signal-to-noise ratio, whose peak is the message's "
        "value range. A panel for each data, message size and number of ranks; a line joins the bounds of a codec, "
        "which stand beside their marks (relative to the value range over all ranks' messages, unless they say abs); "
        "codecs without a bound are single marks. Grey steps with ringed members: the Pareto front of the panel "
        "(nothing else in it has a higher PSNR for as few bits). Dotted: the bits of the values themselves. On the top "
        "edge, exact: every value came back unchanged, so that the PSNR is infinite. "
        f"n = {marks} of {planned} points that compress are drawn, each the median over {cube.attrs['launches']} "
        "launches of the same message; the codecs are deterministic, so that nothing is sampled and no confidence "
        f"limits apply. {machine(cube)}"
    )
