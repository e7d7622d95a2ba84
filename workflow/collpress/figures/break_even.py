"""Break-even: where codecs pay, as a map over link rate and message size, measured beside predicted.

A panel per experiment, algorithm, data and world; a row per codec, bound and link, a column per size. Left the measured
speed-up over the same algorithm without compressing, right the break-even rate B*, coloured by its ratio to a rank's
share of the link. One cube shows its one link; cubes of several platforms are drawn together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log2
from typing import Any

import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from collpress.analysis.break_even import Place, places
from collpress.analysis.payoff import ASSUMPTIONS, FORMULA, baselines
from collpress.figures import labels, style
from collpress.figures.blocks import WIDTH, Block, Head, page, page_height
from collpress.figures.captions import machine, ratio_statistic
from collpress.figures.choice import Group, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.keys import flowed
from collpress.figures.marks import MARKS, said

MAX_PANELS = 24
_WITHIN = ("codec", "error_bound", "message_bytes", "nodes")
"""What differs within a panel: nodes too, for a link joins two and a shared loopback is one."""
_ABOVE, _ROW, _LEAST_ROW, _TICKS, _AXIS, _BETWEEN = 0.14, 0.125, 0.1, 0.15, 0.15, 0.08
_MOST_NAME, _WIDEST, _NAME, _TINY, _HEADING = 1.4, 0.7, 5.6, 5.0, 6.0
_LINE, _LEGEND = 0.13, 6.3
"""Inches, and points of letters."""
_COLOURS, _LOST = "PuOr_r", "#f0f0f0"
_GBIT = 8e-9
_TITLE = "Where compression pays"
Row = tuple[str, str, str]
"""Codec, bound, and the platform whose link it is."""


@dataclass(frozen=True, eq=False)
class Panel:
    """The places that differ in codec, bound, size and link only."""

    experiment: str
    factors: Mapping[str, Any]
    cells: Mapping[tuple[Row, int], Place]
    links: Mapping[str, str]
    """How the link of each platform is called in a row's name; empty where no rate is known."""

    @property
    def rows(self) -> list[Row]:
        return list(dict.fromkeys(row for row, _ in self.cells))

    @property
    def sizes(self) -> list[int]:
        return sorted({size for _, size in self.cells})

    @property
    def empty(self) -> bool:
        return not any(p.payoff.over_plain or p.payoff.break_even for p in self.cells.values())


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The map of one cube, over the one link that it was measured with."""
    return draw_several([cube], width)


def draw_several(cubes: Sequence[xr.DataTree], width: style.Width = "double") -> Drawing:
    """The map of cubes of several platforms, whose links become its rows, slow ones first."""
    found = [p for cube in cubes for p in places(cube)]
    panels = _panels(found)
    full = [panel for panel in panels if not panel.empty]
    shown = (full or panels)[:MAX_PANELS]
    notes = [] if panels else ["No experiment plans a codec: there is nothing to pay off."]
    if full:
        notes += omissions([_as_group(panel) for panel in panels if panel.empty])
        notes += [f"… and {len(full) - len(shown)} more panels in the CSV"] if len(full) > len(shown) else []
    limit = _limit([p for panel in shown for p in panel.cells.values()])
    head = _head([p for panel in shown for p in panel.cells.values()], width)

    def blocks(row: float) -> list[Block]:
        return [_block(panel, limit, row) for panel in shown]

    row = style.fitted(_ROW, _LEAST_ROW, lambda row: page_height(width, blocks(row), head, notes))
    return Drawing(page(width, blocks(row), head, notes), _table(found), _caption(cubes, found))


def _panels(found: Sequence[Place]) -> list[Panel]:
    slow_first = sorted({p.platform: _speed(p) for p in found}.items(), key=lambda item: item[1])
    order = {platform: i for i, (platform, _) in enumerate(slow_first)}
    groups: dict[tuple[Any, ...], list[Place]] = {}
    for p in found:
        groups.setdefault((p.payoff.point.experiment, *p.payoff.point.without(*_WITHIN)), []).append(p)
    named = {p.platform: _link_name(p) for p in found}
    panels = []
    for (experiment, *common), members in groups.items():
        codecs = list(dict.fromkeys(_codec(p) for p in members))
        members.sort(key=lambda p, at=codecs: (at.index(_codec(p)), order[p.platform]))  # type: ignore[misc]
        links = {p.platform: named[p.platform] for p in members}
        # What cannot run with that many nodes on a platform gives way to what does: one link a platform.
        cells: dict[tuple[Row, int], Place] = {}
        for p in members:
            at = (*_codec(p), p.platform), int(p.payoff.point.factors["message_bytes"])
            if at not in cells or cells[at].payoff.point.status == "unsupported":
                cells[at] = p
        panels.append(Panel(str(experiment), dict(common), cells, links))
    return panels


def _codec(p: Place) -> tuple[str, str]:
    return str(p.payoff.point.factors["codec"]), str(p.payoff.point.factors["error_bound"])


def _speed(p: Place) -> tuple[bool, float, str]:
    """For sorting: by rate, the shared before the one of each direction; unthrottled links last."""
    rate = p.link.rate if p.link and p.link.rate else float("inf")
    return rate == float("inf"), rate, f"{'' if p.link and p.link.shared else 'x'}{p.platform}"


def _link_name(p: Place) -> str:
    if p.link is None or p.link.rate is None:
        return ""
    return f"{p.link.rate / 1e9:.3g} Gbit/s{' shared' if p.link.shared else ''}"


def _as_group(panel: Panel) -> Group:
    return Group(panel.experiment, panel.factors, [{"status": p.payoff.point.status} for p in panel.cells.values()])


def _limit(shown: Sequence[Place]) -> float:
    """|log2| at the ends of the colours: 1, 2 or 3, the smallest that holds all but what is beyond eightfold."""
    ratios = [p.payoff.over_plain.value for p in shown if p.payoff.over_plain] + [p.margin for p in shown if p.margin]
    largest = max((abs(log2(r)) for r in ratios if r), default=0.0)
    return float(min(3, max(1, ceil(largest))))


def _head(found: Sequence[Place], width: style.Width) -> Head:
    room = style.inches(width) - 0.2
    lines = flowed(_legend(found), room, _LEGEND)

    def drawn(figure: Figure, left: float, top: float) -> None:
        style.text_at(figure, left, top, _TITLE, fontsize=8.5, fontweight="bold")
        for i, line in enumerate(lines):
            style.text_at(figure, left, top + 0.19 + _LINE * i, line, fontsize=_LEGEND)

    return Head(0.19 + _LINE * len(lines) + 0.05, drawn)


def _legend(found: Sequence[Place]) -> list[str]:
    entries = ["left: measured speed-up; bold and coloured where shown", "right: predicted B* in Gbit/s of a rank"]
    if any(p.share for p in found):
        entries.append("bold: above the link's rate")
    if any(p.agrees is False for p in found):
        entries.append("framed: not as measured")
    shared = next((p.link.medium for p in found if p.link and p.link.shared), None)
    entries += [f"shared: {shared}"] if shared else []
    entries += ["orange: the codec pays", "purple: it does not"] if found else []
    statuses = {p.payoff.point.status for p in found} - {"ok"}
    return entries + [f"{MARKS[s].glyph} {said(s)}" for s in MARKS if s in statuses]


def _block(panel: Panel, limit: float, row: float) -> Block:
    height = _ABOVE + row * len(panel.rows) + _TICKS
    return Block(panel.experiment, panel.factors, height, _AXIS, partial(_draw, panel, limit, row))


def _row_name(panel: Panel, row: Row) -> str:
    """Codec and bound, cut where they have no room, and the link, which is never cut."""
    codec, bound, platform = row
    over = f" · {panel.links[platform]}" if panel.links[platform] else ""
    room = _MOST_NAME - style.length_of(over, _NAME)
    return style.shortened(labels.factors({"codec": codec, "error_bound": bound}), _NAME, room) + over


def _draw(panel: Panel, limit: float, row: float, figure: Figure, left: float, top: float, last: bool) -> None:
    names = [_row_name(panel, r) for r in panel.rows]
    name = max(style.length_of(text, _NAME) for text in names) + 0.06
    wide = min((WIDTH - name - _BETWEEN) / 2, _WIDEST * len(panel.sizes))
    height = row * len(panel.rows)
    for place, (heading, cell) in enumerate((("measured", _draw_measured), ("predicted B*", _draw_predicted))):
        at = left + name + place * (wide + _BETWEEN)
        style.text_at(figure, at, top, heading, fontsize=_HEADING, color=style.FAINT)
        axes = style.axes_at(figure, at, top + _ABOVE, wide, height)
        axes.set(xlim=(0, len(panel.sizes)), ylim=(len(names), 0))
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, pad=2)
        room = wide / len(panel.sizes) - 0.02
        for y, r in enumerate(panel.rows):
            for x, size in enumerate(panel.sizes):
                if (r, size) in panel.cells:
                    cell(axes, (x, y), panel.cells[r, size], limit, room)
        axes.set_xticks(*_sizes(panel.sizes, room), fontsize=_TINY)
        axes.set_yticks([i + 0.5 for i in range(len(names))] if not place else [])
        if not place:
            axes.set_yticklabels(names, fontsize=_NAME)
        if last:
            axes.set_xlabel("message size", fontsize=_HEADING, labelpad=1.5)


def _sizes(sizes: Sequence[int], room: float) -> tuple[list[float], list[str]]:
    """Where sizes stand, and as they are written below their cells: as many as have room."""
    texts = [labels.iec(size).replace("iB", "").replace(" ", "") for size in sizes]
    step = max(1, ceil(max(style.length_of(text, _TINY) + 0.03 for text in texts) / (room + 0.02)))
    return [i + 0.5 for i in range(0, len(sizes), step)], texts[::step]


def _draw_measured(axes: Axes, at: tuple[int, int], p: Place, limit: float, room: float) -> None:
    ratio = p.payoff.over_plain
    if ratio is None:
        status = p.payoff.point.status
        glyph = MARKS[status].glyph if status != "ok" else "·"
        _cell(axes, at, _LOST, glyph, room, ink=style.FAINT)
        return
    sure = p.measured != "unknown"
    _cell(axes, at, _colour(ratio.value, limit) if sure else "white", _number(ratio.value), room, bold=sure)


def _draw_predicted(axes: Axes, at: tuple[int, int], p: Place, limit: float, room: float) -> None:
    rate = p.payoff.break_even
    if rate is None:
        _cell(axes, at, _LOST, "·", room, ink=style.FAINT)
        return
    fill = "white" if p.margin is None else _colour(p.margin, limit)
    _cell(axes, at, fill, _number(rate.value * _GBIT), room, bold=p.predicted == "pays", framed=p.agrees is False)


def _cell(
    axes: Axes, at: tuple[int, int], fill: Any, text: str, room: float, *, bold: bool = False, framed: bool = False,
    ink: str = "",
) -> None:  # fmt: skip
    """`room`: inches that the text has; it is left out where that is too little, for the CSV has it."""
    x, y = at
    axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=fill, edgecolor="#b5b5b5", linewidth=0.3))
    if framed:
        axes.add_patch(Rectangle((x + 0.05, y + 0.1), 0.9, 0.8, fill=False, edgecolor=style.INK, linewidth=0.9))
    weight = "bold" if bold else "normal"
    if style.length_of(text, _TINY, weight) <= room:
        colour = ink or ("white" if _dark(fill) else style.INK)
        axes.text(x + 0.5, y + 0.52, text, ha="center", va="center", fontsize=_TINY, fontweight=weight, color=colour)


def _colour(ratio: float, limit: float) -> Any:
    """0.5 of the map is 1; the darkest ends are left out, text must be read on them."""
    strength = max(-limit, min(limit, log2(ratio) if ratio > 0 else -limit))
    return colormaps[_COLOURS](0.5 + 0.42 * strength / limit)


def _dark(fill: Any) -> bool:
    return isinstance(fill, tuple) and 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2] < 0.5


def _number(value: float) -> str:
    """Three digits that count at most: `0.62`, `4.9`, `12`, `0`."""
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def _table(found: Sequence[Place]) -> Table:
    factors = list(dict.fromkeys(n for p in found for n in p.payoff.point.factors))
    columns = ["campaign", "platform", "link", "link_asked_bit_per_s", "link_found_bit_per_s", "link_shared"]
    columns += ["rank_share_byte_per_s", "experiment", *factors, "status", "reason", "id"]
    columns += ["over_plain", "over_plain_low", "over_plain_high", "over_plain_confidence", "over_plain_shown"]
    columns += ["plain_algorithm", "plain_status", "plain_id", "break_even_byte_per_s", "break_even_low"]
    columns += ["break_even_high", "break_even_confidence", "break_even_over_share", "measured", "predicted", "agrees"]
    return Table.of(columns, [_csv_row(p, factors) for p in found])


def _csv_row(p: Place, factors: Sequence[str]) -> dict[str, Any]:
    point, ratio, rate, plain, over = p.payoff.point, p.payoff.over_plain, p.payoff.break_even, p.payoff.plain, p.link
    row: dict[str, Any] = {"campaign": p.campaign, "platform": p.platform, "link": over.medium if over else None}
    row |= {"link_asked_bit_per_s": over.rate if over else None, "link_shared": int(over.shared) if over else None}
    row |= {"link_found_bit_per_s": 8 * over.one_way if over and over.one_way else None}
    row |= {"rank_share_byte_per_s": p.share, "experiment": point.experiment, "status": point.status}
    row |= {"reason": point.reason, "id": point.id} | {n: point.factors.get(n) for n in factors}
    row["over_plain"] = ratio.value if ratio else None
    row |= {f"over_plain_{n}": getattr(ratio, n) if ratio else None for n in ("low", "high", "confidence", "shown")}
    row |= {"plain_algorithm": plain.factors["algorithm"] if plain else None, "plain_id": plain.id if plain else None}
    row |= {"plain_status": plain.status if plain else "not_planned"}
    row["break_even_byte_per_s"] = rate.value if rate else None
    row |= {f"break_even_{n}": getattr(rate, n) if rate else None for n in ("low", "high", "confidence")}
    row |= {"break_even_over_share": p.margin, "measured": p.measured, "predicted": p.predicted}
    return row | {"agrees": None if p.agrees is None else int(p.agrees)}


def _caption(cubes: Sequence[xr.DataTree], found: Sequence[Place]) -> str:
    seen = Counter(p.measured for p in found)
    judged = [p.agrees for p in found if p.agrees is not None]
    compared = sum(p.payoff.over_plain is not None for p in found)
    statistics = list(dict.fromkeys(ratio_statistic(cube) for cube in cubes))
    told = f"Of {len(judged)} cells with both verdicts {sum(judged)} agree. " if judged else ""
    without = "" if any(p.share for p in found) else "No link of known rate: B* is told and not judged. "
    shared = any(p.link is not None and p.link.shared for p in found)
    divided = (
        "; of a loopback that both directions share it is the rate over the number of ranks where all send at once"
        if shared
        else ""
    )
    return (
        "Where a codec inside a collective pays. Left: measured time of "
        f"{baselines([p.payoff.plain for p in found])} over the time with the codec, above 1 the codec pays; coloured "
        f"where limits leave out 1. {' '.join(statistics)} Each cell is judged alone: of {compared} compared "
        f"{seen['pays']} are shown to pay and {seen['does not pay']} not to. Right: predicted break-even rate, "
        f"{FORMULA} = (1 − 1/r) / (1/Tc + 1/Td), with r the ratio of what is sent and Tc, Td the codec's speeds within "
        f"the call; {ASSUMPTIONS}. It is coloured by its ratio to a rank's share of the link, which is the rate that "
        f"pingpongs of one direction found{divided}. {told}{without}" + " ".join(machine(cube) for cube in cubes)
    )
