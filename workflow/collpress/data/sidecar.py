"""The sidecar of a prepared dataset: `<id>.json` beside `<id>.bin` (docs/contracts.md, "Dataset sidecar")."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from collpress.errors import CollpressError
from collpress.files import write_atomically

ITEM_BYTES = {"float32": 4, "bfloat16": 2}
"""Of a prepared value, by its dtype."""


class Missing(BaseModel):
    """Values that stand for "no data" and were kept on purpose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float | None
    """The value that the file declares for missing points; `null` when only NaN or infinite values were found."""
    count: int = Field(ge=1)


class Sidecar(BaseModel):
    """What a `.bin` file holds: little-endian, C order, nothing else in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = Field(1, alias="schema")
    id: str
    title: str
    dtype: Literal["float32", "bfloat16"]
    shape: tuple[int, ...]
    ranks: Literal["slices", "parts"] = "slices"
    """What a rank sends: its slice of the whole field, or its own part, which the slowest axis counts."""
    parts: int | None = None
    """Number of parts; `null` where ranks send slices."""
    elements: int
    bytes: int
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    unique_bytes: int
    """Bytes before the values repeat themselves as a whole; equals `bytes` unless they are copies of a shorter run."""
    minimum: float | None
    maximum: float | None
    """Of the finite values that are not missing; `null` when there are none."""
    missing: Missing | None
    units: str
    synthetic: bool
    source: dict[str, Any]
    licence: str
    citation: str
    acknowledgement: str | None = None
    """What the owners of the data ask to be said where results are published."""
    note: str | None = None
    """What one must know of the values before using them."""
    native_dtype: str

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if self.elements != math.prod(self.shape) or self.bytes != self.elements * ITEM_BYTES[self.dtype]:
            raise ValueError("shape, elements and bytes do not agree")
        if self.parts != (self.shape[0] if self.ranks == "parts" else None):
            raise ValueError("ranks, parts and shape do not agree")
        if not 0 < self.unique_bytes <= self.bytes:
            raise ValueError("unique_bytes is not between 1 and bytes")
        return self

    def write(self, path: Path) -> None:
        """Write it, whole or not at all."""
        write_atomically(path, (self.model_dump_json(by_alias=True, indent=1) + "\n").encode("utf-8"))


def read(path: Path) -> Sidecar:
    """Read and check a sidecar. Errors: missing, not JSON, or not as the contract says, with the field's name."""
    try:
        return Sidecar.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CollpressError(
            f"cannot read the sidecar: {error.strerror}", where=str(path), fix="collpress dataset get ID"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "file"
        raise CollpressError(
            f"{field}: {first['msg']}", where=str(path), fix="delete it and run collpress dataset get ID"
        ) from None
