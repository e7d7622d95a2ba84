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
    CollpressError: some lie outside; or they look like numbers whose bytes are in the wrong order (outside, not finite,
    or so small that a float32 hardly holds them), and hardly any would do so with their bytes reversed.
    """
    outside, strange = _strange(values, bounds, missing_value)
    if not strange:
        return
    low, high = bounds
    outside_reversed, strange_reversed = _strange(values.byteswap(), bounds, missing_value)
    if not outside_reversed and 10 * strange_reversed <= strange:
        raise CollpressError(
            f"it looks byte-swapped: {strange} of {values.size} values lie outside {low:g} to {high:g} or next to 0,"
            f" with their bytes reversed {strange_reversed or 'none'}",
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


def _strange(values: Values, bounds: tuple[float, float], missing_value: float | None) -> tuple[int, int]:
    """How many finite values lie outside, and how many are strange in any way."""
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        outside = (values < np.float32(bounds[0])) | (values > np.float32(bounds[1]))
        subnormal = (values != 0) & (np.abs(values) < np.finfo(np.float32).smallest_normal)
    outside &= finite
    if missing_value is not None:
        outside &= values != np.float32(missing_value)
    count = int(np.count_nonzero(outside))
    return count, count + int(np.count_nonzero(subnormal)) + int(np.count_nonzero(~finite))
