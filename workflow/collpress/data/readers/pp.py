"""The Met Office's PP format: big-endian Fortran records, a header of 64 words before each two-dimensional field.

Source: Unified Model Documentation Paper F03, "Input and Output File Formats". Read here: unpacked real fields, extra
data skipped. Word n of F03 (from 1) is integer n − 1 up to 45, then real n − 46.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError

_HEADER_BYTES = 256
_INTEGERS = 45
_PACKING = {1: "WGDOS", 2: "CRAY 32-bit", 3: "GRIB", 4: "run-length"}


@dataclass(frozen=True)
class PpField:
    """One horizontal field as it stands in the file."""

    stash: int
    time: tuple[int, ...]
    """Validity time: LBYR, LBMON, LBDAT, LBHR, LBMIN, LBDAY (or LBSEC)."""
    level: int
    """LBLEV."""
    missing: float
    """BMDI: the value of points without data."""
    values: npt.NDArray[np.float32]
    """Shape (rows, points a row), native byte order."""


def read(path: Path, stash: int) -> tuple[npt.NDArray[np.float32], float]:
    """All fields of one STASH code (section · 1000 + item).

    Returns
    -------
    Array of shape (times, levels, rows, points), times and levels ascending, and the value of missing points.

    Errors
    ------
    CollpressError: not PP, truncated (with the byte offset), packed, no such STASH code, or fields that do not fill the
    array.
    """
    everything = list(fields(path))
    chosen = [f for f in everything if f.stash == stash]
    if not chosen:
        found = ", ".join(map(str, sorted({f.stash for f in everything}))) or "none, the file is empty"
        raise CollpressError(f"no field has the STASH code {stash}", where=str(path), allowed=found)
    times, levels = sorted({f.time for f in chosen}), sorted({f.level for f in chosen})
    first = chosen[0]
    if {(f.values.shape, f.missing) for f in chosen} != {(first.values.shape, first.missing)}:
        raise CollpressError(f"the fields of STASH code {stash} differ in grid or missing value", where=str(path))
    places = Counter((f.time, f.level) for f in chosen)
    if len(places) != len(times) * len(levels) or max(places.values()) > 1:
        raise CollpressError(
            f"the {len(chosen)} fields of STASH code {stash} do not fill"
            f" {len(times)} times x {len(levels)} levels once each",
            where=str(path),
        )
    array = np.empty((len(times), len(levels), *first.values.shape), dtype=np.float32)
    for f in chosen:
        array[times.index(f.time), levels.index(f.level)] = f.values
    return array, first.missing


def fields(path: Path) -> Iterator[PpField]:
    """The file's fields in order."""
    content = path.read_bytes()
    offset = 0
    while offset < len(content):
        start = offset
        header, offset = _record(content, offset, path, is_header=True)
        data, offset = _record(content, offset, path)
        yield _field(header, data, f"{path}: byte {start}")


def _record(content: bytes, offset: int, path: Path, *, is_header: bool = False) -> tuple[bytes, int]:
    """A Fortran record: its length, the bytes, its length again; and the offset behind it."""
    start, end = offset + 4, len(content)
    length = int.from_bytes(content[offset:start], "big")
    if start <= end and is_header and length != _HEADER_BYTES:
        little = int.from_bytes(content[offset:start], "little") == _HEADER_BYTES
        raise CollpressError(
            f"a field's header should be {_HEADER_BYTES} bytes long, the record says {length}",
            where=f"{path}: byte {offset}",
            allowed="big-endian PP with 32-bit words" + (" (this file is little-endian)" if little else ""),
        )
    if start + length + 4 > end:
        raise CollpressError(
            f"truncated: the record that begins here needs {8 + length} bytes, the file ends after {end - offset}",
            where=f"{path}: byte {offset}",
            fix="fetch the file again",
        )
    closing = int.from_bytes(content[start + length : start + length + 4], "big")
    if closing != length:
        raise CollpressError(
            f"damaged: the record is {length} bytes long by its first marker and {closing} by its last",
            where=f"{path}: byte {offset}",
            fix="fetch the file again",
        )
    return content[start : start + length], start + length + 4


def _field(header: bytes, data: bytes, where: str) -> PpField:
    integers = np.frombuffer(header, dtype=">i4", count=_INTEGERS)
    reals = np.frombuffer(header, dtype=">f4", offset=4 * _INTEGERS)
    words, rows, points, extra, packing = (
        int(integers[i]) for i in (14, 17, 18, 19, 20)
    )  # LBLREC LBROW LBNPT LBEXT LBPACK
    if packing != 0:
        name = _PACKING.get(packing % 10, "unknown method")
        raise CollpressError(
            f"the field is packed (LBPACK = {packing}, {name})", where=where, allowed="unpacked fields, LBPACK = 0"
        )
    if abs(int(integers[38])) != 1:
        raise CollpressError(
            f"the field holds no real numbers (LBUSER1 = {int(integers[38])})", where=where, allowed="LBUSER1 = 1"
        )
    if rows < 1 or points < 1 or extra < 0 or words != rows * points + extra or len(data) != 4 * words:
        raise CollpressError(
            f"damaged: {rows} x {points} values and {extra} extra words (LBROW, LBNPT, LBEXT) do not make"
            f" LBLREC = {words} words in a record of {len(data)} bytes",
            where=where,
        )
    values = np.frombuffer(data, dtype=">f4", count=rows * points).astype(np.float32).reshape(rows, points)
    time = tuple(int(i) for i in integers[0:6])
    return PpField(int(integers[41]), time, int(integers[32]), float(reals[17]), values)
