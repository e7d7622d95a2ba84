"""NumPy arrays to bytes and back, with any built codec; the bytes say themselves what they are.

bytes = b"CPAR" version(1 byte) length(4 bytes, little-endian) JSON of that length, the codec's stream
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.codecs.catalog import built_codecs
from collpress.codecs.codec import Codec, Setting
from collpress.errors import CollpressError, did_you_mean
from collpress.layout import ROOT

Array = npt.NDArray[Any]

_MAGIC, _VERSION = b"CPAR", 1
_FIXED = len(_MAGIC) + 1 + 4
_MOST_AXES = 32


def names(platform: str = "local") -> list[str]:
    """The codecs that are built for a platform."""
    return list(_built(platform, ROOT))


def compress(
    array: npt.ArrayLike,
    codec: str = "deltapack",
    *,
    abs_bound: float | None = None,
    rel_bound: float | None = None,
    parameters: dict[str, str | float] | None = None,
    platform: str = "local",
) -> bytes:
    """The values of `array`, in C order, as bytes that `decompress` understands.

    Parameters
    ----------
    array : of a dtype that the codec takes; any shape.
    codec : a name of `names()`.
    abs_bound : largest |x − x'| of a finite value, in the values' unit; for codecs that take a bound.
    rel_bound : the same as a part of the value range (largest minus smallest finite value) of this array; of a constant
        array as a part of its magnitude.
    parameters : settings of the codec that are not as usual.
    platform : whose build the codec comes from.

    Raises
    ------
    CollpressError : an unknown codec or setting, a dtype that it does not take, a bound too many or too few.
    """
    values = np.asarray(array, order="C")
    found = _codec(codec, platform)
    if values.dtype.name not in found.dtypes:
        raise CollpressError(f"the codec {codec} does not take {values.dtype.name}", allowed=", ".join(found.dtypes))
    bound = _bound(found, values, abs_bound, rel_bound)
    setting = Setting(bound, dict(parameters or {}), *_strides(values.shape))
    header = {
        "codec": found.name,
        "dtype": values.dtype.name,
        "shape": list(values.shape),
        "abs_bound": bound,
        "parameters": {p.name: v for p, v in zip(found.parameters, found.values(setting.parameters), strict=True)},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    with found.context(values.dtype, setting=setting) as context:
        stream = np.empty(context.max_bytes(values.size), dtype=np.uint8)
        used = context.compress_into(values.reshape(-1), stream)
    return b"".join((_MAGIC, bytes([_VERSION]), len(text).to_bytes(4, "little"), text, stream[:used].tobytes()))


def decompress(data: bytes | bytearray | memoryview, *, platform: str = "local") -> Array:
    """The array that `compress` made `data` of: its dtype and shape, its values within the bound.

    Raises
    ------
    CollpressError : damaged or foreign bytes, or a codec that is not built here.
    """
    view = memoryview(data).cast("B")
    header, stream = _read(view)
    codec = _codec(str(header["codec"]), platform)
    dtype, shape = np.dtype(str(header["dtype"])), tuple(header["shape"])
    given = codec.given(header["parameters"])
    with codec.context(dtype, setting=Setting(header["abs_bound"], given, *_strides(shape))) as context:
        if stream.nbytes > context.max_bytes(math.prod(shape)):
            raise _damaged("more bytes than its values can take")
        try:
            values = np.empty(shape, dtype=dtype)  # touched only once the codec has found as many values in the stream
        except (MemoryError, ValueError):
            raise _damaged(f"an array of {math.prod(shape)} values does not fit into memory") from None
        context.decompress_into(np.frombuffer(stream, dtype=np.uint8), values.reshape(-1))
    return values


def _read(view: memoryview) -> tuple[dict[str, Any], memoryview]:
    if len(view) < _FIXED or view[: len(_MAGIC)] != _MAGIC:
        raise _damaged("it does not begin as an array does")
    if view[len(_MAGIC)] != _VERSION:
        raise _damaged(f"version {view[len(_MAGIC)]}", f"version {_VERSION}")
    length = int.from_bytes(view[len(_MAGIC) + 1 : _FIXED], "little")
    text, stream = view[_FIXED : _FIXED + length], view[_FIXED + length :]
    try:
        header = json.loads(bytes(text))
    except ValueError:
        raise _damaged("its header is not JSON") from None
    if not _is_header(header):
        raise _damaged("its header does not say codec, dtype, shape, abs_bound and parameters")
    return header, stream


def _is_header(header: Any) -> bool:
    if not isinstance(header, dict) or header.keys() != {"codec", "dtype", "shape", "abs_bound", "parameters"}:
        return False
    shape, bound, parameters = header["shape"], header["abs_bound"], header["parameters"]
    numbers = isinstance(parameters, dict) and all(isinstance(v, int | float) for v in parameters.values())
    sizes = isinstance(shape, list) and len(shape) <= _MOST_AXES and all(type(n) is int and n >= 0 for n in shape)
    bounded = bound is None or (isinstance(bound, int | float) and 0 < bound < math.inf)
    return numbers and sizes and bounded and header["dtype"] in ("float16", "float32", "float64", "int32")


def _damaged(why: str, allowed: str = "what collpress.codecs.compress returns") -> CollpressError:
    return CollpressError(f"these bytes are no compressed array: {why}", allowed=allowed)


def _bound(codec: Codec, values: Array, abs_bound: float | None, rel_bound: float | None) -> float | None:
    given = [b for b in (abs_bound, rel_bound) if b is not None]
    if not codec.takes_bound:
        if given:
            raise CollpressError(f"the codec {codec.name} takes no error bound", fix="leave it out")
        return None
    if len(given) != 1:
        raise CollpressError(f"the codec {codec.name} needs one error bound", allowed="abs_bound or rel_bound")
    if not 0 < given[0] < math.inf:
        raise CollpressError(f"{given[0]} is not an error bound", allowed="a finite number above 0")
    if abs_bound is not None:
        return float(abs_bound)
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scale = (most - least) or abs(most) or 1.0
    return max(given[0] * scale, float(np.finfo(values.dtype).tiny))


def _strides(shape: tuple[int, ...]) -> tuple[int, int]:
    """Elements in a row and in a plane; 0 for axes that there are not."""
    row = shape[-1] if len(shape) > 1 else 0
    return row, row * shape[-2] if len(shape) > 2 else 0


def _codec(name: str, platform: str) -> Codec:
    built = _built(platform, ROOT)
    if name not in built:
        raise CollpressError(
            f'there is no codec "{name}"', allowed=", ".join(built), fix=did_you_mean(name, list(built))
        )
    return built[name]


@cache
def _built(platform: str, root: Path) -> dict[str, Codec]:
    return {codec.name: codec for codec in built_codecs(platform, root)}
