"""What a codec must do to values, judged without trusting floating-point rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def bits(values: Array) -> Array:
    """The values' bytes as integers."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def violations(values: Array, back: Array, bound: float) -> list[str]:
    """Where `back` breaks |x − x'| ≤ bound for finite x, or loses a NaN or an infinity; empty when all is well.

    Differences near the bound are taken as fractions: exact.
    """
    assert back.shape == values.shape
    finite = np.isfinite(values)
    found = [f"[{i}] {values[i]} became {back[i]}" for i in np.flatnonzero(finite & ~np.isfinite(back))[:3]]
    infinite = np.isinf(values)
    found += [f"[{i}] {values[i]} became {back[i]}" for i in np.flatnonzero(infinite & (back != values))[:3]]
    found += [f"[{i}] NaN became {back[i]}" for i in np.flatnonzero(np.isnan(values) & ~np.isnan(back))[:3]]
    both = np.flatnonzero(finite & np.isfinite(back))
    with np.errstate(all="ignore"):
        error = np.abs(values[both].astype(np.longdouble) - back[both].astype(np.longdouble))
    for i in both[(error > 0) & (error >= np.longdouble(bound) * (1 - 2.0**-40))]:
        exact = abs(Fraction(float(values[i])) - Fraction(float(back[i])))
        if exact > Fraction(bound):
            found.append(f"[{i}] {values[i]!r} became {back[i]!r}: off by {float(exact)!r}, bound {bound!r}")
            if len(found) > 8:
                break
    return found


def power_law(side: int, seed: int = 0) -> Array:
    """A cube of a Gaussian random field whose energy spectrum falls as k^(−5/3); float32, raveled."""
    noise = np.random.default_rng(seed).standard_normal((side,) * 3, dtype=np.float32)
    k = np.fft.fftfreq(side) * side
    square = k[:, None, None] ** 2 + k[None, :, None] ** 2 + (np.fft.rfftfreq(side) * side)[None, None, :] ** 2
    square[0, 0, 0] = 1
    spectrum = np.fft.rfftn(noise) * square ** ((-5 / 3 - 2) / 4)
    spectrum[0, 0, 0] = 0
    return np.fft.irfftn(spectrum, s=noise.shape, axes=(0, 1, 2)).astype(np.float32).ravel()


def hard_cases() -> list[tuple[Array, float]]:
    """Values and bounds of which some have given some codec trouble."""
    rng = np.random.default_rng(3)
    cases: list[tuple[Array, float]] = []
    for dtype in ("float32", "float64"):
        for size in (1, 127, 128, 129, 256, 257, 65536, 65537, 70001):
            walk = np.cumsum(rng.standard_normal(size)).astype(dtype)
            cases += [(walk, bound) for bound in (10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-7)]
        with np.errstate(over="ignore"):
            wild = (rng.standard_normal(9000) * 2.0 ** rng.integers(-149, 128, 9000)).astype(dtype)
        wild[::97] = np.nan
        wild[::89] = np.inf
        cases += [(wild, bound) for bound in (1e-45, 1e-30, 1.0, 1e30, 1e38, 1e300)]
        steps = np.repeat(rng.integers(-(2**30), 2**30, 300), rng.integers(1, 60, 300)).astype(dtype)
        cases += [(steps, bound) for bound in (0.5, 3.0, 1e4, 1e9)]
    return cases


def unaligned(values: Array, offset: int = 1) -> Array:
    """The same values, `offset` bytes off any alignment."""
    memory = np.zeros(values.nbytes + 64, dtype=np.uint8)
    start = (-memory.ctypes.data % 32) + offset
    view = memory[start : start + values.nbytes].view(values.dtype)
    view[:] = values
    return view
