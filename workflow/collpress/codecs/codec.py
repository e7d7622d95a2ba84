"""A codec plugin as a Python object: compress and decompress NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.codecs import library
from collpress.codecs.outside import missing_library
from collpress.codecs.parameter import Parameter, values_of
from collpress.errors import CollpressError

Array = npt.NDArray[Any]

# collpress_codec_result
MEANINGS = {
    1: "it does not support this dtype or configuration, or its library is missing",
    2: "the output buffer is too small",
    3: "the stream is truncated, damaged, or was made by another codec, dtype, bound or number of values",
    4: "it cannot represent these values",
    5: "the library underneath failed",
}


@dataclass(frozen=True)
class Setting:
    """What a context is made for, besides its dtype: everything but the bound may stay as is usual.

    parameters : of the codec, by name; row, plane : elements in a row, and in a plane, of the array that the values are
    a piece of, 0: not known; rank : codecs that draw random numbers draw different ones on different ranks.
    """

    abs_bound: float | None = None
    parameters: Mapping[str, str | float] = field(default_factory=dict)
    row: int = 0
    plane: int = 0
    rank: int = 0


class CodecContext:
    """A codec set up for one dtype and setting (`collpress_codec.create`); a context manager, for one thread.

    Arrays are of that dtype; for "bfloat16", which NumPy has not, of uint16 with the values' bits.
    """

    def __init__(self, codec: Codec, dtype: npt.DTypeLike, setting: Setting) -> None:
        abs_bound = setting.abs_bound
        self.codec, self.dtype = codec, np.dtype("uint16" if dtype == "bfloat16" else dtype)
        name = "bfloat16" if dtype == "bfloat16" else self.dtype.name
        if name not in codec.dtypes:
            raise CollpressError(f'codec "{codec.name}" does not take {name}', allowed=", ".join(codec.dtypes))
        if codec.takes_bound and (abs_bound is None or not 0 < abs_bound < float("inf")):
            raise CollpressError(
                f'codec "{codec.name}" needs an absolute error bound', allowed="a finite number above 0"
            )
        values = codec.values(setting.parameters)
        config = library.ConfigStruct(
            library.DTYPES[name],
            abs_bound or 0.0,
            (ctypes.c_double * len(values))(*values) if values else None,
            setting.row,
            setting.plane,
            setting.rank,
        )
        result = ctypes.c_int(0)
        self._context: int | None = codec.interface.create(ctypes.byref(config), ctypes.byref(result))
        if self._context is None:
            missing = missing_library(codec.name) if result.value == 1 else None
            if missing is not None:
                raise CollpressError(f'codec "{codec.name}": its library is missing: {missing}', where=str(codec.path))
            self._check(result.value or 5)

    def __enter__(self) -> CodecContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the native context back."""
        if self._context is not None:
            self.codec.interface.destroy(self._context)
            self._context = None

    def max_bytes(self, count: int) -> int:
        """Bytes that the stream of any `count` values never exceeds."""
        return int(self.codec.interface.max_bytes(self._context, count))

    def worst_error(self, max_abs: float) -> float:
        """Largest possible |x − x'| for finite values with |x| ≤ `max_abs`."""
        return float(self.codec.interface.worst_error(self._context, max_abs))

    def compress_into(self, values: Array, stream: npt.NDArray[np.uint8]) -> int:
        """Compress contiguous `values` into `stream`; returns the number of bytes used."""
        used = ctypes.c_size_t(0)
        result = self.codec.interface.compress(
            self._context, _address(values, self.dtype), values.size, _address(stream), stream.size, ctypes.byref(used)
        )
        self._check(result)
        return int(used.value)

    def decompress_into(self, stream: npt.NDArray[np.uint8], values: Array) -> None:
        """Decompress one whole `stream` into contiguous `values`, as many as were compressed."""
        result = self.codec.interface.decompress(
            self._context, _address(stream), stream.size, _address(values, self.dtype), values.size
        )
        self._check(result)

    def begin(self) -> None:
        """A call of the collective begins (`collpress_codec_extras.begin`); nothing for codecs without a memory."""
        if self.codec.extras is not None and self.codec.extras.begin:
            self.codec.extras.begin(self._context)

    def add_into(
        self, a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8], count: int, out: npt.NDArray[np.uint8]
    ) -> int:
        """The stream of the sum of two streams of `count` values; returns its bytes. Only where `codec.adds`."""
        used = ctypes.c_size_t(0)
        assert self.codec.extras is not None
        result = self.codec.extras.add(
            self._context,
            *(_address(a), a.size, _address(b), b.size, count),
            *(_address(out), out.size, ctypes.byref(used)),
        )
        self._check(result)
        return int(used.value)

    def accumulate(self, stream: npt.NDArray[np.uint8], values: Array) -> None:
        """Add what `stream` decompresses to onto contiguous `values`. Only where `codec.accumulates`."""
        assert self.codec.extras is not None
        self._check(
            self.codec.extras.accumulate(
                self._context, _address(stream), stream.size, _address(values, self.dtype), values.size
            )
        )

    def _check(self, result: int) -> None:
        if result != 0:
            meaning = MEANINGS.get(result, f"unknown result {result}")
            raise CollpressError(f'codec "{self.codec.name}": {meaning}', where=str(self.codec.path))


