"""From a file to values that can be prepared: the reader of its format, then what may be converted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from collpress.data.bfloat16 import Values
from collpress.data.formats import FORMATS, LARGEST, Format, InFormat, Tensors
from collpress.data.readers import netcdf, npy, pp, pt, raw
from collpress.data.readers.stored import Stored, of_array
from collpress.data.registry import Entry
from collpress.errors import CollpressError

_MENDING = {
    "float64": "to have them rounded, register with --convert float32 (in an entry: convert: float32)",
    **dict.fromkeys(
        ("uint16", "int16"), "if they are bfloat16, register with --dtype bfloat16 (in an entry of npy: bits: bfloat16)"
    ),
}
_PIECE = 1 << 21
"""Values that are worked on at a time."""
_KEPT = {"float32": "<f4", "bfloat16": "<u2"}


@dataclass(frozen=True)
class Pieces:
    """Values to prepare, little-endian, in C order: flat pieces, as often as they are asked for.

    missing : what stands for "no data".
    """

    made: Callable[[], Iterator[Values]]
    missing: float | None = None

    def __call__(self) -> Iterator[Values]:
        return self.made()


def of_values(values: Values, entry: Entry) -> Pieces:
    """Those of an array that was made here. Errors: another shape or dtype than the entry's."""
    _refuse_other_shape(values, entry.shape, entry.id, ", as the registry says")
    if values.dtype.itemsize != entry.itemsize:
        what = f"the values have {values.dtype.itemsize} bytes each"
        raise CollpressError(what, where=entry.id, allowed=f"{entry.dtype}, as registered")
    flat = values.reshape(-1)
    little = values.dtype.newbyteorder("<")
    return Pieces(lambda: (np.ascontiguousarray(piece, dtype=little) for piece in _cut(flat)))


def together(paths: Sequence[Path], source: InFormat, entry: Entry) -> Pieces:
    """The values of an entry; several files are the parts of ranks, in order, of which one at a time is opened.

    Errors: all of `opened` and `kept`; a shape other than the entry's, parts of different ones; a dtype other than the
    entry's, or a native one that the entry does not tell. Those of the first file at once, those of others when it is
    their turn.
    """
    many = len(paths) > 1
    shape = entry.shape[1:] if many else entry.shape
    first = opened(paths[0], source, shape)
    missing, only = missing_value(source, first), None if many else first

    def pieces() -> Iterator[Values]:
        for path in paths:
            stored = only or opened(path, source, shape)
            _, dtype = kept(replace(stored, values=stored.values.reshape(-1)[:0]), source, str(path))
            for noun, found, said in (
                ("dtype", dtype, entry.dtype),
                ("native_dtype", stored.dtype, entry.native_dtype),
            ):
                if found != said and (noun == "dtype" or stored.dtype != dtype):
                    where = f"{entry.id}: {path}"
                    raise CollpressError(f"{noun} should be {found}, the registry says {said}", where=where)
            if many:
                _refuse_other_shape(stored.values, shape, str(path), " for each part")
            else:
                _refuse_other_shape(stored.values, shape, entry.id, ", as the registry says")
            for piece in _cut(stored.values.reshape(-1)):
                yield kept(replace(stored, values=piece), source, str(path))[0]

    return Pieces(pieces, missing)


def _refuse_other_shape(values: Values, shape: tuple[int, ...], where: str, said: str) -> None:
    if values.shape != shape:
        raise CollpressError(f"the shape is {list(values.shape)}", where=where, allowed=f"{list(shape)}{said}")


def _cut(flat: Values) -> Iterator[Values]:
    return (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))


def opened(path: Path, source: InFormat, shape: tuple[int, ...]) -> Stored:
    """The values as they are stored. `shape` is what a raw file, which does not say, is read with.

    Errors: all of the readers.
    """
    if source.raw is not None:
        return raw.read(path, shape, source.raw)
    if source.netcdf is not None:
        return netcdf.read(path, source.netcdf.variable)
    if source.pp is not None:
        values, missing = pp.read(path, source.pp.stash)
        return of_array(values, missing=missing)
    if source.npy is not None:
        return npy.read(path, source.npy)
    if source.pt is not None:
        return pt.read(path, source.pt)
    return _with_a_library(path, source)


def _with_a_library(path: Path, source: InFormat) -> Stored:
    """Formats whose libraries are worth loading only where they are needed."""
    if source.npz is not None:
        from collpress.data.readers import npz

        return npz.read(path, source.npz)
    if source.hdf5 is not None:
        from collpress.data.readers import hdf5

        return hdf5.read(path, source.hdf5)
    from collpress.data.readers import safetensors

    assert isinstance(source.safetensors, Tensors)  # a source has one format
    return safetensors.read(path, source.safetensors)


def missing_value(source: InFormat, stored: Stored) -> float | None:
    """What stands for "no data": as the registry says, else as the file says."""
    said = next((form.missing for form in _forms(source) if form.missing is not None), None)
    told = stored.missing if said is None else said
    return told if told is None or abs(told) <= LARGEST or math.isnan(told) else None  # no float32 is beyond


def kept(stored: Stored, source: InFormat, where: str) -> tuple[Values, str]:
    """Values to prepare, little-endian, and their dtype, float32 or bfloat16.

    float16 is widened, which is exact. float64 is rounded where the source says `convert: float32`.

    Errors
    ------
    CollpressError: another dtype; float64 without a word; a finite value beyond float32.
    """
    if stored.dtype in _KEPT:
        return np.ascontiguousarray(stored.values, dtype=_KEPT[stored.dtype]), stored.dtype
    rounds = any(form.convert == "float32" for form in _forms(source))
    if stored.dtype == "float16" or (stored.dtype == "float64" and rounds):
        with np.errstate(over="ignore"):
            values = np.ascontiguousarray(stored.values, dtype="<f4")
        beyond = int(np.count_nonzero(np.isinf(values)) - np.count_nonzero(np.isinf(stored.values)))
        if beyond:
            raise CollpressError(f"{beyond} finite values are beyond float32", where=where, fix="scale them before")
        return values, "float32"
    raise CollpressError(
        f"the values are {stored.dtype}",
        where=where,
        allowed="float32, bfloat16, float16 (widened exactly), float64 that may be rounded to float32",
        fix=_MENDING.get(stored.dtype, ""),
    )


def _forms(source: InFormat) -> list[Format]:
    return [form for name in FORMATS if isinstance(form := getattr(source, name), Format)]
