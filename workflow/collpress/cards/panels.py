"""The panels of a card's page that are curves and bars: each draws one item of the card on axes that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from collpress.cards.channels import OUTLIER
from collpress.cards.words import axis_name, number, ratio, unit
from collpress.figures import style

Card = dict[str, Any]
_BLUE, _RED = style.COLOURS[0], style.COLOURS[1]
_SMALL = 6
"""Points."""
_PLANES = {4: ("0", "1", "2", "3"), 2: ("0", "1")}


def body(axes: Axes, card: Card) -> str:
    """Histogram between the 0.1 and the 99.9 % quantile; returns the panel's title, as all of these do."""
    _histogram(axes, card, "body")
    axes.set_ylabel("share of values [%]")
    return "middle 99.8 % of the values"


def whole(axes: Axes, card: Card) -> str:
    """Histogram of all values, on a logarithmic axis."""
    lowest = _histogram(axes, card, "whole")
    if lowest:
        axes.set(yscale="log", ylim=(10 ** np.floor(np.log10(lowest)), 100 * 1.6))
        _decades(axes.yaxis, 4)
    axes.set_ylabel("share of values [%]")
    return "all values"


def _histogram(axes: Axes, card: Card, which: str) -> float | None:
    """Draws it and returns the smallest share that is not 0, in %; None where there is nothing to draw."""
    found, usable = card["histograms"][which], card["values"]["usable"]
    axes.set_xlabel(f"value{unit(card)}")
    if not found:
        nothing(axes, "no usable value" if not usable else f"all at {number(card['values']['quantiles']['0.5'])}")
        return None
    shares = 100 * np.array(found["counts"]) / usable
    edges = np.linspace(found["low"], found["high"], len(shares) + 1)
    floor = float(shares[shares > 0].min())
    axes.stairs(shares, edges, baseline=0 if which == "body" else floor / 10, fill=True, facecolor=_BLUE, alpha=0.45)
    axes.stairs(shares, edges, baseline=0 if which == "body" else floor / 10, color=_BLUE, linewidth=0.8)
    axes.set_xlim(found["low"], found["high"])
    _plain(axes.xaxis, 3)
    if which == "body":
        axes.set_ylim(0, 1.08 * float(shares.max()))
        _plain(axes.yaxis, 4)
    return floor


def byte_planes(axes: Axes, card: Card) -> str:
    planes = card["bits"]["byte_plane_entropy"]
    axes.bar(range(len(planes)), planes, width=0.62, color=_BLUE, alpha=0.6, edgecolor=_BLUE, linewidth=0.8)
    for i, bits in enumerate(planes):
        axes.text(i, bits + 0.2, f"{bits:.2f}", ha="center", va="bottom", fontsize=_SMALL)
    whole_entropy = card["bits"]["byte_entropy"]
    axes.set(ylim=(0, 9.4), ylabel="entropy [bits]", xlabel="byte of a value, 0 the lowest")
    axes.set_xticks(range(len(planes)), _PLANES[len(planes)])
    axes.yaxis.set_major_locator(FixedLocator([0, 2, 4, 6, 8]))
    axes.grid(visible=False, axis="x")
    return f"bytes; all together {whole_entropy:.2f} bits"


def exponents(axes: Axes, card: Card) -> str:
    found, n = card["bits"]["exponents"], card["bits"]["nonzero"]
    axes.set(xlabel="binary exponent", ylabel="share of values ≠ 0 [%]")
    if not n:
        nothing(axes, "no value that is not 0")
    else:
        shares = 100 * np.array(found["counts"]) / n
        left = found["first"] - 0.5
        axes.stairs(shares, left + np.arange(len(shares) + 1), fill=True, facecolor=_BLUE, alpha=0.45)
        axes.stairs(shares, left + np.arange(len(shares) + 1), color=_BLUE, linewidth=0.8)
        axes.set(ylim=(0, 1.08 * float(shares.max())), xlim=(left - 0.5, left + len(shares) + 0.5))
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        _plain(axes.yaxis, 4)
    return f"exponents; entropy {card['bits']['exponent_entropy']:.2f} bits"


def trailing(axes: Axes, card: Card) -> str:
    """Zero bits at the end of the mantissa, beside those of random bits, and where narrower types end."""
    found, n = np.array(card["bits"]["trailing_zero_bits"]), card["bits"]["nonzero"]
    axes.set(xlabel="zero bits at the end; dotted: random", ylabel="share of values ≠ 0 [%]")
    if not n:
        nothing(axes, "no value that is not 0")
        return "unused mantissa bits"
    seen = np.flatnonzero(found)
    low = min(1e-4, 100 * float(found[seen].min()) / n / 2)
    axes.bar(seen, 100 * found[seen] / n - low, bottom=low, width=0.7, color=_BLUE, alpha=0.6, linewidth=0)
    never = 16 if card["dtype"] == "bfloat16" else 0  # bits that a stored value does not have
    random = 100 * 0.5 ** np.arange(1, 24 - never)
    axes.plot(range(never, 23), random, color=style.INK, linewidth=0.8, linestyle=(0, (1, 1.5)))
    axes.set(yscale="log", ylim=(low, 400), xlim=(-0.8, 23.8))
    for bits, name in ((13, "fp16"), (16, "bf16")):
        axes.axvline(bits - 0.5, color=style.FAINT, linewidth=0.6)
        axes.text(bits - 0.3, 130, name, fontsize=5.5, color=style.FAINT, va="bottom")
    axes.xaxis.set_major_locator(FixedLocator([0, 8, 16, 23]))
    _decades(axes.yaxis, 4)
    return "unused mantissa bits"