class Codec:
    """The codec in the plugin at `path`.

    Attributes
    ----------
    name : the plugin's file stem.
    summary : one line for people.
    dtypes : names of the dtypes it takes.
    takes_bound : it honours an absolute error bound for every finite value.
    lossless : every bit comes back.
    parameters : the settings that it has.
    adds, accumulates, remembers : it has `add`, `accumulate`, `begin` of `collpress_codec_extras`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.stem
        self._library, self.interface, self.summary = library.load(self.path)
        self.dtypes = tuple(name for name, bit in library.DTYPES.items() if self.interface.dtypes >> bit & 1)
        self.takes_bound = bool(self.interface.takes_bound)
        self.lossless = bool(self.interface.lossless)
        self.extras = self.interface.extras.contents if self.interface.extras else None
        self.parameters = _parameters(self.extras)
        self.adds = self.extras is not None and bool(self.extras.add)
        self.accumulates = self.extras is not None and bool(self.extras.accumulate)
        self.remembers = self.extras is not None and bool(self.extras.begin)

    @contextmanager
    def context(
        self, dtype: npt.DTypeLike, abs_bound: float | None = None, setting: Setting | None = None
    ) -> Iterator[CodecContext]:
        """A context for many calls with one dtype and bound, or a whole `setting`."""
        with CodecContext(self, dtype, setting or Setting(abs_bound)) as context:
            yield context

    def values(self, given: Mapping[str, str | float]) -> list[float]:
        """What a context is handed for each parameter, in their order; CollpressError for what cannot be."""
        return values_of(self.name, self.parameters, given)

    def given(self, handed: Mapping[str, float]) -> dict[str, str | float]:
        """The inverse, by name: a choice's word for its place."""
        choices = {p.name: p.choices for p in self.parameters}
        return {
            name: choices[name][int(v)] if choices.get(name) and 0 <= v < len(choices[name]) else v
            for name, v in handed.items()
        }

    def compress(self, array: Array, abs_bound: float | None = None) -> npt.NDArray[np.uint8]:
        """The stream of `array`'s values in C order; `abs_bound` is in the values' unit."""
        values = np.ascontiguousarray(array)
        with self.context(values.dtype, abs_bound) as context:
            stream = np.empty(context.max_bytes(values.size), dtype=np.uint8)
            return stream[: context.compress_into(values, stream)].copy()

    def decompress(
        self, data: bytes | npt.NDArray[np.uint8], count: int, dtype: npt.DTypeLike, abs_bound: float | None = None
    ) -> Array:
        """`count` values of `dtype` from a stream that was compressed with the same bound; shape (count,)."""
        stream = np.frombuffer(data, dtype=np.uint8)
        values = np.empty(count, dtype=dtype)
        with self.context(dtype, abs_bound) as context:
            context.decompress_into(stream, values)
        return values

    def worst_error(self, max_abs: float, dtype: npt.DTypeLike = np.float32, abs_bound: float | None = None) -> float:
        """Largest possible |x − x'| for finite values with |x| ≤ `max_abs`."""
        with self.context(dtype, abs_bound) as context:
            return context.worst_error(max_abs)


def _parameters(extras: library.ExtrasStruct | None) -> tuple[Parameter, ...]:
    if extras is None:
        return ()
    return tuple(
        Parameter(
            p.name.decode(),
            p.summary.decode(),
            tuple(p.choices.decode().split("|")) if p.choices else (),
            p.usual,
            p.least,
            p.most,
            bool(p.whole),
        )
        for p in extras.parameters[: extras.parameter_count]
    )


def _address(array: Array, dtype: np.dtype[Any] | None = None) -> int:
    if not array.flags.c_contiguous or (dtype is not None and array.dtype != dtype):
        raise CollpressError(f"codecs take contiguous arrays of {dtype or 'bytes'}", where=f"an array of {array.dtype}")
    return array.ctypes.data
