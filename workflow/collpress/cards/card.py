"""From a prepared dataset to its card: all numbers of it, as plain data (docs/contracts.md, "Card of a dataset")."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from collpress.cards.channels import channels_part
from collpress.cards.field import Field
from collpress.cards.lorenzo import lorenzo_part
from collpress.cards.moments import histograms, values_part
from collpress.cards.neighbours import axes_part
from collpress.cards.order import order
from collpress.cards.patterns import bits_part, looks, tally
from collpress.cards.similarity import parts_part
from collpress.cards.spectrum import spectrum_part
from collpress.data import sidecar
from collpress.data.sidecar import Sidecar
from collpress.errors import CollpressError
from collpress.files import sha256_of
from collpress.layout import dataset_file

SCHEMA = 1
_DIGITS = 9
_ID = re.compile("[a-z0-9_-]+/[a-z0-9_-]+|private-[0-9a-f]{8}")
_BITS = {"float32": "<u4", "bfloat16": "<u2"}
Card = dict[str, Any]


def open_field(dataset: str) -> tuple[Field, Sidecar]:
    """The values of a prepared dataset, mapped into memory and checked by their sha256, and what is said of them.

    Errors: no id, not prepared, sidecar damaged, or other bytes than the sidecar says.
    """
    if not _ID.fullmatch(dataset):
        raise CollpressError(f'"{dataset}" cannot be an id', allowed="group/name, as collpress dataset list shows them")
    path = dataset_file(dataset)
    again = f"collpress dataset get {dataset}"
    if not path.is_file():
        raise CollpressError("not prepared", where=str(path), fix=again)
    described = sidecar.read(path.with_suffix(".json"))
    size = path.stat().st_size
    if size != described.bytes:
        raise CollpressError(f"{size} bytes, the sidecar says {described.bytes}", where=str(path), fix=again)
    found = sha256_of(path)
    if found != described.sha256:
        raise CollpressError(
            f"wrong checksum: expected sha256 {described.sha256}, found {found}", where=str(path), fix=again
        )
    return field_of(path, described), described


def field_of(path: Path, described: Sidecar) -> Field:
    """The values that a sidecar describes, mapped into memory."""
    bits = np.memmap(path, dtype=_BITS[described.dtype], mode="r", shape=described.shape)
    missing = described.missing.value if described.missing is not None else None
    return Field(bits, missing, parts=described.ranks == "parts")


def card(values: Field, described: Sidecar) -> Card:
    """Everything but the page. Floats have nine significant digits: more would differ from machine to machine."""
    found = tally(values)
    ordered = order(values, found)
    part = values_part(values, found, ordered)
    about = described.model_dump(mode="json", by_alias=True)
    kept = ("id", "title", "synthetic", "units", "dtype", "native_dtype", "shape", "ranks", "elements", "bytes")
    content = {
        "schema": SCHEMA,
        **{key: about[key] for key in (*kept, "unique_bytes", "sha256", "licence", "citation", "note")},
        "values": part,
        "histograms": histograms(values, part),
        "bits": bits_part(found),
        "looks": looks(found, ordered.distinct, part["minimum"], part["maximum"]),
        "axes": axes_part(values, part),
        "lorenzo": lorenzo_part(values, part),
        "spectrum": spectrum_part(values, part),
        "channels": channels_part(values, part),
        "parts": parts_part(values),
    }
    rounded = _rounded(content)
    assert isinstance(rounded, dict)
    return rounded


def _rounded(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _rounded(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_rounded(value) for value in content]
    if isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, float):
        return float(f"{content:.{_DIGITS}g}") if math.isfinite(content) else None
    return content
