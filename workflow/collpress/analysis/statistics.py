"""The median over launches and its confidence limits.

Between launches of one program times vary more than within a launch, so a launch gives one value (its median) and the
limits come from the order statistics of those values: no law is assumed (Hoefler and Belli 2015; Hunold and
Carpen-Amarie 2016). With fewer than six launches no pair of order statistics covers the median with 95 %; then the
limits are the smallest and the largest value, whose exact coverage is stated instead (93.75 % for five launches).
"""

from __future__ import annotations

from math import comb

import numpy as np
import xarray as xr

CONFIDENCE = 0.95


def order_statistics(n: int, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """The 0-based positions (low, high) among `n` sorted values that bound the median with at least `confidence`.

    Where no pair does (n < 6 at 95 %) they are (0, n - 1). Exact binomial probabilities, not the normal approximation.

    >>> order_statistics(5), order_statistics(6), order_statistics(10)
    ((0, 4), (0, 5), (1, 8))
    """
    if n < 1:
        raise ValueError("order statistics need at least one value")
    low = 0
    while low + 1 <= (n - 1) // 2 and _coverage(n, low + 1) >= confidence:
        low += 1
    return low, n - 1 - low


def coverage(n: int, confidence: float = CONFIDENCE) -> float:
    """Probability that the limits of `order_statistics(n)` hold the median of a continuous law.

    >>> coverage(5), coverage(6), coverage(1)
    (0.9375, 0.96875, 0.0)
    """
    return _coverage(n, order_statistics(n, confidence)[0])


def _coverage(n: int, low: int) -> float:
    return float(sum(comb(n, i) for i in range(low + 1, n - low)) / 2**n)


def median_over(values: xr.DataArray, dim: str = "launch", confidence: float = CONFIDENCE) -> xr.Dataset:
    """Median over `dim` with limits; NaN entries are launches without a value and are left out.

    Returns a Dataset without `dim`: `median`, `ci_low`, `ci_high` in the units of `values`, `coverage` (0 to 1) and
    `n`. Where no value exists the first four are NaN and `n` is 0.
    """
    data = np.sort(np.moveaxis(np.asarray(values.values, dtype=np.float64), values.get_axis_num(dim), -1), axis=-1)
    n = np.count_nonzero(~np.isnan(data), axis=-1)
    shape = n.shape
    out = {name: np.full(shape, np.nan) for name in ("median", "ci_low", "ci_high", "coverage")}
    for size in (int(s) for s in np.unique(n) if s):
        rows = n == size
        chosen = data[rows][:, :size]
        low, high = order_statistics(size, confidence)
        out["median"][rows] = np.median(chosen, axis=-1)
        out["ci_low"][rows] = chosen[:, low]
        out["ci_high"][rows] = chosen[:, high]
        out["coverage"][rows] = coverage(size, confidence)
    like = values.isel({dim: 0}, drop=True)
    arrays = {name: like.copy(data=array) for name, array in out.items()}
    arrays["n"] = like.copy(data=n.astype(np.int32))
    return xr.Dataset({name: array.drop_attrs() for name, array in arrays.items()})
