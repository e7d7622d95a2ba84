"""Independent values, each as likely as any other between `low` and `high`: nothing to predict, no heavy tail."""

from __future__ import annotations

from collpress.data.arithmetic.sampling import Values, independent
from collpress.data.arithmetic.words import Reals
from collpress.errors import CollpressError


def field(seed: int, shape: tuple[int, ...], *, low: float = 0.0, high: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only. Errors: low is not below high."""
    if not low < high:
        raise CollpressError(f"low is {low}, high is {high}", where="generator uniform", allowed="low below high")

    def between(u: Reals) -> Reals:
        return u * (high - low) + low

    return independent(between, seed, shape, 1.0)
