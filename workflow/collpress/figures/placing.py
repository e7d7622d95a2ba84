"""Small words beside marks, only where they have room: beside all other words, marks and lines of the axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes

from collpress.figures import style

_SIDES = {
    "upper right": (1, 1),
    "lower right": (1, -1),
    "upper left": (-1, 1),
    "lower left": (-1, -1),
    "right": (1, 0),
    "left": (-1, 0),
    "above": (0, 1),
    "below": (0, -1),
}
_AWAY, _HEIGHT = 0.075, 0.011
"""Inches from a mark's middle to the word; inches a point of a word's height."""
Box = tuple[float, float, float, float]


class Places:
    """What is taken on axes, in inches from their lower left corner."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        figure = axes.get_figure(root=True)
        assert figure is not None
        width, height = (float(v) for v in figure.get_size_inches())
        box = axes.get_position()
        self._size = (float(box.width) * width, float(box.height) * height)
        self._taken: list[Box] = []

    def keep_free(self, points: Iterable[tuple[float, float]], radius: float) -> None:
        """No word within `radius` in inches of these points, given in units of the data."""
        for x, y in (self._inches(point) for point in points):
            self._taken.append((x - radius, y - radius, x + radius, y + radius))

    def keep_free_between(self, start: tuple[float, float], stop: tuple[float, float], half: float = 0.005) -> None:
        """No word on the straight line between two points; `half` of the line's width in inches."""
        (x0, y0), (x1, y1) = self._inches(start), self._inches(stop)
        steps = max(2, int(np.hypot(x1 - x0, y1 - y0) / 0.02))
        for t in np.linspace(0, 1, steps):
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            self._taken.append((x - half, y - half, x + half, y + half))

    def put(
        self, point: tuple[float, float], text: str, size: float, ink: str, sides: Sequence[str] = tuple(_SIDES)
    ) -> bool:
        """Write `text` at the first free side of `point`; False where none is free, and nothing is written."""
        x, y = self._inches(point)
        width, height = style.length_of(text, size) + 0.01, _HEIGHT * size
        for right, up in (_SIDES[side] for side in sides):
            near = 0.72 if right and up else 1.0  # corners are farther from the middle
            left = x + (right * _AWAY * near if right > 0 else right * _AWAY * near - width if right else -width / 2)
            low = y + (up * _AWAY * near if up > 0 else up * _AWAY * near - height if up else -height / 2)
            box = (left, low, left + width, low + height)
            if self._free(box):
                self._taken.append(box)
                at = left / self._size[0], (low + height / 2) / self._size[1]
                self._axes.text(
                    *at,
                    text,
                    transform=self._axes.transAxes,
                    fontsize=size,
                    color=ink,
                    ha="left",
                    va="center",
                    zorder=6,
                )
                return True
        return False

    def _inches(self, point: tuple[float, float]) -> tuple[float, float]:
        (left, right), (low, high) = self._axes.get_xlim(), self._axes.get_ylim()
        return (
            (point[0] - left) / (right - left) * self._size[0],
            (point[1] - low) / (high - low) * self._size[1],
        )

    def _free(self, box: Box) -> bool:
        inside = box[0] >= 0.01 and box[1] >= 0.02 and box[2] <= self._size[0] + 0.02 and box[3] <= self._size[1] + 0.02
        return inside and all(
            box[2] <= x0 or box[0] >= x1 or box[3] <= y0 or box[1] >= y1 for x0, y0, x1, y1 in self._taken
        )


def in_rows(lengths: Sequence[float], width: float) -> list[list[tuple[float, int]]]:
    """Entries of these lengths one after the other, in rows no longer than `width`: (left end, position) of each."""
    rows: list[list[tuple[float, int]]] = [[]]
    at = 0.0
    for i, length in enumerate(lengths):
        if rows[-1] and at + length > width:
            rows.append([])
            at = 0.0
        rows[-1].append((at, i))
        at += length
    return rows
