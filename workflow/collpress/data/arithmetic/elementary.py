"""Logarithm, cube root and sum from correctly rounded operations."""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.words import Reals

_LN2 = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476


def logarithm(x: Reals) -> Reals:
    """Natural logarithm of positive normal numbers, to about 2 ulp.

    x = m · 2**e with m in [√½, √2); ln m = 2 artanh(s), s = (m − 1)/(m + 1), as its series;
    |s| < 0.172, so that 12 terms do.
    """
    mantissa, exponent = np.frexp(x)
    small = mantissa < _SQRT_HALF
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    power = exponent.astype(np.float64) - small.astype(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = np.full_like(z, 1.0 / 23.0)
    for odd in range(21, 0, -2):
        series *= z
        series += 1.0 / odd
    series *= s
    series *= 2.0
    power *= _LN2
    power += series
    return power


def cube_root(x: Reals) -> Reals:
    """Cube root of positive numbers by Newton's steps from a power of two that is not below it."""
    exponent = np.frexp(x)[1]
    root: Reals = np.ldexp(np.ones_like(x), -((-exponent) // 3))
    for _ in range(8):  # starts within a factor 2.6 and squares its error: 8 steps reach the last bits
        root = (root + root + x / (root * root)) / 3.0
    return root


def total(x: Reals) -> float:
    """Sum in a fixed order: halves are added to each other until one number is left."""
    rest = x.reshape(-1)
    while rest.size > 1:
        half = rest.size // 2
        added = rest[:half] + rest[half : 2 * half]
        rest = np.concatenate((added, rest[2 * half :])) if rest.size % 2 else added
    return float(rest[0]) if rest.size else 0.0
