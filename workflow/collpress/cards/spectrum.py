"""The power spectrum over the length of the wave vector, and its slope."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from collpress.cards.field import Block, Field, Reals

SHORTEST = 16
"""Of an axis that a spectrum is taken along."""
TILE = {1: 65536, 2: 1024, 3: 128}
"""Longest edge of a tile by number of axes; a longer axis is cut into equal tiles, whose spectra are averaged."""
MOST = 1 << 25
"""Values that are transformed; where there are more, evenly spread tiles are taken."""
FIT = (6, 0.25)
"""The slope is fitted from 6 waves a tile, because the window blurs longer ones, to 0.25 cycles a grid length."""
_WHOLE, _GROWTH = 16, 2 ** (1 / 8)
"""Shells are one wave number wide up to the first, from there on they grow by the second."""


def spectrum_part(values: Field, part: dict[str, Any]) -> dict[str, Any] | None:
    """The card's `spectrum`; None where no axis is long enough or the data have no spread.

    Taken along the last one to three neighbouring axes of at least SHORTEST values and averaged over all others. Each
    tile loses its mean and is weighted by a Hann window along each axis; power is such that independent values of
    variance 1 have power 1 everywhere. What is not usable counts as the mean of the data. `frequency` is in cycles a
    grid length, the mean over the modes of a shell. `slope` is that of log power over log frequency by least squares
    over the shells; in a short line, of one tile, the shells of few modes make it too flat by about 0.1. `energy_slope`
    is of the energy of a shell, which counts its modes: + number of axes − 1.
    """
    axes = _axes(values)
    if not axes or not part["std"]:
        return None
    edges = [n // math.ceil(n / TILE[len(axes)]) for n in (values.shape[a] for a in axes)]
    tiles = _tiles(values, axes, edges)
    stride = math.ceil(len(tiles) * math.prod(edges) / MOST)
    used = tiles[::stride]
    window = _window(edges)
    power = np.zeros([*edges[:-1], edges[-1] // 2 + 1])
    for tile in used:
        x = values.reals(tile).reshape(edges)
        x[np.isnan(x)] = part["mean"]
        x -= x.mean()
        transformed = np.fft.rfftn(x * window)
        power += transformed.real**2 + transformed.imag**2
    power /= len(used) * float((window**2).sum())
    frequency, mean_power = _shells(power, edges)
    return {
        "axes": list(axes),
        "tile": edges,
        "values": len(used) * math.prod(edges),
        "of": values.bits.size,
        "frequency": frequency.tolist(),
        "power": mean_power.tolist(),
        **_fit(frequency, mean_power, len(axes), max(edges)),
    }


def _axes(values: Field) -> tuple[int, ...]:
    taken: list[int] = []
    for axis in reversed(values.inside):
        if values.shape[axis] < SHORTEST or len(taken) == 3:
            break
        taken.insert(0, axis)
    return tuple(taken)


def _tiles(values: Field, axes: tuple[int, ...], edges: list[int]) -> list[Block]:
    lengths = dict(zip(axes, edges, strict=True))
    starts = []
    for axis, n in enumerate(values.shape):
        edge = lengths.get(axis, 1)
        starts.append([slice(s, s + edge) for s in range(0, n - edge + 1, edge)])
    return list(product(*starts))


def _window(edges: list[int]) -> Reals:
    """Hann's, periodic, as a product over the axes."""
    window: Reals = np.ones(edges)
    for axis, n in enumerate(edges):
        one = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n)
        window *= one.reshape([-1 if a == axis else 1 for a in range(len(edges))])
    return window


def _shells(power: Reals, edges: list[int]) -> tuple[Reals, Reals]:
    """Mean frequency and mean power of each shell, from one wave on the longest edge to half a cycle a grid length."""
    squared = np.zeros(power.shape)
    for axis, n in enumerate(edges):
        f = np.fft.rfftfreq(n) if axis == len(edges) - 1 else np.fft.fftfreq(n)
        squared += (f**2).reshape([-1 if a == axis else 1 for a in range(len(edges))])
    length = np.sqrt(squared)
    modes = np.full(power.shape, 2.0)  # the half that is not stored is the mirror of the one that is
    modes[..., 0] = 1.0
    if edges[-1] % 2 == 0:
        modes[..., -1] = 1.0
    longest = max(edges)
    bounds = [k - 0.5 for k in range(1, min(_WHOLE, longest // 2) + 1)]
    while bounds[-1] < longest / 2:
        bounds.append(max(bounds[-1] + 1, bounds[-1] * _GROWTH))
    shell = np.digitize(length * longest, bounds) - 1
    inside = (shell >= 0) & (shell < len(bounds) - 1) & (length <= 0.5)
    which, weight = shell[inside], modes[inside]
    count = np.bincount(which, weight, len(bounds) - 1)
    kept = count > 0
    mean = [np.bincount(which, weight * v[inside], len(bounds) - 1)[kept] / count[kept] for v in (length, power)]
    return mean[0], mean[1]


def _fit(frequency: Reals, power: Reals, axes: int, longest: int) -> dict[str, Any]:
    low, high = FIT[0] / longest, FIT[1]
    kept = (frequency >= low * (1 - 1e-9)) & (frequency <= high) & (power > 0)
    if kept.sum() < 3:
        return {"slope": None, "energy_slope": None, "intercept": None, "r_squared": None, "fitted": [low, high]}
    x, y = np.log10(frequency[kept]), np.log10(power[kept])
    slope, intercept = (float(v) for v in np.polyfit(x, y, 1))
    left = float(((y - slope * x - intercept) ** 2).sum())
    spread = float(((y - y.mean()) ** 2).sum())
    return {
        "slope": slope,
        "energy_slope": slope + axes - 1,
        "intercept": intercept,
        "r_squared": 1 - left / spread if spread else None,
        "fitted": [low, high],
    }
