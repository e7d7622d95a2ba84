"""Our codecs as one codec of numcodecs, so that Zarr and whoever uses numcodecs can store arrays with them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_bytes, ndarray_copy

from collpress.codecs.arrays import compress, decompress


class Collpress(Codec):  # type: ignore[misc]  # numcodecs has no types
    """`numcodecs.get_codec({"id": "collpress", "codec": "deltapack", "rel_bound": 1e-3})`.

    Parameters
    ----------
    codec, abs_bound, rel_bound, parameters : as `collpress.codecs.compress` takes them; a relative bound is of each
        chunk's own value range.
    """

    codec_id: ClassVar[str] = "collpress"

    def __init__(
        self,
        codec: str = "deltapack",
        abs_bound: float | None = None,
        rel_bound: float | None = None,
        parameters: dict[str, str | float] | None = None,
    ) -> None:
        self.codec, self.abs_bound, self.rel_bound = codec, abs_bound, rel_bound
        self.parameters = dict(parameters or {})

    def encode(self, buf: Any) -> bytes:
        """The bytes of an array (numcodecs' `encode`)."""
        return compress(
            np.asarray(buf),
            self.codec,
            abs_bound=self.abs_bound,
            rel_bound=self.rel_bound,
            parameters=self.parameters,
        )

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The array of these bytes, into `out` where it is given (numcodecs' `decode`)."""
        return ndarray_copy(decompress(ensure_bytes(buf)), out)
