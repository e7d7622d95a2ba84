"""Outside libraries of codecs: which there are, where they lie, and how the codecs are told (native: outside.hpp)."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from collpress.files import sha256_of


@dataclass(frozen=True)
class Outside:
    """The library that some codecs load.

    codecs : their names; package : the module of the wheel that carries the library; pattern : where, relative to the
    folder of the module's file; name : the file in the `lib` of a conda environment; variable : the environment
    variable that names the file; what the user has set stays.
    """

    codecs: tuple[str, ...]
    package: str
    pattern: str
    name: str
    variable: str

    def path(self) -> Path | None:
        """The file that the codecs will load: what the variable says, else the wheel's, else that of the environment.

        None where there is none of them, or the variable is set and empty: then the loader looks for one of the
        system's. The package is not imported.
        """
        given = os.environ.get(self.variable)
        if given is not None:
            return Path(given) if given else None
        beside = Path(sys.prefix) / "lib" / self.name
        return _bundled(self.package, self.pattern) or (beside if beside.is_file() else None)


@cache
def _bundled(package: str, pattern: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.origin:
        return None
    found = sorted(Path(spec.origin).parent.glob(pattern))
    return found[0] if found else None


# zfpy keeps its library as auditwheel does, beside the extension module; the library of Blosc2's wheel exports the
# functions of Zstandard and LZ4 as well.
_BLOSC2 = "lib/libblosc2.so*"
LIBRARIES = (
    Outside(("zfp", "zfp-rate"), "zfpy", "zfpy.libs/libzfp*.so*", "libzfp.so", "COLLPRESS_ZFP_LIBRARY"),
    Outside(("blosc2-shuffle",), "blosc2", _BLOSC2, "libblosc2.so", "COLLPRESS_BLOSC2_LIBRARY"),
    Outside(("zstd",), "blosc2", _BLOSC2, "libzstd.so", "COLLPRESS_ZSTD_LIBRARY"),
    Outside(("lz4",), "blosc2", _BLOSC2, "liblz4.so", "COLLPRESS_LZ4_LIBRARY"),
)


def outside_of(codec: str) -> Outside | None:
    """The outside library that a codec of ours loads; None where it loads none."""
    return next((library for library in LIBRARIES if codec in library.codecs), None)


def outside_library(codec: str) -> Path | None:
    """The file of it; None where the codec loads none, or it is not there."""
    library = outside_of(codec)
    path = None if library is None else library.path()
    return path if path is not None and path.is_file() else None


def missing_library(codec: str) -> str | None:
    """What to say where the library that a codec loads is not there; None where it is, or none is needed.

    Where nothing names a library, the loader may still find one of the system's; this is only known by trying.
    """
    library = outside_of(codec)
    if library is None or outside_library(codec) is not None:
        return None
    given = os.environ.get(library.variable)
    if given:
        return f"{library.variable} names {given}, which is no file"
    return (
        f"the library of the package {library.package} was not found (fix: remove .venv and call ./run, which installs "
        f"envs/default.txt; or name a library: {library.variable}=/path/to/it); one of the system's may do"
    )


def libraries() -> dict[str, str]:
    """Codec → sha256 of the outside library that it will load; part of the identity of what it computes."""
    digests: dict[Path, str] = {}
    found: dict[str, str] = {}
    for library in LIBRARIES:
        for codec in library.codecs:
            path = outside_library(codec)
            if path is not None:
                digests.setdefault(path, sha256_of(path))
                found[codec] = digests[path]
    return found


def codec_environment() -> dict[str, str]:
    """Environment variables by which a process finds the codecs' libraries; what the user has set stays."""
    paths = {library.variable: os.environ.get(library.variable, library.path()) for library in LIBRARIES}
    return {variable: str(path) for variable, path in paths.items() if path is not None}