def spectrum(axes: Axes, card: Card) -> str:
    found = card["spectrum"]
    axes.set(xlabel="cycles a grid length", ylabel="power")
    if not found:
        nothing(axes, "no axis of 16 values" if card["values"]["std"] else "no spread")
        return "power spectrum"
    frequency, power = np.array(found["frequency"]), np.array(found["power"], dtype=float)
    axes.plot(frequency, power, color=_BLUE, linewidth=1.0)
    axes.set(xscale="log", yscale="log", xlim=(frequency[0] / 1.15, 0.58))
    title = "power spectrum"
    if found["slope"] is not None:
        ends = np.array(found["fitted"])
        axes.plot(ends, 10 ** found["intercept"] * ends ** found["slope"], color=_RED, linewidth=1.2, linestyle="--")
        title += f"; slope {_signed(found['slope'])}"
    shown = power[power > 0]
    if shown.size and shown.max() / shown.min() < 30:  # flat: at least two decades, so that noise looks like noise
        middle = float(np.sqrt(shown.max() * shown.min()))
        axes.set_ylim(middle / 20, middle * 20)
    _decades(axes.xaxis, 3)
    _decades(axes.yaxis, 4)
    return title


def autocorrelation(axes: Axes, card: Card) -> str:
    axes.set(xlabel="lag [grid lengths]", ylabel="correlation", xscale="log", ylim=(-0.35, 1.08))
    farthest = 1
    for entry in card["axes"]:
        known = [(k, r) for k, r in zip(entry["lags"], entry["autocorrelation"], strict=True) if r is not None]
        if known:
            colour, marker = style.nth(entry["axis"])
            lags, values = zip(*known, strict=True)
            name = axis_name(entry["axis"], card["shape"])
            axes.plot(lags, values, color=colour, marker=marker, markersize=2.6, linewidth=0.9, label=name)
            farthest = max(farthest, lags[-1])
    if axes.lines:
        lowest = min(0.0, *(float(np.min(line.get_ydata())) for line in axes.lines))
        axes.set_ylim(lowest - 0.16 - 0.12 * -(-len(axes.lines) // 2), 1.08)  # room for the legend
        axes.set_xlim(0.85, 1.2 * max(farthest, 4))
        axes.legend(
            loc="lower left",
            fontsize=5.5,
            frameon=False,
            ncols=2,
            handlelength=1.6,
            borderpad=0.1,
            columnspacing=0.9,
            labelspacing=0.2,
        )
        axes.axhline(0, color=style.FAINT, linewidth=0.6, zorder=1)
    else:
        nothing(axes, "no spread, or no pair")
    _powers_of_two(axes, farthest)
    return "autocorrelation"


def lorenzo(axes: Axes, card: Card) -> str:
    found = card["lorenzo"]["predictors"]
    axes.set(xlabel="axes of the predictor; above: ratio", ylabel="bits a value")
    if not found:
        nothing(axes, "no usable value")
    else:
        bits = [p["bits_per_value"] for p in found]
        axes.bar(range(len(bits)), bits, width=0.5, color=_BLUE, alpha=0.6, edgecolor=_BLUE, linewidth=0.8)
        top = max(1.0, *bits)
        for i, p in enumerate(found):
            above = p["bits_per_value"] + 0.03 * top
            axes.text(i, above, ratio(p["estimated_ratio"]), ha="center", va="bottom", fontsize=_SMALL)
        axes.set(ylim=(0, 1.22 * top), xlim=(-0.6, 2.6))
        axes.set_xticks(range(len(bits)), [str(p["axes"]) for p in found])
        _plain(axes.yaxis, 4)
        axes.grid(visible=False, axis="x")
    return f"Lorenzo estimate at {card['lorenzo']['bound']}"


def channels(axes: Axes, card: Card) -> str:
    found = card["channels"]
    profile = found["profile"]
    x = np.arange(len(profile["ratio"])) * profile["channels_a_point"]
    axes.plot(x, profile["ratio"], color=_BLUE, linewidth=0.8)
    axes.axhline(OUTLIER, color=_RED, linewidth=0.8, linestyle="--")
    axes.set(xlabel="index of the last axis", ylabel="mean |x| over median")
    axes.set(ylim=(0, 1.12 * max(OUTLIER, *profile["ratio"])), xlim=(-0.5, x[-1] + 0.5))
    _plain(axes.yaxis, 4)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    group = found["largest"]["group"]
    return "channels" + (f" of group {', '.join(map(str, group))}" if group else "")


def nothing(axes: Axes, why: str) -> None:
    """An empty panel says why."""
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", fontsize=7, color=style.FAINT)
    axes.grid(visible=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(NullLocator())
        axis.set_minor_locator(NullLocator())


def _plain(axis: Any, most: int) -> None:
    """Few ticks with short numbers, and no power of ten apart from them."""
    axis.set_major_locator(MaxNLocator(most))
    axis.set_major_formatter(FuncFormatter(lambda v, _: number(v, 4)))


def _decades(axis: Any, most: int) -> None:
    """Powers of ten; 1, 2 and 5 times them where fewer than two would be seen."""
    low, high = (float(v) for v in axis.get_view_interval())
    if np.floor(np.log10(high)) - np.ceil(np.log10(low)) < 1:
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda v, _: number(v, 2)))
    else:
        axis.set_major_locator(LogLocator(10, numticks=most + 2))
    axis.set_minor_formatter(NullFormatter())


def _powers_of_two(axes: Axes, farthest: int) -> None:
    ticks: Sequence[int] = [k for k in (1, 2, 4, 8, 16, 32, 64, 128) if k <= max(farthest, 4)]
    if not isinstance(axes.xaxis.get_major_locator(), NullLocator):
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.xaxis.set_minor_locator(NullLocator())


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
