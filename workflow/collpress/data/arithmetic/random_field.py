"""Random fields in three dimensions with a given spectrum: normal numbers times an amplitude for each wave number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from collpress.data.arithmetic.elementary import total
from collpress.data.arithmetic.fourier import inverse_real_field
from collpress.data.arithmetic.quantiles import normal
from collpress.data.arithmetic.words import Reals, Uniforms

_SQRT2 = 1.4142135623730951

Amplitude = Callable[[Reals], Reals]
"""From k² (positive, in cycles per the longest axis) to the amplitude of the modes with that k."""


def random_field(seed: int, shape: tuple[int, ...], amplitude: Amplitude, streams: tuple[int, int] = (0, 1)) -> Reals:
    """A periodic field of mean 0 and standard deviation 1; each of the three axes is a power of two long."""
    values = inverse_real_field(*spectrum(seed, shape, amplitude, streams))
    variance = total(np.array([total(plane * plane) for plane in values])) / values.size
    values /= np.sqrt(variance)
    return values


def spectrum(
    seed: int, shape: tuple[int, ...], amplitude: Amplitude, streams: tuple[int, int] = (0, 1)
) -> tuple[Reals, Reals]:
    """Real and imaginary parts of the half spectrum, shape (n0, n1, n2/2 + 1).

    The planes k2 = 0 and k2 = n2/2 are their own mirror images: the inverse transform keeps their Hermitian half,
    (X(k) + X*(−k))/2, which has half the variance, so they start with twice as much. The mean's amplitude is 0.

    Parameters
    ----------
    streams : of the seed, for the real and the imaginary parts.
    """
    n0, n1, n2 = shape
    half = (n0, n1, n2 // 2 + 1)
    k0, k1, k2 = (_squared_wave_numbers(n, max(shape)) for n in shape)
    squared = np.arange(1, int(k0.max() + k1.max() + k2.max()) + 1, dtype=np.float64)
    amplitudes = np.concatenate((np.zeros(1), amplitude(squared)))
    re, im = np.empty(half), np.empty(half)
    uniforms = [Uniforms(seed, stream) for stream in streams]
    for i in range(n0):
        plane = amplitudes[k0[i] + k1[:, None] + k2[: half[2]]]
        plane[:, [0, -1]] *= _SQRT2
        for part, numbers in zip((re, im), uniforms, strict=True):
            part[i] = normal(numbers.take(plane.size)).reshape(plane.shape) * plane
    return re, im


def _squared_wave_numbers(n: int, longest: int) -> npt.NDArray[np.int64]:
    """k² along an axis of n points, in cycles per the longest axis: the grid is equally fine in every direction."""
    j = np.arange(n, dtype=np.int64)
    wave: npt.NDArray[np.int64] = np.minimum(j, n - j) * (longest // n)
    return np.multiply(wave, wave)
