"""Independent values whose logarithm is normal: positive, over orders of magnitude, as rain or concentrations are."""

from __future__ import annotations

from collpress.data.arithmetic.elementary import exponential
from collpress.data.arithmetic.quantiles import normal
from collpress.data.arithmetic.sampling import Values, independent
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError

_WIDEST = 10.0
"""e to the power of ten times the largest normal number that there is, 8.3, is still a float32."""


def field(seed: int, shape: tuple[int, ...], *, sigma: float = 1.0, scale: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only.

    Parameters
    ----------
    sigma : standard deviation of the logarithm.
    scale : the median.

    Errors: sigma is not between 0 and 10.
    """
    if not 0.0 < sigma <= _WIDEST:
        raise CollpressError(f"sigma is {sigma}", where="generator lognormal", allowed=f"above 0, {_WIDEST:g} at most")

    def quantile(u: Reals) -> Reals:
        return exponential(normal(u) * sigma)

    return independent(quantile, seed, shape, scale)
