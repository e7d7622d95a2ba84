"""Which launches count: one rule for everything that is made of their times."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite


def counted(times: Iterable[float]) -> tuple[float, ...]:
    """The times (s) that a launch can have: a launch without a positive, finite time does not count.

    >>> counted([1e-6, 0.0, -1.0, float("nan"), float("inf")])
    (1e-06,)
    """
    return tuple(float(time) for time in times if time > 0 and isfinite(time))
