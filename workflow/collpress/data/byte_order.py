"""Values that lie where they cannot: most often their bytes are in the wrong order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError

Values = npt.NDArray[np.float32]


def refuse_out_of_range(
    pieces: Callable[[], Iterable[Values]], bounds: tuple[float, float], missing_value: float | None, where: str
) -> None:
    """Refuse values outside of the range that the registry gives.

    Parameters
    ----------
    pieces : gives the values, float32 of any shape, as often as it is called.
    bounds : smallest and largest allowed value; both are allowed.
    missing_value : what stands for "no data" and may lie anywhere. NaN and infinite values are another check's matter.

    Errors
    ------
    CollpressError: some lie outside; or they look like numbers whose bytes are in the wrong order (outside, not finite,
    or so small that a float32 hardly holds them), and hardly any would do so with their bytes reversed.
    """
    outside, strange, size = _strange(pieces(), bounds, missing_value)
    if not strange:
        return
    low, high = bounds
    reversed_bytes = (piece.byteswap() for piece in pieces())
    outside_reversed, strange_reversed, _ = _strange(reversed_bytes, bounds, missing_value)
    if not outside_reversed and 10 * strange_reversed <= strange:
        raise CollpressError(
            f"it looks byte-swapped: {strange} of {size} values lie outside {low:g} to {high:g} or next to 0,"
            f" with their bytes reversed {strange_reversed or 'none'}",
            where=where,
            fix="say the other byte_order in the registry, little or big",
        )
    if outside:
        raise CollpressError(
            f"{outside} of {size} values lie outside {low:g} to {high:g}",
            where=where,
            allowed="the range that the registry gives",
            fix="check byte_order, missing and range in the registry, and that the file is the right one",
        )


def _strange(
    pieces: Iterable[Values], bounds: tuple[float, float], missing_value: float | None
) -> tuple[int, int, int]:
    """How many finite values lie outside, how many are strange in any way, and how many there are."""
    low, high = map(np.float32, bounds)
    count = strange = size = 0
    for values in pieces:
        finite = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            outside = (values < low) | (values > high)
            subnormal = (values != 0) & (np.abs(values) < np.finfo(np.float32).smallest_normal)
        outside &= finite
        if missing_value is not None:
            outside &= values != np.float32(missing_value)
        beyond = int(np.count_nonzero(outside))
        count, size = count + beyond, size + values.size
        strange += beyond + int(np.count_nonzero(subnormal)) + int(np.count_nonzero(~finite))
    return count, strange, size
