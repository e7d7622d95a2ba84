"""A random field in three dimensions with the energy spectrum of turbulence, E(k) ~ k^(−5/3).

Mean 0, standard deviation 1; smooth at large scales and rough at small ones, as fields of weather and turbulence codes
are. Each axis is a power of two long.
"""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.elementary import cube_root
from collpress.data.arithmetic.random_field import random_field
from collpress.data.arithmetic.sampling import Values
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError


def field(seed: int, shape: tuple[int, ...]) -> Values:
    """float32 of `shape`. Errors: not three axes, or one that is no power of two."""
    if len(shape) != 3 or any(n < 2 or n & (n - 1) for n in shape):
        raise CollpressError(
            f"shape {'x'.join(map(str, shape))} does not suit a Fourier transform of radix 2",
            where="generator power-law",
            allowed="three axes, each a power of two from 2 on, for example 128x128x256",
        )
    return random_field(seed, shape, five_thirds).astype(np.float32)


def five_thirds(squared: Reals) -> Reals:
    """k^(−11/6) from k², as (k²)^(1/12) / k²: in three dimensions E(k) ~ 4πk² |X|², hence |X|² ~ k^(−11/3)."""
    return np.sqrt(np.sqrt(cube_root(squared))) / squared
