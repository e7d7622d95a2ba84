"""Synthetic data by generator, seed and shape: the same bits on every machine and with every numpy that has Philox."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from collpress.data import generators
from collpress.data.arithmetic.sampling import Values
from collpress.data.generators import names
from collpress.errors import CollpressError, did_you_mean
from collpress.files import available_memory, require_memory

_NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})
_BYTES_A_VALUE = 8 + 4
"""At least: every generator computes in float64, and rounds to float32 at the end."""


def generate(name: str, seed: int, shape: tuple[int, ...], parameters: Mapping[str, float] = _NO_PARAMETERS) -> Values:
    """Make a dataset's values.

    Parameters
    ----------
    name : a generator, see `collpress.data.generators.names`.
    seed : 0 … 2**64 − 1.
    shape : C order, slowest axis first.
    parameters : the generator's own, by name.

    Returns
    -------
    float32 of `shape`.

    Errors
    ------
    CollpressError for an unknown generator or parameter, a seed out of range, an impossible shape or parameter, or more
    values than the memory holds.
    """
    where = f"generator {name}"
    if name not in names():
        hint = did_you_mean(name, names())
        raise CollpressError(f'unknown generator "{name}"', allowed=", ".join(names()), fix=hint)
    if not 0 <= seed < 2**64:
        raise CollpressError(f"seed {seed} is out of range", where=where, allowed="0 to 2**64 - 1")
    if not shape or any(n < 1 for n in shape):
        raise CollpressError(f"shape {shape} holds no value", where=where, allowed="one or more lengths of at least 1")
    field = _field(name)
    known = [p.name for p in inspect.signature(field).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for parameter, value in parameters.items():
        if parameter not in known:
            hint = did_you_mean(parameter, known)
            raise CollpressError(
                f'unknown parameter "{parameter}"', where=where, allowed=", ".join(known) or "none", fix=hint
            )
        if not math.isfinite(value):
            raise CollpressError(f"{parameter} is {value}", where=where, allowed="a finite number")
    needed = _BYTES_A_VALUE * math.prod(shape)
    require_memory(needed, where)
    try:
        return field(seed, shape, **parameters)
    except MemoryError:
        raise CollpressError(
            f"not enough memory: more than {needed} bytes are needed, {available_memory()} are available",
            where=where,
            fix="make the shape smaller, or use a machine with more memory",
        ) from None


def _field(name: str) -> Callable[..., Values]:
    module = importlib.import_module(f"{generators.__name__}.{name.replace('-', '_')}")
    field: Callable[..., Values] = module.field
    return field
