"""Whether people can read a picture: no text on another, none beyond the page."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from collpress.figures import style


def legible(figure: Figure) -> set[str]:
    """Draw a figure in the house style; the texts that are really drawn (a tick's label outside the view is not)."""
    seen: list[Text] = []
    original = Text.draw

    def recording(self: Text, renderer: RendererBase, *rest: object, **more: object) -> None:
        if self.get_visible() and self.get_text().strip():
            seen.append(self)
        original(self, renderer, *rest, **more)

    canvas = FigureCanvasAgg(figure)
    with style.house(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", recording)
        canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [(t.get_text(), t.get_window_extent(renderer).extents) for t in seen]
    width, height = figure.get_size_inches() * figure.dpi
    for text, (x0, y0, x1, y1) in boxes:
        assert min(x0, y0, width - x1, height - y1) >= 0, f"{text} leaves the page"
    for (one, a), (other, b) in combinations(boxes, 2):
        over = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        # a glyph's box is taller than its ink: touching boxes are no overlap that an eye sees
        assert over[0] <= 0.5 or over[1] <= 2.5, f'"{one}" and "{other}" overlap'
    return {text for text, _ in boxes}
