"""Blocks, each as wide as one column of a page: beside each other on two columns, below each other on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure

from collpress.figures import style
from collpress.figures.headings import parted

WIDTH = 3.3
"""Of a block, in inches."""
_MARGIN, _TOP, _FOOT = 0.1, 0.08, 0.2
_EXPERIMENT, _TITLE, _LINE, _UNDER, _BETWEEN, _NOTE = 0.17, 0.125, 0.115, 0.035, 0.055, 0.12
_LETTERS = 6.3
"""Points."""


@dataclass(frozen=True)
class Block:
    """What is comparable, under a title that tells it from the others of its experiment.

    `draw(figure, left, top, last)` gets the corner below the title, and whether it is the lowest of its column: of its
    experiment's on two columns of a page, else of all.
    """

    experiment: str
    factors: Mapping[str, Any]
    """What holds for all of it; what holds for all blocks of an experiment stands in the heading."""
    height: float
    """Without the title and what stands below the last of a column, in inches."""
    foot: float
    """The names of axes for instance, which the blocks of a column share."""
    draw: Callable[[Figure, float, float, bool], None]


@dataclass(frozen=True)
class Head:
    """What stands above all blocks, a legend for instance; `draw(figure, left, top)`."""

    height: float
    draw: Callable[[Figure, float, float], None]


@dataclass(frozen=True)
class Shelf:
    """Blocks of an experiment beside each other; `last` says of each whether it is the lowest of its column, `end`
    whether another experiment follows.
    """

    experiment: str
    heading: Sequence[str]
    """Lines under the experiment's name; both are only above its first blocks."""
    blocks: Sequence[Block]
    titles: Sequence[Sequence[str]]
    """Lines of each."""
    first: bool
    end: bool
    last: Sequence[bool]

    @property
    def above(self) -> float:
        """For the experiment's name and the heading."""
        return _EXPERIMENT + _LINE * len(self.heading) + (_UNDER if self.heading else 0.0) if self.first else 0.0

    @property
    def title(self) -> float:
        """For the longest title."""
        return _TITLE - _LINE + _LINE * max(map(len, self.titles))

    @property
    def height(self) -> float:
        deep = [b.height + (b.foot if last else 0.0) for b, last in zip(self.blocks, self.last, strict=True)]
        return self.above + self.title + max(deep) + _BETWEEN * (2 if self.end else 1)


def page(width: style.Width, blocks: Sequence[Block], head: Head | None = None, notes: Sequence[str] = ()) -> Figure:
    """A figure of all blocks in their order, experiment by experiment, and lines of words at its foot."""
    shelves, lines = _shelves(blocks, width), _lines(notes, width)
    above = _TOP + (head.height if head else 0.0)
    heights = [shelf.height for shelf in shelves]
    figure = style.blank(width, page_height(width, blocks, head, notes))
    if head:
        head.draw(figure, _MARGIN, _TOP)
    top = above
    for shelf, height in zip(shelves, heights, strict=True):
        _draw_shelf(figure, shelf, top)
        top += height
    for i, line in enumerate(lines):
        style.text_at(figure, _MARGIN, top + _NOTE * i, line, fontsize=_LETTERS, color=style.FAINT)
    return figure


def page_height(
    width: style.Width, blocks: Sequence[Block], head: Head | None = None, notes: Sequence[str] = ()
) -> float:
    """Of `page` with the same arguments, in inches."""
    shelves = sum(shelf.height for shelf in _shelves(blocks, width))
    return _TOP + (head.height if head else 0.0) + shelves + _NOTE * len(_lines(notes, width)) + _FOOT


def _lines(notes: Sequence[str], width: style.Width) -> list[str]:
    return [line for note in notes for line in wrapped(note, _LETTERS, style.inches(width) - 2 * _MARGIN)]


def wrapped(text: str, size: float, room: float) -> list[str]:
    """The lines of a text set in `size` points, none longer than `room` in inches; a longer word is broken."""
    lines: list[str] = []
    room *= 0.95  # what a coarse grid of pixels adds to each letter adds up over a line
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and style.length_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines += _pieces(word, size, room)
    return lines


def _pieces(word: str, size: float, room: float) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and style.length_of(pieces[-1] + letter, size) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _shelves(blocks: Sequence[Block], width: style.Width) -> list[Shelf]:
    """Rows of blocks; those of an experiment fill their rows from the left."""
    columns = 1 if width == "single" else 2
    shelves: list[Shelf] = []
    for experiment, group in groupby(blocks, key=lambda block: block.experiment):
        own = list(group)
        heading, titles = parted([block.factors for block in own])
        shelves += [
            Shelf(
                experiment,
                wrapped(heading, _LETTERS, style.inches(width) - 2 * _MARGIN),
                own[i : i + columns],
                [wrapped(title, _LETTERS, WIDTH) for title in titles[i : i + columns]],
                first=i == 0,
                end=i + columns >= len(own),
                last=[_is_lowest(own, place, blocks, columns) for place in range(i, min(i + columns, len(own)))],
            )
            for i in range(0, len(own), columns)
        ]
    return shelves


def _is_lowest(own: Sequence[Block], place: int, blocks: Sequence[Block], columns: int) -> bool:
    """Whether a block has what its column shares below it: once an experiment, and once a page of one column."""
    return own[place] is blocks[-1] if columns == 1 else place + columns >= len(own)


def _draw_shelf(figure: Figure, shelf: Shelf, top: float) -> None:
    if shelf.first:
        style.text_at(figure, _MARGIN, top, shelf.experiment, fontsize=8.5, fontweight="bold")
        _write(figure, shelf.heading, _MARGIN, top + _EXPERIMENT, style.FAINT)
    top += shelf.above
    for i, (block, title, last) in enumerate(zip(shelf.blocks, shelf.titles, shelf.last, strict=True)):
        left = _MARGIN + i * (style.DOUBLE - WIDTH - 2 * _MARGIN)
        _write(figure, title, left, top, style.INK)
        block.draw(figure, left, top + shelf.title, last)


def _write(figure: Figure, lines: Sequence[str], left: float, top: float, ink: str) -> None:
    for i, line in enumerate(lines):
        style.text_at(figure, left, top + _LINE * i, line, fontsize=_LETTERS, color=ink)
