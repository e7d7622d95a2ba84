"""What a sidecar says of values, gathered piece by piece, so that no more than a piece is in the memory."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from collpress.data.bfloat16 import Values, numbers
from collpress.data.registry import Entry
from collpress.data.sidecar import Missing, Sidecar
from collpress.errors import CollpressError


class Tally:
    """Counts the values of an entry as they pass, in C order; `take` gives those to keep."""

    def __init__(self, entry: Entry, missing_value: float | None) -> None:
        """`missing_value`: what stands for "no data", beside NaN and infinite values."""
        self._entry, self._missing_value = entry, missing_value
        self._digest = hashlib.sha256()
        self._seen = self._lacking = 0
        self._extremes: list[float] = []

    def take(self, piece: Values) -> Values:
        """The same values, with 0 for each that is missing where the entry says so."""
        found = numbers(piece)
        usable = np.isfinite(found)
        if self._missing_value is not None:
            usable &= found != np.float32(self._missing_value)
        lacking = int(piece.size - np.count_nonzero(usable))
        if lacking and self._entry.missing == "zero":
            piece = np.where(usable, piece, piece.dtype.type(0)).astype(piece.dtype, copy=False)
            kept = numbers(piece)
        else:
            kept = found[usable] if lacking else found
        if kept.size:
            ends = [float(kept.min()), float(kept.max())]
            self._extremes = [min([*self._extremes[:1], ends[0]]), max([*self._extremes[1:], ends[1]])]
        self._seen += piece.size
        self._lacking += lacking
        self._digest.update(np.ascontiguousarray(piece).data)
        return piece

    @property
    def sha256(self) -> str:
        """Of the values so far, as they are kept."""
        return self._digest.hexdigest()

    def refuse_missing(self) -> None:
        """CollpressError where values are missing, NaN or infinite, and the entry refuses that."""
        if self._lacking and self._entry.missing == "refuse":
            told = "" if self._missing_value is None else f"missing ({self._missing_value:g}), "
            raise CollpressError(
                f"{self._lacking} of {self._seen} values are {told}NaN or infinite",
                where=self._entry.id,
                allowed="none, where its entry does not say otherwise",
                fix="choose other fields, or keep them: register with --keep-missing (in an entry: missing: keep)",
            )

    def sidecar(self, unique_bytes: int) -> Sidecar:
        """The sidecar of all values."""
        policy: Literal["keep", "zero"] = "zero" if self._entry.missing == "zero" else "keep"
        missing = Missing(value=self._missing_value, count=self._lacking, policy=policy) if self._lacking else None
        minimum, maximum = self._extremes or (None, None)
        measured = {"sha256": self.sha256, "unique_bytes": unique_bytes, "missing": missing}
        return declared(self._entry).model_copy(update={**measured, "minimum": minimum, "maximum": maximum})


def declared(entry: Entry) -> Sidecar:
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
