"""What is in a file: one small model a format, each with a reader of its own in `collpress.data.readers`.

Sources hold one of them. Files hold float32, bfloat16 (kept as it is) or float16 (widened, exactly); float64 only with
`convert: float32`, which rounds.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from collpress.errors import CollpressError
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict

Number = Annotated[float, Field(strict=True)]
FILE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}
"""Of a value in a file without a header, by its dtype."""


LARGEST = float.fromhex("0x1.fffffep127")
"""The largest float32."""


def stands_for_no_data(value: Any) -> Any:
    """A number that can stand for "no data" among float32 values. Errors: it is not finite, or beyond float32."""
    if isinstance(value, str) and value.lower().lstrip("+-.") in {"nan", "inf"}:
        value = math.nan
    if not isinstance(value, int | float) or abs(value) <= LARGEST:
        return value
    if not math.isfinite(value):
        what, allowed = "NaN and infinite values count as missing anyhow", "another number"
    else:
        what, allowed = f"{value:g} is beyond float32", f"at most {LARGEST:.9g} in size"
    raise CollpressError(what, allowed=allowed, fix="leave it out")


class Format(Strict):
    """What every format may say of its values."""

    missing: Annotated[Number | None, BeforeValidator(as_field_error(stands_for_no_data))] = None
    """The value that stands for "no data", if the file has one."""
    convert: Literal["float32"] | None = None
    """Round float64 to float32: not without being told."""


class RawValues(Format):
    """Nothing but values in C order."""

    byte_order: Literal["little", "big"]
    dtype: Literal["float32", "bfloat16", "float16", "float64"] = "float32"


class NetcdfVariable(Format):
    """One variable of a NetCDF file; its own attributes say which value stands for "no data"."""

    variable: str = Field(min_length=1)


class NpyArray(Format):
    """The array of a .npy file, or one of a .npz file."""

    key: str | None = Field(default=None, min_length=1)
    """Of a .npz file; None in a .npy file."""
    bits: Literal["bfloat16"] | None = None
    """Where an array of 16-bit words holds bfloat16, which numpy does not know."""


class Hdf5Dataset(Format):
    """One dataset of an HDF5 file, by its path."""

    dataset: str = Field(min_length=1)


class Tensors(Format):
    """Tensors of a model file by name or pattern; several are put behind each other in the order of their names."""

    tensors: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class PpFields(Strict):
    """Which fields of a PP file: those of one STASH code (section · 1000 + item)."""

    stash: int = Field(ge=1, strict=True)


class InFormat(Strict):
    """A source whose file is in one of the formats."""

    raw: RawValues | None = None
    netcdf: NetcdfVariable | None = None
    pp: PpFields | None = None
    npy: NpyArray | None = None
    npz: NpyArray | None = None
    hdf5: Hdf5Dataset | None = None
    safetensors: Tensors | None = None
    pt: Tensors | None = None

    @model_validator(mode="after")
    def _one_format(self) -> Self:
        if sum(getattr(self, name) is not None for name in FORMATS) != 1:
            raise ValueError(f"give one of {', '.join(FORMATS[:-1])} and {FORMATS[-1]}")
        if (self.npz is not None and self.npz.key is None) or (self.npy is not None and self.npy.key is not None):
            raise ValueError("an array of a .npz file has a key, that of a .npy file has none")
        return self


FORMATS = tuple(InFormat.model_fields)
