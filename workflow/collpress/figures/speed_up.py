"""Speed-up: what each codec and bound does to the time of the whole operation, and the link rate below which it pays.

One panel per experiment, data, message size and world: left the speed-up over the same algorithm without compressing
and over the library's choice, right the break-even link rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from matplotlib.transforms import blended_transform_factory

from collpress.analysis.payoff import ASSUMPTIONS, CODEC_TIME, FORMULA, Payoff, Rate, baseline, baselines, payoffs
from collpress.analysis.points import Point
from collpress.analysis.ratios import Ratio
from collpress.figures import labels, style
from collpress.figures.captions import experiments, machine, ratio_statistic
from collpress.figures.drawing import Drawing, Table
from collpress.figures.keys import flowed
from collpress.figures.marks import MARKS, said

MAX_FACETS = 24
LINK_RATES = (10, 25, 100, 200, 400)
"""Gbit/s of links that one can buy."""
_MARGIN, _GUTTER, _BETWEEN, _VALUES = 0.12, 0.26, 0.14, 0.36
_TITLE, _RATES, _AXIS, _HEAD, _LINE = 0.28, 0.18, 0.36, 0.32, 0.14
_ROW, _LEAST_ROW = 0.155, 0.12
_MOST_NAME, _TEXT, _TINY = 1.15, 6.2, 5.2
"""Inches, and points of letters."""
_UP, _DOWN = 0.14, -0.14
"""Where the two speed-ups of a row stand, in rows from its middle."""
_GBIT = 8e-9
_SIDES = ("over_plain", "over_default")


@dataclass(frozen=True)
class Facet:
    """Codecs and bounds that differ in nothing else."""

    experiment: str
    where: str
    common: str
    rows: Sequence[Payoff]


@dataclass(frozen=True)
class Scales:
    """What all panels share: low and high of the speed-up and of the link rate in Gbit/s, and the codecs' colours."""

    speed: tuple[float, float]
    rate: tuple[float, float]
    colours: Mapping[str, str]


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; words where no experiment plans a codec, and the mark of its status where a codec has no time."""
    found = [p for dataset in experiments(cube).values() for p in payoffs(dataset)]
    facets = _facets(found)
    shown = facets[:MAX_FACETS]
    page = style.inches(width)
    side_by_side = 2 if width == "double" and len(shown) > 1 else 1
    unit = (page - 2 * _MARGIN - _GUTTER * (side_by_side - 1)) / side_by_side
    shelves = [shown[i : i + side_by_side] for i in range(0, len(shown), side_by_side)]
    legend, rest = _legend(page, found) if found else [], _words_below(found, len(facets) - len(shown))
    head = _HEAD + _LINE * len(legend) + 0.08

    def height(row: float) -> float:
        return head + sum(_height(shelf, row) for shelf in shelves) + _LINE * len(rest) + 0.2

    row = style.fitted(_ROW, _LEAST_ROW, height) if width == "single" else _ROW
    figure = style.blank(width, height(row))
    style.text_at(figure, _MARGIN, 0.08, "Speed-up by codecs, end to end", fontsize=8.5, fontweight="bold")
    for i, line in enumerate(legend):
        style.text_at(figure, _MARGIN, _HEAD + _LINE * i, line, fontsize=6.5)
    scales = _scales(found)
    top = head
    for shelf in shelves:
        for i, facet in enumerate(shelf):
            _draw_facet(figure, facet, scales, (_MARGIN + i * (unit + _GUTTER), top, unit), row)
        top += _height(shelf, row)
    for line in rest:
        style.text_at(figure, _MARGIN, top, line, fontsize=6.5)
        top += _LINE
    return Drawing(figure, _table(found), _caption(cube, found))


def _facets(found: Sequence[Payoff]) -> list[Facet]:
    groups: dict[tuple[Any, ...], list[Payoff]] = {}
    for p in found:
        groups.setdefault((p.point.experiment, *p.point.without("codec", "error_bound")), []).append(p)
    own = ("message_bytes", "ranks")
    return [
        Facet(
            str(key[0]),
            labels.factors({n: v for n, v in key[1:] if n in own}),
            labels.factors({n: v for n, v in sorted(key[1:], key=lambda f: f[0] != "dataset") if n not in own}),
            members,
        )
        for key, members in groups.items()
    ]


def _legend(page: float, found: Sequence[Payoff]) -> list[str]:
    entries = [
        f"● over {baselines([p.plain for p in found])}",
        "◇ over the library's choice",
        "bars: confidence limits; beyond 1 the codec pays",
        "right-hand panels: it would pay on links slower than the break-even rate",
    ]
    return flowed(entries, page - 2 * _MARGIN, 6.5)


def _words_below(found: Sequence[Payoff], more: int) -> list[str]:
    lines = [f"… and {more} more panels in the CSV"] if more else []
    if not found:
        lines.append("No experiment plans a codec: there is no speed-up to show.")
    elif not any(p.over_plain or p.over_default for p in found):
        lines.append("No codec and its reference are both ok: no speed-up.")
    return lines


def _height(shelf: Sequence[Facet], row: float) -> float:
    return _TITLE + _RATES + row * max(len(f.rows) for f in shelf) + _AXIS


def _scales(found: Sequence[Payoff]) -> Scales:
    ratios = [r for p in found for r in (p.over_plain, p.over_default) if r is not None]
    ends = [v for r in ratios for v in (r.value, r.low, r.high) if v is not None]
    known = [p.break_even for p in found if p.break_even and p.break_even.value]
    rates = [_GBIT * v for r in known for v in (r.value, r.low, r.high) if v is not None]
    codecs = dict.fromkeys(str(p.point.factors["codec"]) for p in found)
    return Scales(
        (min([0.5, *ends]) / 1.25, max([2.0, *ends]) * 1.25),
        (min([5.0, *rates]) / 1.6, max([*LINK_RATES, *rates]) * 1.6),
        {codec: style.COLOURS[i % len(style.COLOURS)] for i, codec in enumerate(codecs)},
    )


def _draw_facet(figure: Figure, facet: Facet, scales: Scales, at: tuple[float, float, float], row: float) -> None:
    """`at`: left, top and width; `row`: height of a row; inches."""
    left, top, unit = at
    title = f"{facet.experiment}  {facet.where}"
    style.text_at(figure, left, top, style.shortened(title, 7.2, unit), fontsize=7.2, fontweight="bold")
    common = style.shortened(facet.common, 6, unit)
    style.text_at(figure, left, top + 0.135, common, fontsize=6, color=style.FAINT)
    names = [labels.factors({n: p.point.factors[n] for n in ("codec", "error_bound")}) for p in facet.rows]
    name = min(_MOST_NAME, max(style.length_of(n, _TEXT) for n in names)) + 0.06
    names = [style.shortened(n, _TEXT, _MOST_NAME) for n in names]
    room = unit - name - _BETWEEN - _VALUES
    height = row * len(facet.rows)
    top += _TITLE + _RATES
    speed = style.axes_at(figure, left + name, top, 0.56 * room, height)
    rate = style.axes_at(figure, left + name + 0.56 * room + _BETWEEN, top, 0.44 * room, height)
    for axes in (speed, rate):
        axes.set(xscale="log", ylim=(len(names), 0))
        axes.grid(visible=False)
        axes.tick_params(axis="y", length=0, pad=2)
        axes.spines["left"].set_visible(False)
        for i in range(0, len(names), 2):
            axes.axhspan(i, i + 1, color="#f6f6f6", zorder=0)
    speed.set_yticks([i + 0.5 for i in range(len(names))], names, fontsize=_TEXT)
    _draw_speeds(speed, facet.rows, scales, 0.56 * room)
    _draw_rates(rate, facet.rows, scales, 0.44 * room)


def _draw_speeds(axes: Axes, rows: Sequence[Payoff], scales: Scales, inches: float) -> None:
    axes.set_xlim(*scales.speed)
    axes.axvline(1, color=style.INK, linewidth=0.8, zorder=1)
    _ticks(axes, scales.speed, inches)
    axes.set_xlabel("speed-up", fontsize=6.5, labelpad=1.5)
    for i, p in enumerate(rows):
        colour = scales.colours[str(p.point.factors["codec"])]
        _mark(axes, i + 0.5 - _UP, p.over_plain, colour, "o", colour)
        _mark(axes, i + 0.5 - _DOWN, p.over_default, colour, "D", "white")
        why = _why_none(p)
        if why:
            at = blended_transform_factory(axes.transAxes, axes.transData)
            ground = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
            text = style.shortened(why, _TINY, inches - 0.06)
            axes.text(0.03, i + 0.5, text, transform=at, fontsize=_TINY, va="center", bbox=ground, zorder=5)


def _mark(axes: Axes, y: float, ratio: Ratio | None, colour: str, marker: str, face: str) -> None:
    if ratio is None:
        return
    if ratio.low is not None and ratio.high is not None:
        axes.hlines(y, ratio.low, ratio.high, color=colour, linewidth=0.8, zorder=2)
    axes.plot([ratio.value], [y], marker=marker, markersize=3.2 if marker == "o" else 2.8, markerfacecolor=face,
              markeredgecolor=colour, markeredgewidth=0.7, linestyle="none", zorder=3)  # fmt: skip


def _why_none(p: Payoff) -> str:
    """Why a row lacks its speed-up over the plain algorithm; empty where it has one."""
    if not p.point.ok:
        return f"{MARKS[p.point.status].glyph} {said(p.point.status)}"
    if p.over_plain is not None:
        return ""
    if p.plain is None:
        return "· plain: not planned"
    return f"{MARKS[p.plain.status].glyph} plain: {said(p.plain.status)}"


def _draw_rates(axes: Axes, rows: Sequence[Payoff], scales: Scales, inches: float) -> None:
    axes.set_xlim(*scales.rate)
    _link_rates(axes, scales.rate, inches)
    _ticks(axes, scales.rate, inches)
    axes.set_xlabel("break-even (Gbit/s per rank)", fontsize=6.5, labelpad=1.5)
    values = []
    for i, p in enumerate(rows):
        rate = p.break_even
        values.append("–" if rate is None else _gbit(rate) if rate.value else "never")
        if rate is not None and rate.value:
            colour = scales.colours[str(p.point.factors["codec"])]
            if rate.low is not None and rate.high is not None:
                axes.hlines(i + 0.5, rate.low * _GBIT, rate.high * _GBIT, color=colour, linewidth=1.2, zorder=2)
            axes.plot([rate.value * _GBIT], [i + 0.5], marker="o", markersize=3.2, color=colour, linestyle="none",
                      zorder=3)  # fmt: skip
    axes.yaxis.tick_right()
    axes.set_yticks([i + 0.5 for i in range(len(rows))], values, fontsize=_TEXT)
    axes.tick_params(axis="y", length=0, pad=2)


def _link_rates(axes: Axes, limits: tuple[float, float], inches: float) -> None:
    """Lines at common rates, their numbers above in two rows; a line whose number has no room is left out."""
    ends = [-1.0, -1.0]
    height = style.height_of(axes)
    for i, rate in enumerate(LINK_RATES):
        at = inches * log10(rate / limits[0]) / log10(limits[1] / limits[0])
        half = style.length_of(str(rate), _TINY) / 2
        row = i % 2
        if at - half < ends[row] + 0.03:
            continue
        ends[row] = at + half
        axes.axvline(rate, color="#b0b0b0", linewidth=0.5, linestyle=(0, (2, 1.5)), zorder=1)
        axes.text(rate, 1 + (0.015 + 0.075 * row) / height, str(rate), transform=axes.get_xaxis_transform(),
                  fontsize=_TINY, ha="center", va="bottom", color=style.FAINT)  # fmt: skip


def _ticks(axes: Axes, limits: tuple[float, float], inches: float) -> None:
    """Powers of ten, on a short axis also 2 and 5 times them, as far as they have room; 1 before all others."""
    exponents = range(floor(log10(limits[0])), ceil(log10(limits[1])) + 1)
    digits = (1, 2, 5) if log10(limits[1] / limits[0]) < 2.2 else (1,)
    wanted = [1.0, *(digit * 10.0**exponent for digit in digits for exponent in exponents)]
    kept: dict[float, tuple[float, float]] = {}
    for value in wanted:
        if not limits[0] <= value <= limits[1]:
            continue
        middle = inches * log10(value / limits[0]) / log10(limits[1] / limits[0])
        half = style.length_of(f"{value:g}", 6) / 2 + 0.03
        if all(middle + half <= low or middle - half >= high for low, high in kept.values()):
            kept[value] = middle - half, middle + half
    axes.xaxis.set_major_locator(FixedLocator(sorted(kept)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{value:g}" for value in sorted(kept)], fontsize=6)
    axes.tick_params(axis="x", length=2, pad=1.5)


def _gbit(rate: Rate) -> str:
    """Two digits that count."""
    return f"{float(f'{rate.value * _GBIT:.2g}'):g}"


def _table(found: Sequence[Payoff]) -> Table:
    factors = list(dict.fromkeys(n for p in found for n in p.point.factors))
    columns = ["experiment", *factors, "status", "reason", "median_s", "id"]
    for side in _SIDES:
        said = ("low", "high", "shown", "algorithm", "status", "median_s", "id")
        columns += [side, *(f"{side}_{what}" for what in said)]
    columns += ["confidence", "wire_bytes", "plain_wire_bytes", "compress_decompress_s", "break_even_byte_per_s"]
    columns += [f"break_even_{what}" for what in ("low", "high", "confidence")]
    return Table.of(columns, [_csv_row(p, factors) for p in found])


def _csv_row(p: Payoff, factors: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"experiment": p.point.experiment, "status": p.point.status, "reason": p.point.reason}
    row |= {n: p.point.factors.get(n) for n in factors}
    seconds, rate = p.point.by_launch[CODEC_TIME], p.break_even
    row |= {"median_s": _time(p.point), "id": p.point.id, "wire_bytes": p.point.numbers["wire_bytes"]}
    row |= {"plain_wire_bytes": p.identity.numbers["wire_bytes"] if p.identity else None}
    row |= {"compress_decompress_s": median(seconds) if seconds else None}
    row |= {"break_even_byte_per_s": rate.value if rate else None}
    row |= {f"break_even_{n}": getattr(rate, n) if rate else None for n in ("low", "high", "confidence")}
    for side, ratio, other in zip(_SIDES, (p.over_plain, p.over_default), (p.plain, p.default), strict=True):
        row[side] = ratio.value if ratio else None
        row |= {f"{side}_{n}": getattr(ratio, n) if ratio else None for n in ("low", "high", "shown")}
        row |= {f"{side}_algorithm": other.factors["algorithm"] if other else None}
        row[f"{side}_status"] = other.status if other else "not_planned"
        row |= {f"{side}_median_s": _time(other), f"{side}_id": other.id if other else None}
    ratio = p.over_plain or p.over_default
    return row | {"confidence": ratio.confidence if ratio else None}


def _time(point: Point | None) -> float | None:
    return point.time if point is not None and point.ok else None


def _caption(cube: xr.DataTree, found: Sequence[Payoff]) -> str:
    compared = [p.over_plain for p in found if p.over_plain]
    faster, slower = (sum(r.shown == word for r in compared) for word in ("greater", "less"))
    return (
        "Speed-up of a codec inside a collective: the time of a reference over the time with the codec. Filled dots: "
        f"the reference is {baselines([p.plain for p in found])}{_mixed(found)}; hollow diamonds: the library's "
        f"choice, which compresses nothing. {ratio_statistic(cube)} Each codec is judged alone: of {len(compared)} "
        f"compared with the filled dots' reference {faster} are shown to be faster and {slower} slower. "
        f"Break-even link rate of a rank: {FORMULA}, where {ASSUMPTIONS}. "
        f"t is of the rank that took longest, w of rank 0. {_limits(found)} "
        f"Dashed: links of {', '.join(map(str, LINK_RATES))} Gbit/s, as far as their numbers have room. {machine(cube)}"
    )


def _mixed(found: Sequence[Payoff]) -> str:
    """Which reference is which, where panels differ in it."""
    said = sorted({baseline(p.plain) for p in found if p.plain is not None})
    return f" ({' or '.join(said)}; the CSV has which)" if len(said) > 1 else ""


def _limits(found: Sequence[Payoff]) -> str:
    rates = [p.break_even for p in found if p.break_even is not None and p.break_even.value]
    sure = [rate.confidence for rate in rates if rate.confidence is not None]
    if not sure:
        return "Dots: one launch, no limits." if rates else "No rate is known."
    return (
        "Dots: medians of the launches' quotients; bars: order statistics of the launches, which hold the median with "
        f"{100 * min(sure):.4g} % (exact binomial)."
    )
