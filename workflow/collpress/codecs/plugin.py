"""The C ABI that all plugins share (native/include/collpress/plugin.h) as ctypes types; loading one of a kind."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TypeVar

from collpress.errors import CollpressError

ABI_VERSION = 3
KINDS = {"codec": 1, "metric": 3}

Interface = TypeVar("Interface", bound=ctypes.Structure)


class PluginStruct(ctypes.Structure):
    """`collpress_plugin_t`."""

    _fields_ = (
        ("abi_version", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("summary", ctypes.c_char_p),
        ("interface", ctypes.c_void_p),
    )


def load_plugin(path: Path, kind: str, interface: type[Interface]) -> tuple[ctypes.CDLL, Interface, str]:
    """Load the plugin at `path`; returns the library (keep it alive), its interface and its summary.

    Errors
    ------
    CollpressError : no plugin, one of another version of the ABI, one that is no `kind`.
    """
    try:
        library = ctypes.CDLL(str(path.resolve()))
        entry = library.collpress_plugin
    except (OSError, AttributeError) as error:
        raise CollpressError(
            f"cannot load the plugin: {error}", where=str(path), fix="./run collpress build makes the plugins"
        ) from None
    entry.restype = ctypes.POINTER(PluginStruct)
    entry.argtypes = []
    plugin = entry().contents
    if plugin.abi_version != ABI_VERSION:
        raise CollpressError(
            f"the plugin was compiled for version {plugin.abi_version} of the interface",
            where=str(path),
            allowed=str(ABI_VERSION),
            fix="build it again with this checkout's headers",
        )
    if plugin.kind != KINDS[kind]:
        raise CollpressError(f"the plugin is not a {kind}", where=str(path))
    found = ctypes.cast(plugin.interface, ctypes.POINTER(interface)).contents
    return library, found, (plugin.summary or b"").decode("utf-8")
