"""Error growth: how the error of an allreduce develops where its result is fed back, round by round.

A panel per data, message size and world, a line per algorithm, codec and bound: the root mean square error over the
value range against the number of rounds, both logarithmic. A line that stays level belongs to a codec that rounds each
value by itself, to numbers that it leaves alone the next time.
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
from matplotlib.ticker import FixedLocator, NullLocator

from collpress.analysis.table import Row
from collpress.figures import style
from collpress.figures.blocks import WIDTH, Block, page, page_height, wrapped
from collpress.figures.captions import experiments, machine
from collpress.figures.choice import Group, chosen, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.lines import names as line_names
from collpress.figures.marks import MARKS, said
from collpress.figures.placing import in_rows

_LEFT, _PANEL, _ABOVE, _TICKS, _AXIS, _NOTE = 0.5, 2.74, 0.1, 0.15, 0.17, 0.115
_HEIGHT: Mapping[style.Width, float] = {"double": 1.55, "single": 1.25}
_LEAST_HEIGHT, _ENTRY_H, _SAMPLE, _LETTERS = 0.8, 0.125, 0.28, 6.0
"""Inches; points."""
_NRMSE = "feedback_nrmse"
_ROUNDS = (_NRMSE, "feedback_max_abs_error", "feedback_bias")
_DASHES: Sequence[Any] = ("solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)), (0, (2, 1)))
_COLUMNS = ("id", "status", "reason", "n_ok", "round", "nrmse", "max_abs_error", "bias")


Round = tuple[int | None, float | None, float | None, float | None]
"""Its number, then NRMSE, largest and mean signed error; None unknown."""
_NO_ROUND: Round = (None, None, None, None)


@dataclass(frozen=True, eq=False)
class Line:
    """One point's rounds, of those that were kept."""

    name: str
    point: Row
    look: tuple[str, Any]
    """Colour and dash."""
    rounds: Sequence[Round]

    @property
    def drawn(self) -> Sequence[tuple[int, float]]:
        """What a logarithmic axis can show."""
        return [(number, nrmse) for number, nrmse, _, _ in self.rounds if number and nrmse]

    @property
    def exact(self) -> bool:
        return bool(self.rounds) and all(largest == 0 for _, _, largest, _ in self.rounds)


