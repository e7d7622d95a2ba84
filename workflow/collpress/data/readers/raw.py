"""Raw values: a file of numbers in C order and nothing else, as SDRBench publishes its fields."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from collpress.data.formats import FILE_BYTES, RawValues
from collpress.data.readers.stored import Stored
from collpress.errors import CollpressError


def read(path: Path, shape: tuple[int, ...], form: RawValues) -> Stored:
    """All values, of `shape` (slowest axis first), in the file's byte order; mapped, not copied.

    Errors
    ------
    CollpressError: the file has another length than the shape asks for.
    """
    size = FILE_BYTES[form.dtype]
    needed, found = size * math.prod(shape), path.stat().st_size
    if found != needed:
        text = " x ".join(map(str, shape))
        raise CollpressError(f"the file has {found} bytes, {text} values of {size} bytes are {needed}", where=str(path))
    kind = "u2" if form.dtype == "bfloat16" else f"f{size}"
    order = "<" if form.byte_order == "little" else ">"
    return Stored(np.memmap(path, dtype=order + kind, mode="r", shape=shape), form.dtype)
