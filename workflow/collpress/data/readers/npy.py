"""numpy's .npy: one array, mapped and not copied; nothing that would have to be unpickled."""

from __future__ import annotations

import tokenize
from pathlib import Path

import numpy as np
import numpy.typing as npt

from collpress.data.formats import NpyArray
from collpress.data.readers.stored import Stored, of_array
from collpress.errors import CollpressError

DAMAGED = (OSError, ValueError, EOFError, OverflowError, MemoryError, SyntaxError, tokenize.TokenError)
"""What numpy raises of files that are not what they seem to be; their headers are small Python texts."""


def read(path: Path, form: NpyArray) -> Stored:
    """The array. Errors: not a .npy file, damaged, or an array of objects."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGED as error:
        raise CollpressError(f"cannot read it as .npy: {error}", where=str(path)) from None
    if not isinstance(values, np.ndarray):
        raise CollpressError(
            "this is no .npy file, but a .npz file", where=str(path), fix="--format npz --key NAME (in an entry: npz)"
        )
    return as_said(values, form, str(path))


def as_said(values: npt.NDArray[np.generic], form: NpyArray, where: str) -> Stored:
    """An array of a .npy or .npz file; 16-bit words are bfloat16 where the registry says so."""
    if form.bits is None:
        return of_array(values)
    if values.dtype.kind not in "uiV" or values.dtype.itemsize != 2:
        raise CollpressError(
            f"the values are {values.dtype}", where=where, allowed="16-bit words, where they shall be bfloat16"
        )
    order = ">" if values.dtype.str.startswith(">") else "<"
    return Stored(values.view(f"{order}u2"), form.bits)
