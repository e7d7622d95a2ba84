"""The page of a card: header, panels in three columns, and the numbers that no panel shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from collpress.cards import panels
from collpress.cards.field import Field
from collpress.cards.pictures import draw_similarity, draw_slice
from collpress.cards.words import facts, origin, values_of
from collpress.figures import style

Card = dict[str, Any]
_EDGE, _HEAD, _FOOT = 0.1, 0.52, 0.2
_COLUMN = (style.DOUBLE - 2 * _EDGE) / 3
_ABOVE, _PANEL, _BELOW = 0.24, 1.16, 0.46
_LEFT, _RIGHT = 0.5, 0.12
_ROW = _ABOVE + _PANEL + _BELOW
_BAR, _BAR_ROOM = 0.08, 0.46
"""Inches: around panels, and a colour bar's width and room."""
_LINE = 0.118
"""Height of a line of the list of numbers."""
_CURVES: tuple[Callable[[Axes, Card], str], ...] = (
    panels.body,
    panels.whole,
    panels.byte_planes,
    panels.exponents,
    panels.trailing,
    panels.spectrum,
    panels.autocorrelation,
    panels.lorenzo,
)


def draw(field: Field, card: Card) -> Figure:
    """The page, two columns of a journal wide. Call inside `style.house()`."""
    curves = [*_CURVES, *([panels.channels] if card["channels"] else [])]
    count = 1 + len(curves) + (card["parts"] is not None)
    numbers = facts(card)
    listed = _ABOVE + _LINE * -(-len(numbers) // len(_free(count)))
    last = max(listed, _ROW if count % 3 else 0.0)
    figure = style.blank("double", _HEAD + count // 3 * _ROW + last + _FOOT)
    _head(figure, card)
    axes, bar = _with_bar(figure, 0)
    _title(figure, 0, draw_slice(figure, axes, bar, field, card))
    for place, curve in enumerate(curves, start=1):
        left, top = _corner(place)
        axes = style.axes_at(figure, left + _LEFT, top + _ABOVE, _COLUMN - _LEFT - _RIGHT, _PANEL)
        _title(figure, place, curve(axes, card))
        axes.tick_params(labelsize=6, pad=2)
        axes.xaxis.label.set_fontsize(6.5)
        axes.yaxis.label.set_fontsize(6.5)
    if card["parts"] is not None:
        axes, bar = _with_bar(figure, count - 1)
        _title(figure, count - 1, draw_similarity(figure, axes, bar, card))
    _numbers(figure, numbers, count)
    return figure


def _corner(place: int) -> tuple[float, float]:
    return _EDGE + place % 3 * _COLUMN, _HEAD + place // 3 * _ROW


def _with_bar(figure: Figure, place: int) -> tuple[Axes, Axes]:
    left, top = _corner(place)
    width = _COLUMN - _LEFT - _RIGHT - _BAR_ROOM
    axes = style.axes_at(figure, left + _LEFT, top + _ABOVE, width, _PANEL)
    bar = style.axes_at(figure, left + _LEFT + width + 0.07, top + _ABOVE, _BAR, _PANEL)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(6.5)
    axes.tick_params(labelsize=6, pad=2)
    return axes, bar


def _title(figure: Figure, place: int, text: str) -> None:
    left, top = _corner(place)
    shown = style.shortened(text, 7, _COLUMN - 0.15, "bold")
    style.text_at(figure, left + 0.08, top + 0.02, shown, fontsize=7, weight="bold")


def _head(figure: Figure, card: Card) -> None:
    room = style.DOUBLE - 2 * _EDGE - 0.1
    mark = "SYNTHETIC" if card["synthetic"] else ""
    room -= style.length_of(mark, 9, "bold") + 0.1 if mark else 0.0
    style.text_at(figure, _EDGE + 0.08, 0.08, style.shortened(card["id"], 9, room, "bold"), fontsize=9, weight="bold")
    if mark:
        style.text_at(
            figure, style.DOUBLE - _EDGE, 0.08, mark, fontsize=9, weight="bold", color=style.COLOURS[7], ha="right"
        )
    parts = ", parts along axis 0" if card["ranks"] == "parts" else ""
    about = f"{values_of(card)}, {card['dtype']}, units {card['units']}{parts}; {origin(card)}"
    for i, line in enumerate((card["title"], about)):
        shown = style.shortened(line, 7, style.DOUBLE - 2 * _EDGE - 0.1)
        style.text_at(
            figure, _EDGE + 0.08, 0.24 + 0.12 * i, shown, fontsize=7, color=style.INK if not i else style.FAINT
        )


def _numbers(figure: Figure, entries: Sequence[tuple[str, str]], place: int) -> None:
    """In the cells of the last row that no panel takes, column after column."""
    cells = _free(place)
    _title(figure, place, "numbers")
    each = -(-len(entries) // len(cells))
    for i, (name, value) in enumerate(entries):
        left, top = _corner(cells[i // each])
        y = top + _ABOVE + _LINE * (i % each)
        style.text_at(figure, left + 0.08, y, name, fontsize=6.2, color=style.FAINT)
        start = left + 1.0
        style.text_at(figure, start, y, style.shortened(value, 6.2, left + _COLUMN - start), fontsize=6.2)


def _free(place: int) -> range:
    """The cells from `place` to the end of its row."""
    return range(place, (place // 3 + 1) * 3)
