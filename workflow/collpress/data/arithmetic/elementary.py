"""Logarithm, exponential, cube root and sum from correctly rounded operations."""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.words import Reals

_LN2 = 0.6931471805599453
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
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


def exponential(x: Reals) -> Reals:
    """e to the power of x, |x| ≤ 700, to about 2 ulp.

    x = k ln 2 + r with |r| ≤ ½ ln 2; ln 2 in two parts, of which the first times k is exact; Taylor's series of e^r,
    whose 14th power is below 1e-17.
    """
    power = np.rint(x / _LN2)
    r = x - power * _LN2_HIGH
    r -= power * _LN2_LOW
    series = np.ones_like(r)
    for n in range(14, 0, -1):
        series *= r
        series /= float(n)
        series += 1.0
    result: Reals = np.ldexp(series, power.astype(np.int32))
    return result


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
