"""The C ABI of metric plugins (native/include/collpress/metric.h) as ctypes types; loading one plugin."""

from __future__ import annotations

import ctypes
from pathlib import Path

from collpress.codecs.plugin import load_plugin

_pointer = ctypes.c_void_p


class ConfigStruct(ctypes.Structure):
    """`collpress_metric_config`."""

    _fields_ = (
        ("count", ctypes.c_uint64),
        ("minimum", ctypes.c_double),
        ("maximum", ctypes.c_double),
        ("abs_bound", ctypes.c_double),
        ("row", ctypes.c_uint64),
        ("plane", ctypes.c_uint64),
    )


class ValueStruct(ctypes.Structure):
    """`collpress_metric_value`."""

    _fields_ = (("name", ctypes.c_char_p), ("unit", ctypes.c_char_p))


class MetricStruct(ctypes.Structure):
    """`collpress_metric`."""

    _fields_ = (
        ("value_count", ctypes.c_uint32),
        ("values", ctypes.POINTER(ValueStruct)),
        ("create", ctypes.CFUNCTYPE(_pointer, ctypes.POINTER(ConfigStruct))),
        ("destroy", ctypes.CFUNCTYPE(None, _pointer)),
        ("add", ctypes.CFUNCTYPE(None, _pointer, _pointer, _pointer, ctypes.c_size_t)),
        ("finish", ctypes.CFUNCTYPE(ctypes.c_char_p, _pointer, ctypes.POINTER(ctypes.c_double))),
    )


def load(path: Path) -> tuple[ctypes.CDLL, MetricStruct, str]:
    """Load the metric plugin at `path`; returns the library (keep it alive), its interface and its summary."""
    return load_plugin(path, "metric", MetricStruct)
