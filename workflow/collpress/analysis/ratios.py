"""Ratios of medians with bootstrap limits. Ratios are made last and never averaged (Hoefler and Belli, rule 4)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from collpress.analysis.statistics import CONFIDENCE


def ratio_of_medians(
    numerator: xr.DataArray,
    denominator: xr.DataArray,
    *,
    dim: str = "launch",
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = CONFIDENCE,
) -> xr.Dataset:
    """median(numerator) / median(denominator) over `dim`, with the percentile bootstrap's limits.

    Both arrays hold one value per launch (NaN: none) and are broadcast against each other; launches are drawn with
    replacement from each on its own, because two configurations' launches are not pairs. Returns `ratio`, `ci_low`,
    `ci_high`, and `different`: 1 where the limits exclude 1, 0 where they do not or where there is no ratio. One
    `seed`, one result. With five launches percentile limits are somewhat too narrow; say n beside them.
    """
    a, b = xr.broadcast(numerator, denominator, exclude=[dim])
    b = b.transpose(*a.dims)
    generator = np.random.Generator(np.random.PCG64(seed))
    left, right = _sorted_launches(a, dim), _sorted_launches(b, dim)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = _median(left) / _median(right)
        draws = np.stack(
            [_median(_resample(left, generator)) / _median(_resample(right, generator)) for _ in range(resamples)]
        )
    tail = (1 - confidence) / 2
    low, high = np.full(ratio.shape, np.nan), np.full(ratio.shape, np.nan)
    there = np.isfinite(ratio)
    if there.any():
        low[there], high[there] = np.quantile(draws[:, there], [tail, 1 - tail], axis=0)
    like = a.isel({dim: 0}, drop=True).drop_attrs()
    return xr.Dataset(
        {
            "ratio": like.copy(data=ratio),
            "ci_low": like.copy(data=low),
            "ci_high": like.copy(data=high),
            "different": like.copy(data=((low > 1) | (high < 1)).astype(np.int8)),
        }
    )


def _sorted_launches(values: xr.DataArray, dim: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Launches last, sorted, NaN at the end: the first n of each row are its values."""
    data = np.moveaxis(np.asarray(values.values, dtype=np.float64), values.get_axis_num(dim), -1)
    return np.sort(data, axis=-1)


def _resample(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], generator: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    n = np.count_nonzero(~np.isnan(values), axis=-1)[..., None]
    picks = np.minimum((generator.random(values.shape) * n).astype(np.int64), np.maximum(n - 1, 0))
    drawn = np.take_along_axis(values, picks, axis=-1)
    # As many draws as there are values: a launch that failed is no value, and must not lend its place to another.
    return np.sort(np.where(np.arange(values.shape[-1]) < n, drawn, np.nan), axis=-1)


def _median(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Median of the non-NaN head of sorted rows; NaN where a row has none."""
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    middle = [np.maximum((n - 1) // 2, 0)[..., None], np.maximum(n // 2, 0)[..., None]]
    low, high = (np.take_along_axis(values, np.minimum(m, values.shape[-1] - 1), axis=-1)[..., 0] for m in middle)
    return np.asarray((low + high) / 2, dtype=np.float64)
