"""Values that lie where they cannot: most often their bytes are in the wrong order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError

Values = npt.NDArray[np.float32]


def refuse_out_of_range(values: Values, bounds: tuple[float, float], missing_value: float | None, where: str) -> None:
    """Refuse values outside of the range that the registry gives.

    Parameters
    ----------
    values : float32, any shape.
    bounds : smallest and largest allowed value; both are allowed.
    missing_value : what stands for "no data" and may lie anywhere. NaN and infinite values are another check's matter.

    Errors
    ------
    CollpressError: some lie outside; it says so if all would lie inside with their bytes reversed.
    """
    outside = _outside(values, bounds, missing_value)
    strange = outside + np.count_nonzero(~np.isfinite(values))
    if not strange:
        return
    low, high = bounds
    reversed_values = values.byteswap()
    if np.isfinite(reversed_values).all() and not _outside(reversed_values, bounds, missing_value):
        raise CollpressError(
            f"it looks byte-swapped: {strange} of {values.size} values lie outside {low:g} to {high:g},"
            " with their bytes reversed all lie inside",
            where=where,
            fix="say the other byte_order in the registry, little or big",
        )
    if outside:
        raise CollpressError(
            f"{outside} of {values.size} values lie outside {low:g} to {high:g}",
            where=where,
            allowed="the range that the registry gives",
            fix="check byte_order, missing and range in the registry, and that the file is the right one",
        )


def _outside(values: Values, bounds: tuple[float, float], missing_value: float | None) -> int:
    with np.errstate(invalid="ignore"):
        low, high = np.float32(bounds[0]), np.float32(bounds[1])
        out = (values < low) | (values > high)
    out &= np.isfinite(values)
    if missing_value is not None:
        out &= values != np.float32(missing_value)
    return int(np.count_nonzero(out))
