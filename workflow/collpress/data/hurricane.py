"""A hurricane-like vortex on the grid of a weather model: an analytic mean state and random fluctuations.

Nothing here is simulated or observed. The mean state is Holland's profile of pressure and gradient wind (Holland 1980,
Mon. Wea. Rev. 108, 1212-1218) around one centre, weaker and wider with height, turned inwards near the surface, in a
uniform wind with vertical shear. The fluctuations are random fields with the spectra of the inertial range that fall
faster where a weather model no longer resolves (below about seven grid lengths: Skamarock 2004, Mon. Wea. Rev. 132,
3019-3032).

The domain is always 2000 km x 2000 km x 20 km; the shape says how finely it is divided. Metres, seconds, pascals.
"""

from __future__ import annotations

import math

import numpy as np

from collpress.data.arithmetic.elementary import cube_root, exponential, logarithm
from collpress.data.arithmetic.random_field import random_field
from collpress.data.arithmetic.sampling import Values
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError

_WIDTH, _HEIGHT = 2.0e6, 2.0e4
_CENTRE = (0.93e6, 1.05e6)
"""y and x of the centre."""
_DEFICIT = 7500.0
"""Surface pressure far away less that in the centre."""
_SHARPNESS = 1.6
"""Holland's B."""
_RADIUS, _WIDENING = 4.0e4, 2.0
"""Radius of maximum wind at the surface, and how much it grows for each metre of height."""
_DENSITY, _SCALE_HEIGHT = 1.15, 8.0e3
"""Of the air at the surface, and the height over which it falls to 1/e."""
_TOP = 1.6e4
"""Above this height there is no vortex."""
_CORIOLIS = 7.9e-5
"""At 33 degrees north, in 1/s."""
_INFLOW, _BOUNDARY_LAYER = 0.45, 1.5e3
"""Tangent of the angle by which the surface wind turns inwards, and the height where it no longer does."""
_STEERING = (-5.0, 5.0)
"""Uniform wind at the surface towards x and y."""
_SHEAR = 1.0e-3
"""Growth of the uniform wind towards x with height, in 1/s."""
_GUST, _GUST_WIND = 2.0, 20.0
"""Standard deviation of the wind's fluctuations in still air, and the mean wind at which it is twice as large."""
_PRESSURE_FLUCTUATION = 40.0
"""Standard deviation of the pressure's fluctuations at the surface."""
_RESOLVED = 7
"""Grid lengths of the shortest wave that a model of this grid resolves."""


def wind(component: str, seed: int, shape: tuple[int, ...]) -> Values:
    """Wind towards x (`u`) or y (`v`) in m/s: float32 of shape (levels, rows, points a row)."""
    axis = "uv".index(component)
    dy, dx, distance, log_distance = _plane(shape)
    gusts = _fluctuations(seed, shape, stream=2 * axis, pressure=False)
    values = np.empty(shape, dtype=np.float32)
    for level, height in enumerate(_heights(shape)):
        speed = _gradient_wind(distance, log_distance, height)
        inwards = _INFLOW * max(0.0, 1.0 - height / _BOUNDARY_LAYER)
        along = 1.0 / math.sqrt(1.0 + inwards * inwards)
        turned = -(dy + inwards * dx) if component == "u" else dx - inwards * dy
        mean = speed * along * turned / distance
        mean += _STEERING[axis] + (_SHEAR * height if component == "u" else 0.0)
        mean += _GUST * (1.0 + speed / _GUST_WIND) * _crop(gusts[level], shape)
        values[level] = mean
    return values


def pressure(seed: int, shape: tuple[int, ...]) -> Values:
    """Deviation of the pressure from that of the surroundings at the same height, in Pa: float32 of `shape`."""
    _, _, _, log_distance = _plane(shape)
    noise = _fluctuations(seed, shape, stream=4, pressure=True)
    values = np.empty(shape, dtype=np.float32)
    for level, height in enumerate(_heights(shape)):
        thinner = _exponential(-height / _SCALE_HEIGHT)
        filled = exponential(-_holland(log_distance, height))
        mean = _DEFICIT * thinner * _strength(height) * (filled - 1.0)
        mean += _PRESSURE_FLUCTUATION * thinner * _crop(noise[level], shape)
        values[level] = mean
    return values


def _gradient_wind(distance: Reals, log_distance: Reals, height: float) -> Reals:
    """Holland (1980), eq. 5: √(B Δp/ρ x e^(−x) + (r f/2)²) − r f/2 with x = (R/r)^B."""
    x = _holland(log_distance, height)
    turning = distance * (0.5 * _CORIOLIS)
    push = _SHARPNESS * _DEFICIT * _strength(height) / _DENSITY
    speed: Reals = np.sqrt(push * x * exponential(-x) + turning * turning) - turning
    return speed


def _holland(log_distance: Reals, height: float) -> Reals:
    """(R/r)^B, at most 700: beyond that e^(−x) is nothing."""
    log_radius = float(logarithm(np.array([_RADIUS + _WIDENING * height]))[0])
    return np.minimum(exponential(_SHARPNESS * (log_radius - log_distance)), 700.0)


def _strength(height: float) -> float:
    """Of the vortex, as a fraction of that at the surface: pressure deficit over density."""
    return max(0.0, 1.0 - height / _TOP)


def _plane(shape: tuple[int, ...]) -> tuple[Reals, Reals, Reals, Reals]:
    """Distances from the centre towards y, towards x and in all, and the logarithm of the last; at least 1 m."""
    if len(shape) != 3:
        raise CollpressError(
            f"shape {'x'.join(map(str, shape))} has not three axes",
            where="generator vortex",
            allowed="levels, rows, points a row, for example 100x500x500",
        )
    rows, points = shape[1:]
    dy = (np.arange(rows, dtype=np.float64) + 0.5) * (_WIDTH / rows) - _CENTRE[0]
    dx = (np.arange(points, dtype=np.float64) + 0.5) * (_WIDTH / points) - _CENTRE[1]
    distance = np.maximum(np.sqrt(dy[:, None] * dy[:, None] + dx * dx), 1.0)
    return dy[:, None], dx[None, :], distance, logarithm(distance)


def _heights(shape: tuple[int, ...]) -> list[float]:
    return [(level + 0.5) * (_HEIGHT / shape[0]) for level in range(shape[0])]


def _fluctuations(seed: int, shape: tuple[int, ...], stream: int, *, pressure: bool) -> Reals:
    """A random field of at least this shape, standard deviation 1, periodic in a box of powers of two."""
    box = tuple(max(2, 1 << (n - 1).bit_length()) for n in shape)
    cut = (max(box) / _RESOLVED) * (max(box) / _RESOLVED)

    def amplitude(squared: Reals) -> Reals:
        """k^(−11/6) for the wind (energy k^(−5/3)), k^(−13/6) for the pressure (k^(−7/3)), over 1 + (k/cut)²."""
        twelfth = np.sqrt(np.sqrt(cube_root(squared)))
        inertial = 1.0 / (twelfth * squared) if pressure else twelfth / squared
        return inertial / (1.0 + squared / cut)

    return random_field(seed, box, amplitude, (stream, stream + 1))


def _crop(plane: Reals, shape: tuple[int, ...]) -> Reals:
    return plane[: shape[1], : shape[2]]


def _exponential(x: float) -> float:
    return float(exponential(np.array([x]))[0])
