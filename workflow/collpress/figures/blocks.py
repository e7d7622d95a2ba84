"""Blocks, each as wide as one column of a page: beside each other on two columns, below each other on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from collpress.figures import style

WIDTH = 3.3
"""Of a block, in inches."""
_MARGIN, _TOP, _FOOT = 0.1, 0.08, 0.2
_EXPERIMENT, _TITLE, _BETWEEN, _NOTE = 0.2, 0.17, 0.16, 0.12


@dataclass(frozen=True)
class Block:
    """What is comparable, under a title of its own; `draw(figure, left, top)` gets the corner below the title."""

    experiment: str
    title: str
    height: float
    """Without the title, in inches."""
    draw: Callable[[Figure, float, float], None]


@dataclass(frozen=True)
class Head:
    """What stands above all blocks, a legend for instance; `draw(figure, left, top)`."""

    height: float
    draw: Callable[[Figure, float, float], None]


def page(width: style.Width, blocks: Sequence[Block], head: Head | None = None, notes: Sequence[str] = ()) -> Figure:
    """A figure of all blocks in their order, experiment by experiment, and lines of words at its foot."""
    shelves = _shelves(blocks, 1 if width == "single" else 2)
    lines = [line for note in notes for line in wrapped(note, 6.3, style.inches(width) - 2 * _MARGIN)]
    above = _TOP + (head.height if head else 0.0)
    heights = [_shelf_height(shelf, new) for shelf, new in shelves]
    figure = style.blank(width, above + sum(heights) + _NOTE * len(lines) + _FOOT)
    if head:
        head.draw(figure, _MARGIN, _TOP)
    top = above
    for (shelf, new), height in zip(shelves, heights, strict=True):
        _draw_shelf(figure, shelf, new, top)
        top += height
    for i, line in enumerate(lines):
        style.text_at(figure, _MARGIN, top + _NOTE * i, line, fontsize=6.3, color=style.FAINT)
    return figure


def wrapped(text: str, size: float, room: float) -> list[str]:
    """The lines of a text set in `size` points, none longer than `room` in inches; a longer word is cut."""
    lines: list[str] = []
    room *= 0.95  # what a coarse grid of pixels adds to each letter adds up over a line
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and style.length_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(style.shortened(word, size, room))
    return lines


def _shelves(blocks: Sequence[Block], columns: int) -> list[tuple[list[Block], bool]]:
    """Rows of blocks, and whether an experiment begins with the row."""
    shelves: list[tuple[list[Block], bool]] = []
    for block in blocks:
        new = not shelves or shelves[-1][0][-1].experiment != block.experiment
        if new or len(shelves[-1][0]) == columns:
            shelves.append(([], new))
        shelves[-1][0].append(block)
    return shelves


def _shelf_height(shelf: Sequence[Block], new: bool) -> float:
    return (_EXPERIMENT if new else 0.0) + _TITLE + max(b.height for b in shelf) + _BETWEEN


def _draw_shelf(figure: Figure, shelf: Sequence[Block], new: bool, top: float) -> None:
    if new:
        style.text_at(figure, _MARGIN, top, shelf[0].experiment, fontsize=8.5, fontweight="bold")
        top += _EXPERIMENT
    for i, block in enumerate(shelf):
        left = _MARGIN + i * (style.DOUBLE - WIDTH - 2 * _MARGIN)
        title = style.shortened(block.title, 6.3, WIDTH)
        style.text_at(figure, left, top, title, fontsize=6.3, color=style.FAINT)
        block.draw(figure, left, top + _TITLE)
