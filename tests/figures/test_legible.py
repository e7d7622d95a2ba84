"""The check that pictures are legible notices what it is for."""

from __future__ import annotations

import pytest
from legible import legible
from matplotlib.figure import Figure


def test_texts_beside_each_other_are_returned() -> None:
    figure = Figure()
    figure.text(0.1, 0.5, "left")
    figure.text(0.6, 0.5, "right")
    assert legible(figure) == {"left", "right"}


@pytest.mark.parametrize(
    ("x", "said"),
    [(0.5, '"one" and "other" overlap'), (0.99, "other leaves the page"), (-0.1, "other leaves the page")],
)
def test_a_text_on_another_or_beyond_the_page_is_noticed(x: float, said: str) -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "one")
    figure.text(x, 0.5, "other")
    with pytest.raises(AssertionError, match=said):
        legible(figure)
