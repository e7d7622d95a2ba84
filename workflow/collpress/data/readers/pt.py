"""Tensors that torch.save wrote (its zip format), without torch and without running anything that the file says.

The archive holds a pickle of the structure and the raw bytes of each storage. The pickle is read by an unpickler that
knows the few names which tensors, parameters and state dicts need; whatever else it names is refused.
Source: torch.serialization and torch._utils of torch 2, "Note on the zip file format".
"""

from __future__ import annotations

import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from collpress.data.formats import Tensors
from collpress.data.readers.stored import Stored, chosen, joined
from collpress.errors import CollpressError

_STORAGES = {
    "FloatStorage": "float32",
    "BFloat16Storage": "bfloat16",
    "HalfStorage": "float16",
    "DoubleStorage": "float64",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
}
_DEEPEST = 100


_DAMAGE = (
    zipfile.BadZipFile,
    pickle.UnpicklingError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
    OSError,
    NotImplementedError,
)
"""What reading a damaged archive, or a pickle in it, may raise."""


class _Refused(pickle.UnpicklingError):
    """Something in the pickle that no tensor needs."""


@dataclass(frozen=True)
class _Storage:
    values: npt.NDArray[Any]
    dtype: str


def read(path: Path, form: Tensors) -> Stored:
    """The tensors by name: keys of nested dicts joined by dots, positions in lists; a bare tensor is called `tensor`.

    Errors
    ------
    CollpressError: not torch's zip format or damaged, anything but tensors and plain containers inside, no such tensor
    (with the nearest), several dtypes.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            content = _Unpickler(archive).load()
    except _Refused as error:
        raise CollpressError(
            f"refused: {error}",
            where=str(path),
            allowed="tensors, parameters, numbers and texts in dicts and lists",
            fix="save the tensors alone: torch.save(model.state_dict(), FILE)",
        ) from None
    except _DAMAGE as error:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise CollpressError(
            f"cannot read it as a file of torch.save: {told}",
            where=str(path),
            fix="save it anew with torch 1.6 or later",
        ) from None
    found = dict(_tensors(content, ""))
    names = chosen(list(found), form.tensors, str(path))
    for name in names:
        values = found[name].values
        repeats = any(stride == 0 and n > 1 for n, stride in zip(values.shape, values.strides, strict=True))
        if repeats or values.nbytes > path.stat().st_size:
            raise CollpressError(
                f"the tensor {name} repeats its storage (expanded)", where=str(path), fix="save tensor.contiguous()"
            )
    return joined([found[name] for name in names], names, path)


class _Unpickler(pickle.Unpickler):
    """Builds tensors from storages of the archive; every name that a pickle may use is in `_allowed`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        names = archive.namelist()
        pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise ValueError("the archive has no data.pkl")
        self._archive, self._folder = archive, pickles[0].partition("/")[0]
        orders = [name for name in names if name == f"{self._folder}/byteorder"]
        self._order: Literal["<", ">"] = "<" if not orders or archive.read(orders[0]) == b"little" else ">"
        self._storages: dict[str, _Storage] = {}
        super().__init__(archive.open(pickles[0]))

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        allowed = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _rebuilt,
            ("torch._utils", "_rebuild_parameter"): _parameter,
        }
        if (module, name) not in allowed:
            raise _Refused(f"the file asks for {module}.{name}")
        return allowed[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        kind, dtype, key, _, count = pid
        if kind != "storage" or dtype not in _STORAGES.values():
            raise _Refused(f"the file refers to a {kind}")
        if key not in self._storages:
            self._storages[key] = self._storage(str(key), str(dtype), int(count))
        return self._storages[key]

    def _storage(self, key: str, dtype: str, count: int) -> _Storage:
        bits = np.dtype("u2" if dtype == "bfloat16" else dtype).newbyteorder(self._order)
        entry = self._archive.getinfo(f"{self._folder}/data/{key}")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != count * bits.itemsize:
            raise ValueError(f"storage {key} has {entry.file_size} bytes, not {count} values of {bits.itemsize} bytes")
        return _Storage(np.frombuffer(self._archive.read(entry), bits), dtype)


def _rebuilt(storage: Any, offset: Any, shape: Any, strides: Any, *unused: Any) -> Stored:
    """A tensor as a view of its storage: nothing outside of it, whatever the strides say."""
    if not isinstance(storage, _Storage) or len(shape) != len(strides) or min((offset, *shape, *strides)) < 0:
        raise ValueError("a tensor that is no view of a storage")
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    if math.prod(shape) and last >= storage.values.size:
        raise ValueError("a tensor reaches beyond its storage")
    size = storage.values.itemsize
    view = np.lib.stride_tricks.as_strided(
        storage.values[offset:], tuple(shape), tuple(stride * size for stride in strides), writeable=False
    )
    return Stored(view, storage.dtype)


def _parameter(tensor: Any, *unused: Any) -> Any:
    return tensor


def _tensors(content: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Stored]]:
    if isinstance(content, Stored):
        yield name or "tensor", content
        return
    if depth > _DEEPEST:
        return
    inside = (
        content.items()
        if isinstance(content, Mapping)
        else enumerate(content)
        if isinstance(content, list | tuple)
        else ()
    )
    for key, value in inside:
        yield from _tensors(value, f"{name}.{key}" if name else str(key), depth + 1)
