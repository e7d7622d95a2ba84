"""A random field in three dimensions with the energy spectrum of turbulence, E(k) ~ k^(−5/3).

Mean 0, standard deviation 1; smooth at large scales and rough at small ones, as fields of weather and turbulence codes
are. Each axis is a power of two long.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collpress.data.arithmetic.elementary import cube_root, total
from collpress.data.arithmetic.fourier import inverse_real_field
from collpress.data.arithmetic.quantiles import normal
from collpress.data.arithmetic.sampling import Values
from collpress.data.arithmetic.words import Reals, Uniforms
from collpress.errors import CollpressError

_SQRT2 = 1.4142135623730951


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape`. Errors: not three axes, or one that is no power of two."""
    re, im = spectrum(seed, shape)
    values = inverse_real_field(re, im)
    del re, im
    variance = total(np.array([total(plane * plane) for plane in values])) / values.size
    values /= np.sqrt(variance)
    return values.astype(np.float32)


def spectrum(seed: int, shape: tuple[int, ...]) -> tuple[Reals, Reals]:
    """Real and imaginary parts of the half spectrum, shape (n0, n1, n2/2 + 1): normal numbers times k^(−11/6).

    In three dimensions E(k) ~ 4πk² |X|², hence |X|² ~ k^(−11/3). The planes k2 = 0 and k2 = n2/2 are their own mirror
    images: the inverse transform keeps their Hermitian half, (X(k) + X*(−k))/2, which has half the variance, so they
    start with twice as much.
    """
    if len(shape) != 3 or any(n < 2 or n & (n - 1) for n in shape):
        raise CollpressError(
            f"shape {'x'.join(map(str, shape))} does not suit a Fourier transform of radix 2",
            where="generator power-law",
            allowed="three axes, each a power of two from 2 on, for example 128x128x256",
        )
    n0, n1, n2 = shape
    half = (n0, n1, n2 // 2 + 1)
    k0, k1, k2 = (_squared_wave_numbers(n, max(shape)) for n in shape)
    amplitudes = _amplitudes(int(k0.max() + k1.max() + k2.max()))
    re, im = np.empty(half), np.empty(half)
    uniforms = Uniforms(seed, 0), Uniforms(seed, 1)
    for i in range(n0):
        amplitude = amplitudes[k0[i] + k1[:, None] + k2[: half[2]]]
        amplitude[:, [0, -1]] *= _SQRT2
        for part, numbers in zip((re, im), uniforms, strict=True):
            part[i] = normal(numbers.take(amplitude.size)).reshape(amplitude.shape) * amplitude
    return re, im


def _squared_wave_numbers(n: int, longest: int) -> npt.NDArray[np.int64]:
    """k² along an axis of n points, in cycles per the longest axis: the grid is equally fine in every direction."""
    j = np.arange(n, dtype=np.int64)
    wave: npt.NDArray[np.int64] = np.minimum(j, n - j) * (longest // n)
    return np.multiply(wave, wave)


def _amplitudes(largest: int) -> Reals:
    """k^(−11/6) for each integer k² up to `largest`, as (k²)^(1/12) / k²; 0 for k = 0, so that the mean is 0."""
    squared = np.arange(1, largest + 1, dtype=np.float64)
    return np.concatenate((np.zeros(1), np.sqrt(np.sqrt(cube_root(squared))) / squared))