@dataclass(frozen=True, eq=False)
class Panel:
    """The lines of one group, in the order of the cube."""

    group: Group
    lines: Sequence[Line]

    @property
    def shown(self) -> Sequence[Line]:
        return [line for line in self.lines if line.drawn]

    @property
    def notes(self) -> list[str]:
        """Why the other points have no line."""
        told = [_why_not(line) for line in self.lines if not line.drawn]
        return wrapped("Not drawn: " + "; ".join(told), _LETTERS, WIDTH) if told else []


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a cube in which nothing is fed back says so."""
    panels: list[Panel] = []
    names: list[str] = []
    for experiment, dataset in experiments(cube).items():
        if "feedback" not in dataset.dims:
            continue
        points = [row for row in chosen(dataset, ("n_ok",)) if int(row["feedback"])]
        series = _series(dataset)
        panels += [_panel(group, series) for group in groups(experiment, dataset, points)]
        names += [n for n in factor_names(dataset) if n not in names]
    notes = [] if panels else ["No point of this campaign feeds its result back: there is no growth to show."]
    full = [panel for panel in panels if panel.shown]
    if full:  # a figure of empty panels only says below each why
        notes += omissions([panel.group for panel in panels if panel not in full])
    last = max((line.drawn[-1][0] for panel in full for line in panel.shown), default=1)

    def blocks(high: float) -> list[Block]:
        return [_block(panel, high, last) for panel in full or panels]

    high = style.fitted(_HEIGHT[width], _LEAST_HEIGHT, lambda high: page_height(width, blocks(high), None, notes))
    return Drawing(page(width, blocks(high), None, notes), _table(panels, names), _caption(cube, panels))


def _series(dataset: xr.Dataset) -> Mapping[str, Sequence[Round]]:
    """Id of each point → its rounds."""
    if _NRMSE not in dataset:
        return {}
    numbers = [int(n) for n in dataset["round"].values]
    place, ids = dataset["point"].values, dataset["point_id"].values.astype(str)
    spread = [dataset[name].transpose(*dataset["point"].dims, "round").values for name in _ROUNDS]
    found = {}
    for cell in np.argwhere(place >= 0):
        columns = [values[tuple(cell)] for values in spread]
        kept = [i for i in range(len(numbers)) if any(np.isfinite(column[i]) for column in columns)]
        found[str(ids[place[tuple(cell)]])] = [
            (numbers[i], _known(columns[0][i]), _known(columns[1][i]), _known(columns[2][i])) for i in kept
        ]
    return found


def _known(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _panel(group: Group, series: Mapping[str, Sequence[Round]]) -> Panel:
    keys = [(str(p["algorithm"]), str(p["codec"]), str(p["error_bound"])) for p in group.points]
    called, looks = line_names(keys), _looks(keys)
    lines = [
        Line(called[key], point, looks[key], series.get(str(point["id"]), ()))
        for key, point in zip(keys, group.points, strict=True)
    ]
    return Panel(group, lines)


def _looks(keys: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], tuple[str, Any]]:
    """Equal codecs share a colour, black without one; algorithm and bound choose the dash."""
    codecs = list(dict.fromkeys(key[1] for key in keys if key[1] != "none"))
    dashes: dict[str, list[tuple[str, str]]] = {}
    out = {}
    for algorithm, codec, bound in keys:
        others = dashes.setdefault(codec, [])
        if (algorithm, bound) not in others:
            others.append((algorithm, bound))
        colour = style.INK if codec == "none" else style.nth(codecs.index(codec))[0]
        out[algorithm, codec, bound] = (colour, _DASHES[others.index((algorithm, bound)) % len(_DASHES)])
    return out


def _why_not(line: Line) -> str:
    status = str(line.point["status"])
    if status != "ok":
        return f"{MARKS[status].glyph} {line.name}: {said(status)}"
    return f"{line.name}: exact in every round" if line.exact else f"{line.name}: no error is known"


def _legend(panel: Panel) -> list[list[tuple[float, int]]]:
    """Rows of (left, place of the line)."""
    widths = [_SAMPLE + 0.05 + style.length_of(_short(line), _LETTERS) + 0.12 for line in panel.shown]
    return [list(row) for row in in_rows(widths, WIDTH)] if widths else []


def _short(line: Line) -> str:
    return style.shortened(line.name, _LETTERS, WIDTH - _SAMPLE - 0.2)


def _block(panel: Panel, high: float, last_round: int) -> Block:
    notes, legend = panel.notes, _legend(panel)

    def put(figure: Figure, left: float, top: float, last: bool) -> None:
        axes = style.axes_at(figure, left + _LEFT, top + _ABOVE, _PANEL, high)
        _draw_panel(axes, panel, last_round)
        if last:
            axes.set_xlabel("rounds", labelpad=1.5)
        below = top + _ABOVE + high + _TICKS + (_AXIS if last else 0.0)
        _draw_legend(figure, panel, legend, left, below)
        for i, line in enumerate(notes):
            at = below + _ENTRY_H * len(legend) + _NOTE * i
            style.text_at(figure, left, at, line, fontsize=_LETTERS, color=style.FAINT)

    height = _ABOVE + high + _TICKS + _ENTRY_H * len(legend) + _NOTE * len(notes)
    return Block(panel.group.experiment, panel.group.factors, height, _AXIS, put)


def _draw_panel(axes: Axes, panel: Panel, last_round: int) -> None:
    values = [nrmse for line in panel.shown for _, nrmse in line.drawn]
    low, high = (floor(log10(min(values))), floor(log10(max(values))) + 1) if values else (-7, 0)
    axes.set(xscale="log", yscale="log", xlim=(0.9, max(last_round, 2) * 1.1), ylim=(10.0**low / 1.4, 10.0**high * 1.4))
    decades = range(low, high + 1, max(1, (high - low + 5) // 6))
    axes.yaxis.set_major_locator(FixedLocator([10.0**d for d in decades]))
    axes.set_yticklabels([f"1e{d}" for d in decades])
    axes.yaxis.set_minor_locator(NullLocator())
    rounds = [10**n for n in range(7) if 10**n <= last_round * 1.1]
    axes.set_xticks(rounds, [f"{n:,}" for n in rounds])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", pad=2)
    axes.set_ylabel("NRMSE", labelpad=2, fontsize=7)
    if not values:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", color=style.FAINT)
    for line in panel.shown:
        colour, dash = line.look
        x, y = zip(*line.drawn, strict=True)
        marker = "o" if len(x) == 1 else ""
        axes.plot(x, y, color=colour, linestyle=dash, linewidth=1.1, marker=marker, markersize=3, zorder=3)


def _draw_legend(
    figure: Figure, panel: Panel, rows: Sequence[Sequence[tuple[float, int]]], left: float, top: float
) -> None:
    if not rows:
        return
    height = _ENTRY_H * len(rows)
    axes = style.axes_at(figure, left, top, WIDTH, height)
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    for i, row in enumerate(rows):
        y = _ENTRY_H * (i + 0.5)
        for x, place in row:
            line = panel.shown[place]
            colour, dash = line.look
            axes.plot([x, x + _SAMPLE], [y, y], color=colour, linestyle=dash, linewidth=1.1, clip_on=False)
            axes.text(x + _SAMPLE + 0.05, y, _short(line), fontsize=_LETTERS, va="center")


def _table(panels: Sequence[Panel], names: Sequence[str]) -> Table:
    out: list[dict[str, Any]] = []
    for panel in panels:
        for line in panel.lines:
            point = line.point
            head = {"experiment": panel.group.experiment} | {n: point.get(n) for n in names}
            head |= {n: point[n] for n in ("id", "status", "reason", "n_ok")}
            for number, nrmse, largest, bias in line.rounds or [_NO_ROUND]:
                out.append(head | {"round": number, "nrmse": nrmse, "max_abs_error": largest, "bias": bias})
    return Table.of(["experiment", *names, *_COLUMNS], out)


def _caption(cube: xr.DataTree, panels: Sequence[Panel]) -> str:
    found = [line for panel in panels for line in panel.lines]
    return (
        "Growth of errors where the result of an allreduce, over the number of ranks and moved by one element, is "
        "every rank's next contribution, as if a flow carried the field one cell further each round. Root mean square "
        "error over the value range, of all ranks' results together, against the exact mean of what the ranks sent "
        "first, which every round would give without errors; both axes logarithmic, the same rounds in every panel. A "
        "codec that rounds each value by itself, to numbers that it leaves alone the next time, stays level after the "
        "first rounds. Lines that end early: the time was up. Relative bounds are of the first messages' value range "
        "in every round. Measured in a pass of its own, outside "
        f"of all timing; all rounds are kept up to 64, and 8 for each doubling behind. n = "
        f"{sum(bool(line.drawn) for line in found)} of {len(found)} points that feed back are drawn, each the median "
        f"over {cube.attrs['launches']} launches of the same data; the codecs are deterministic, so that nothing is "
        f"sampled and no confidence limits apply. {machine(cube)}"
    )
