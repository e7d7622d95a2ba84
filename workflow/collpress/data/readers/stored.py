"""What a reader gives: values as they lie in the file, before anything is converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.errors import CollpressError, did_you_mean


@dataclass(frozen=True)
class Stored:
    """Values of one array.

    values : any byte order; uint16 where `dtype` is bfloat16, whose bits they are.
    dtype : numpy's name, or bfloat16.
    missing : the value that the file itself declares for "no data".
    """

    values: npt.NDArray[Any]
    dtype: str
    missing: float | None = None


def of_array(values: npt.NDArray[Any], *, missing: float | None = None) -> Stored:
    """An array whose dtype numpy knows."""
    return Stored(values, values.dtype.name, missing)


def chosen(names: Sequence[str], asked: Sequence[str], where: str) -> list[str]:
    """The names that any of the names and patterns asks for, sorted.

    Errors: one that nothing matches, with the nearest name.
    """
    for pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise CollpressError(
                f'no tensor is called "{pattern}"',
                where=where,
                allowed=_listed(sorted(names)) or "the file has none",
                fix=did_you_mean(pattern, names),
            )
    return sorted(name for name in names if any(fnmatchcase(name, pattern) for pattern in asked))


def joined(parts: Sequence[Stored], names: Sequence[str], path: Path) -> Stored:
    """One tensor as it is; several behind each other, flat. Errors: their dtypes differ."""
    if len(parts) == 1:
        return parts[0]
    dtypes = {part.dtype: name for part, name in zip(parts, names, strict=True)}
    if len(dtypes) > 1:
        told = ", ".join(f"{name} is {dtype}" for dtype, name in dtypes.items())
        raise CollpressError(f"the tensors have several dtypes: {told}", where=str(path), fix="name those of one dtype")
    return Stored(np.concatenate([part.values.reshape(-1) for part in parts]), parts[0].dtype)


def _listed(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
