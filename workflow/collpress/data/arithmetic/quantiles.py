"""Quantile functions: a uniform number in (0, 1) becomes one of the named distribution."""

from __future__ import annotations

import numpy as np

from collpress.data.arithmetic.elementary import logarithm
from collpress.data.arithmetic.words import Reals

# Wichura (1988), Algorithm AS 241 (PPND16), Applied Statistics 37, 477-484; highest power first.
_CENTRE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_TAIL = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_FAR_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)


def normal(u: Reals) -> Reals:
    """Standard normal, relative error about 1e-15 (AS 241)."""
    q = u - 0.5
    r = 0.180625 - q * q
    x = _ratio(_CENTRE, r) * q
    outer = np.abs(q) > 0.425
    x[outer] = _tail(u[outer])
    return x


def laplace(u: Reals) -> Reals:
    """Laplace with scale 1: ±ln of twice the smaller tail; standard deviation √2."""
    q = u - 0.5
    size = -logarithm(2.0 * np.minimum(u, 1.0 - u))
    return np.copysign(size, q)


def student_t4(u: Reals) -> Reals:
    """Student's t with 4 degrees of freedom, whose quantile has a closed form (Shaw 2006, J. Comput. Finance 9(4)).

    t² = 4 (c/s − 1) with s = √(4u(1−u)) and c = cos(arccos(s)/3), that is 4c³ − 3c = s. Written with e = 1 − c, so that
    nothing cancels near the median: 9e − 12e² + 4e³ = D, D = 1 − s = (2u−1)²/(1+s), and t² = 16 (1−e) e (2−e) / s.
    """
    q = u - 0.5
    s = np.sqrt(4.0 * u * (1.0 - u))
    distance = 4.0 * (q * q) / (1.0 + s)
    e = distance / 9.0
    for _ in range(
        6
    ):  # the cubic is concave and rising here and the start is left of its root: Newton's steps rise to it
        value = e * (9.0 - e * (12.0 - 4.0 * e)) - distance
        slope = 9.0 - e * (24.0 - 12.0 * e)
        e -= value / slope
    t = 4.0 * np.sqrt((1.0 - e) * e * (2.0 - e) / s)
    return np.copysign(t, q)


def _tail(u: Reals) -> Reals:
    r = np.sqrt(-logarithm(np.minimum(u, 1.0 - u)))
    x = _ratio(_TAIL, r - 1.6)
    far = r > 5.0
    x[far] = _ratio(_FAR_TAIL, r[far] - 5.0)
    return np.copysign(x, u - 0.5)


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], r: Reals) -> Reals:
    return _polynomial(polynomials[0], r) / _polynomial(polynomials[1], r)


def _polynomial(coefficients: tuple[float, ...], r: Reals) -> Reals:
    value = np.full_like(r, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= r
        value += coefficient
    return value
