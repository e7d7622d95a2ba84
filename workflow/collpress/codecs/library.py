"""The C ABI of codec plugins (native/include/collpress/codec.h) as ctypes types; loading one plugin."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from collpress.codecs.outside import codec_environment
from collpress.codecs.plugin import load_plugin

DTYPES = {
    "float32": 0,
    "float64": 1,
    "int32": 2,
    "int8": 3,
    "int16": 4,
    "int64": 5,
    "float16": 6,
    "bfloat16": 7,
}
"""Names of NumPy's dtypes, and `bfloat16`, which NumPy has not: its values are handed over as bits, in uint16."""

_size = ctypes.c_size_t
_pointer = ctypes.c_void_p


class ConfigStruct(ctypes.Structure):
    """`collpress_codec_config`."""

    _fields_ = (
        ("dtype", ctypes.c_uint32),
        ("abs_bound", ctypes.c_double),
        ("parameters", ctypes.POINTER(ctypes.c_double)),
        ("row", ctypes.c_uint64),
        ("plane", ctypes.c_uint64),
        ("rank", ctypes.c_uint32),
    )


class ParameterStruct(ctypes.Structure):
    """`collpress_codec_parameter`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("choices", ctypes.c_char_p),
        ("usual", ctypes.c_double),
        ("least", ctypes.c_double),
        ("most", ctypes.c_double),
        ("whole", ctypes.c_uint32),
    )


class ExtrasStruct(ctypes.Structure):
    """`collpress_codec_extras`."""

    _fields_ = (
        ("parameters", ctypes.POINTER(ParameterStruct)),
        ("parameter_count", ctypes.c_uint32),
        ("begin", ctypes.CFUNCTYPE(None, _pointer)),
        (
            "add",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                *(_pointer, _pointer, _size, _pointer, _size, _size, _pointer, _size, ctypes.POINTER(_size)),
            ),
        ),
        ("accumulate", ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, _size, _pointer, _size)),
    )


class CodecStruct(ctypes.Structure):
    """`collpress_codec`."""

    _fields_ = (
        ("dtypes", ctypes.c_uint32),
        ("takes_bound", ctypes.c_uint32),
        ("lossless", ctypes.c_uint32),
        ("create", ctypes.CFUNCTYPE(_pointer, ctypes.POINTER(ConfigStruct), ctypes.POINTER(ctypes.c_int))),
        ("destroy", ctypes.CFUNCTYPE(None, _pointer)),
        ("max_bytes", ctypes.CFUNCTYPE(_size, _pointer, _size)),
        ("compress", ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, _size, _pointer, _size, ctypes.POINTER(_size))),
        ("decompress", ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, _size, _pointer, _size)),
        ("worst_error", ctypes.CFUNCTYPE(ctypes.c_double, _pointer, ctypes.c_double)),
        ("extras", ctypes.POINTER(ExtrasStruct)),
    )


def load(path: Path) -> tuple[ctypes.CDLL, CodecStruct, str]:
    """Load the codec plugin at `path`; returns the library (keep it alive), its interface and its summary."""
    for name, value in codec_environment().items():
        os.environ.setdefault(name, value)
    return load_plugin(path, "codec", CodecStruct)
