"""safetensors: tensors of a model file. The package checks the file; bfloat16, which numpy lacks, is read by offset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors

from collpress.data.formats import Tensors
from collpress.data.readers.stored import Stored, chosen, joined, of_array
from collpress.errors import CollpressError

_NUMPY = {"F32", "F16", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"}


def read(path: Path, form: Tensors) -> Stored:
    """The tensors. Errors: not safetensors or damaged, no such tensor (with the nearest), several dtypes."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            names = chosen(list(file.keys()), form.tensors, str(path))
            return joined([_tensor(file, name, path) for name in names], names, path)
    except (OSError, safetensors.SafetensorError) as error:
        raise CollpressError(f"cannot read it as safetensors: {error}", where=str(path)) from None


def _tensor(file: Any, name: str, path: Path) -> Stored:
    place = file.get_slice(name)
    dtype, shape = str(place.get_dtype()), tuple(place.get_shape())
    if dtype == "BF16":
        return Stored(np.memmap(path, dtype="<u2", mode="r", offset=_offset(path, name), shape=shape), "bfloat16")
    if dtype not in _NUMPY:
        raise CollpressError(f"the values are {dtype}", where=f"{path}: {name}", allowed="F32, BF16, F16, F64")
    return of_array(file.get_tensor(name))


def _offset(path: Path, name: str) -> int:
    """Of a tensor's bytes: behind the header's length (8 bytes), the header (JSON), and the tensors before."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return 8 + length + int(json.loads(file.read(length))[name]["data_offsets"][0])
