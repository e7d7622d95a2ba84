"""SZ3, the reference for how small error-bounded streams can be: through the package `pysz`, which is no part of the
set-up (envs/sz3.txt).

No codec: it allocates, is a Python interface, and knows whole arrays only. `bench/codecs.py` puts it beside the codecs.
Prediction from reconstructed values by interpolation or Lorenzo and regression, quantisation, Huffman, Zstandard: Liang
et al., "SZ3: A Modular Framework for Composing Prediction-Based Error-Bounded Lossy Compressors", IEEE Transactions on
Big Data 9(2), 2023; Zhao et al., "Optimizing Error-Bounded Lossy Compression for Scientific Data by Dynamic Spline
Interpolation", ICDE 2021.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError

Array = npt.NDArray[Any]

MODES = ("INTERP_LORENZO", "LORENZO_REG")
"""Its algorithms: interpolation, or Lorenzo where that fits better; Lorenzo and regression in blocks."""
DTYPES = ("float32", "float64")
HOW_TO_GET = ".venv/bin/python -m pip install --require-hashes -r envs/sz3.txt"


def installed() -> bool:
    """Whether pysz is there; found without importing it."""
    return importlib.util.find_spec("pysz") is not None


def compress(values: Array, abs_bound: float, mode: str) -> npt.NDArray[np.uint8]:
    """The stream of an array of one to four dimensions, whose shape is what SZ3 predicts along.

    Parameters
    ----------
    values : float32 or float64, in any order in memory.
    abs_bound : largest |x − x'|, in the values' unit, above 0.
    mode : one of MODES.

    Raises
    ------
    CollpressError : pysz is not installed; a dtype, bound or mode that it does not take; no values.
    """
    pysz = _pysz()
    if mode not in MODES:
        raise CollpressError(f'SZ3 has no mode "{mode}" here', allowed=", ".join(MODES))
    if not 0 < abs_bound < float("inf"):
        raise CollpressError("SZ3 needs an absolute error bound", allowed="a finite number above 0")
    _check(values.dtype)
    if values.size == 0:
        raise CollpressError("SZ3 takes no empty arrays")
    config = pysz.szConfig()
    config.errorBoundMode = pysz.szErrorBoundMode.ABS
    config.absErrorBound = abs_bound
    config.cmprAlgo = getattr(pysz.szAlgorithm, mode)
    stream: npt.NDArray[np.uint8] = pysz.sz.compress(np.ascontiguousarray(values), config)[0]
    return stream


def decompress(stream: npt.NDArray[np.uint8], shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """The array of that shape and dtype from a stream of `compress`.

    Raises
    ------
    CollpressError : pysz is not installed; the stream is damaged or one of another shape.
    """
    pysz = _pysz()
    _check(np.dtype(dtype))
    try:
        values: Array = pysz.sz.decompress(stream, np.dtype(dtype).type, shape)[0]
    except (ValueError, RuntimeError) as error:
        raise CollpressError(f"SZ3: {error}") from None
    return values


def _check(dtype: np.dtype[Any]) -> None:
    if dtype.name not in DTYPES:
        raise CollpressError(f"SZ3 does not take {dtype.name}", allowed=", ".join(DTYPES))


def _pysz() -> Any:
    try:
        return importlib.import_module("pysz")
    except ImportError:
        raise CollpressError("pysz, through which SZ3 is called, is not installed", fix=HOW_TO_GET) from None
