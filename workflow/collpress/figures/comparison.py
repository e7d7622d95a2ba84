"""Two campaigns beside each other: the ratio B/A of every compared point with its limits, a row a point.

Drawn by `collpress compare --figure`, not of one cube: it is no figure that a campaign can ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from collpress.analysis.comparison import Pair, Verdict
from collpress.analysis.regression import Judgement
from collpress.figures import labels, style
from collpress.figures.blocks import WIDTH, Block, Head, page
from collpress.figures.keys import flowed
from collpress.figures.lines import names

MOST = 144
"""Rows that a figure has; of more points those that differ least are left out."""
_IN_BLOCK = 36
_IN_ROW = ("algorithm", "codec", "error_bound", "message_bytes")
_ROW, _TICKS, _FOOT = 0.115, 0.15, 0.17
"""Inches of a row, of the numbers below a block, and of the name of the axis."""
_NAME, _TINY = 5.8, 5.2
"""Points of letters."""
_MOST_NAME, _VALUE = 1.5, 0.34
_LEGEND = 0.13
_TICK_ORDER = (
    1,
    0.5,
    2,
    0.8,
    1.25,
    1.5,
    0.2,
    5,
    0.1,
    10,
    0.9,
    1.1,
    0.01,
    100,
    0.05,
    20,
    0.02,
    50,
    0.001,
    1000,
    0.95,
    1.05,
)


@dataclass(frozen=True)
class _Look:
    colour: str
    marker: str
    face: str


_LOOKS: dict[Verdict, _Look] = {
    "slower": _Look(style.COLOURS[1], "s", style.COLOURS[1]),
    "faster": _Look(style.COLOURS[0], "o", style.COLOURS[0]),
    "no difference shown": _Look(style.FAINT, "o", "white"),
    "not comparable": _Look(style.FAINT, "x", style.FAINT),
}
_GLYPHS: dict[Verdict, str] = {"slower": "■", "faster": "●", "no difference shown": "○", "not comparable": "×"}


@dataclass(frozen=True)
class _Plot:
    """What all blocks share: the range of ratios, the threshold (None: none was asked for), the regressions."""

    limits: tuple[float, float]
    threshold: float | None
    regressions: frozenset[int]


def compared(
    pairs: Sequence[Pair], judgement: Judgement, sides: Sequence[str], *, gated: bool, width: style.Width = "double"
) -> tuple[Figure, int]:
    """The figure and how many rows it has, in the order of `pairs`; call inside `style.house()`.

    sides : what A and B are, in words.
    gated : whether a threshold was asked for, which is then drawn, and regressions ringed.
    """
    shown = _worth_a_row(pairs)
    ends = [v for pair in shown for v in (pair.ratio.value, pair.ratio.low, pair.ratio.high) if v is not None]
    plot = _Plot(
        (min([0.85, *ends]) / 1.06, max([1.18, *ends]) * 1.06),
        judgement.threshold if gated else None,
        frozenset(id(j.pair) for j in judgement.regressions) if gated else frozenset(),
    )
    left_out = len(pairs) - len(shown)
    notes = [f"… and {left_out} more points, which differ less than those shown"] if left_out else []
    if not pairs:
        notes = ["No point is ok in both: nothing is compared."]
    return page(width, _blocks(shown, plot), _legend(shown, plot, sides, width), notes), len(shown)


def _worth_a_row(pairs: Sequence[Pair]) -> list[Pair]:
    """All of them, or those that differ most, in their order."""

    def weight(pair: Pair) -> tuple[bool, float]:
        return pair.verdict in ("slower", "faster"), abs(log(pair.ratio.value))

    kept = {id(pair) for pair in sorted(pairs, key=weight, reverse=True)[:MOST]}
    return [pair for pair in pairs if id(pair) in kept]


def _blocks(pairs: Sequence[Pair], plot: _Plot) -> list[Block]:
    """Points that differ only in algorithm, codec, bound and size, in blocks that a column has room for."""
    groups: dict[tuple[Any, ...], list[Pair]] = {}
    for pair in pairs:
        common = [(name, value) for name, value in pair.factors.items() if name not in _IN_ROW]
        groups.setdefault((pair.experiment, *common), []).append(pair)
    blocks = []
    for (experiment, *common), members in groups.items():
        said = _names(members)
        room = min(_MOST_NAME, max(style.length_of(text, _NAME) for text in said)) + 0.06
        for start in range(0, len(members), _IN_BLOCK):
            part = slice(start, start + _IN_BLOCK)
            rows = members[part]
            draw = partial(_draw, rows, said[part], room, plot)
            blocks.append(Block(experiment, dict(common), _ROW * len(rows) + _TICKS, _FOOT, draw))
    return blocks


def _names(pairs: Sequence[Pair]) -> list[str]:
    called = names([_line(pair) for pair in pairs])
    sizes = [labels.factor("message_bytes", pair.factors["message_bytes"]) for pair in pairs]
    return [f"{called[_line(pair)]} · {size}" for pair, size in zip(pairs, sizes, strict=True)]


def _line(pair: Pair) -> tuple[str, ...]:
    return tuple(str(pair.factors.get(name, "none")) for name in _IN_ROW[:3])


def _draw(
    rows: Sequence[Pair],
    said: Sequence[str],
    name: float,
    plot: _Plot,
    figure: Figure,
    left: float,
    top: float,
    last: bool,
) -> None:
    """`name`: inches that names have at the left."""
    room = WIDTH - name - _VALUE
    axes = style.axes_at(figure, left + name, top, room, _ROW * len(rows))
    axes.set(xscale="log", xlim=plot.limits, ylim=(len(rows), 0))
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    for i in range(0, len(rows), 2):
        axes.axhspan(i, i + 1, color="#f6f6f6", zorder=0)
    axes.axvline(1, color=style.INK, linewidth=0.8, zorder=1)
    if plot.threshold:
        axes.axvline(1 + plot.threshold, color=_LOOKS["slower"].colour, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    middles = [i + 0.5 for i in range(len(rows))]
    axes.set_yticks(middles, [style.shortened(text, _NAME, _MOST_NAME) for text in said], fontsize=_NAME)
    axes.tick_params(axis="y", length=0, pad=2)
    for y, pair in zip(middles, rows, strict=True):
        _mark(axes, y, pair, id(pair) in plot.regressions)
        axes.annotate(f"{pair.ratio.value:.3g}", (1, y), (3, 0), xycoords=axes.get_yaxis_transform(), va="center",
                      textcoords="offset points", fontsize=_TINY, annotation_clip=False)  # fmt: skip
    _ticks(axes, plot.limits, room)
    if last:
        axes.set_xlabel("time of B / time of A", fontsize=6.3, labelpad=1.5)


def _mark(axes: Axes, y: float, pair: Pair, regression: bool) -> None:
    look, ratio = _LOOKS[pair.verdict], pair.ratio
    if ratio.low is not None and ratio.high is not None:
        axes.hlines(y, ratio.low, ratio.high, color=look.colour, linewidth=0.9, zorder=2)
    axes.plot([ratio.value], [y], marker=look.marker, markersize=3.2, markerfacecolor=look.face,
              markeredgecolor=look.colour, markeredgewidth=0.7, linestyle="none", zorder=3)  # fmt: skip
    if regression:
        axes.plot([ratio.value], [y], marker="o", markersize=6.4, markerfacecolor="none", markeredgecolor=style.INK,
                  markeredgewidth=0.7, linestyle="none", zorder=4)  # fmt: skip


def _ticks(axes: Axes, limits: tuple[float, float], inches: float) -> None:
    """Round ratios, as many as have room, 1 before all others."""
    span, kept = log(limits[1] / limits[0]), dict[float, tuple[float, float]]()
    for value in _TICK_ORDER:
        middle = inches * log(value / limits[0]) / span
        half = style.length_of(f"{value:g}", 6) / 2 + 0.04
        inside = half - 0.1 <= middle <= inches - half + 0.1
        if inside and all(middle + half <= low or middle - half >= high for low, high in kept.values()):
            kept[value] = middle - half, middle + half
    axes.xaxis.set_major_locator(FixedLocator(sorted(kept)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{value:g}" for value in sorted(kept)], fontsize=6)
    axes.tick_params(axis="x", length=2, pad=1.5)


def _legend(shown: Sequence[Pair], plot: _Plot, sides: Sequence[str], width: style.Width) -> Head:
    seen = {pair.verdict for pair in shown}
    entries = [f"{side}: {name}" for side, name in zip("AB", sides, strict=True)]
    entries += [f"{_GLYPHS[verdict]} B {_said(verdict)}" for verdict in _LOOKS if verdict in seen]
    entries += ["bars: limits of 95 %"]
    if plot.threshold:
        entries += [f"dashed: {1 + plot.threshold:g}"]
    if plot.regressions:
        entries += ["ringed: regression"]
    lines = flowed(entries, style.inches(width) - 0.2, 6.5)

    def draw(figure: Figure, left: float, top: float) -> None:
        for i, line in enumerate(lines):
            style.text_at(figure, left, top + _LEGEND * i, line, fontsize=6.5)

    return Head(_LEGEND * len(lines) + 0.08, draw)


def _said(verdict: Verdict) -> str:
    return {"no difference shown": "not shown to differ", "not comparable": "of too few launches"}.get(verdict, verdict)
