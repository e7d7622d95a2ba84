"""Raw values: a file of float32 numbers in C order and nothing else, as SDRBench publishes its fields."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError


def read(path: Path, shape: tuple[int, ...], byte_order: Literal["little", "big"]) -> npt.NDArray[np.float32]:
    """All values, as float32 of `shape` (slowest axis first), in the file's byte order.

    Errors
    ------
    CollpressError: the file has another length than the shape asks for.
    """
    values = np.fromfile(path, dtype="<f4" if byte_order == "little" else ">f4")
    needed, found = 4 * int(np.prod(shape)), path.stat().st_size
    if found != needed:
        text = " x ".join(map(str, shape))
        raise CollpressError(f"the file has {found} bytes, {text} values of 4 bytes are {needed}", where=str(path))
    return values.reshape(shape)
