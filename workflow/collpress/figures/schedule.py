"""A schedule as a picture: ranks from left to right, steps downwards, an arrow for each message.

Drawn by `collpress schedule --draw`, not of a cube: it is no figure that a campaign can ask for.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import MaxNLocator

from collpress.figures import style

MOST_RANKS, MOST_STEPS = 64, 128
_STEP, _AROUND = 0.32, 0.95
"""Inches of a step, and of what stands above and below."""
Arrow = tuple[int, int, int, int, bool]
"""Step, sender, receiver, bytes, and whether the receiver reduces in that step."""


def drawn(arrows: Sequence[Arrow], ranks: int, title: str, notes: str) -> Figure:
    """The width of an arrow grows with its bytes; those whose receiver reduces have another colour and dashes."""
    steps = max((step for step, *_ in arrows), default=1)
    figure = Figure(figsize=(style.DOUBLE, _AROUND + _STEP * max(steps, 2)), layout="constrained")
    axes = figure.subplots()
    longest = max((size for *_, size, _ in arrows), default=0)
    for step, sender, receiver, size, reduced in arrows:
        axes.add_patch(
            FancyArrowPatch(
                (sender, step - 0.4),
                (receiver, step + 0.4),
                arrowstyle="-|>",
                mutation_scale=6,
                shrinkA=0,
                shrinkB=0,
                linewidth=0.5 + (1.5 * size / longest if longest else 0),
                linestyle=(0, (3, 1.5)) if reduced else "-",
                color=style.COLOURS[1] if reduced else style.COLOURS[0],
            )
        )
    axes.set_xlim(-0.5, ranks - 0.5)
    axes.set_ylim(steps + 0.6, 0.4)
    axes.xaxis.set_major_locator(MaxNLocator(16, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(16, integer=True))
    axes.set(xlabel="rank", ylabel="step")
    axes.set_title(title, loc="left")
    lines = [
        Line2D([], [], color=style.COLOURS[0], label="moved"),
        Line2D([], [], color=style.COLOURS[1], linestyle="--", label="reduced by its receiver"),
    ]
    figure.legend(handles=lines, loc="outside lower left", ncols=2, frameon=False)
    figure.supxlabel(notes, x=0.99, ha="right", fontsize=6, color=style.FAINT)
    return figure
