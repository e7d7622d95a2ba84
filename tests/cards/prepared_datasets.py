"""Prepared datasets made from arrays, as `collpress dataset get` leaves them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Prepare = Callable[..., Path]


def prepared(root: Path, name: str, values: npt.NDArray[Any], **more: Any) -> Path:
    """Write values and sidecar of `made/<name>` below `root`; returns the path of the values."""
    bits = np.ascontiguousarray(values)
    path = root / "results" / "data" / "made" / f"{name}.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bits.tobytes())
    parts = more.get("ranks") == "parts"
    dtype = "bfloat16" if bits.dtype == np.uint16 else "float32"
    sidecar = {
        "schema": 1,
        "id": f"made/{name}",
        "title": f"Made for a test: {name}",
        "dtype": dtype,
        "shape": list(bits.shape),
        "parts": bits.shape[0] if parts else None,
        "elements": bits.size,
        "bytes": bits.nbytes,
        "sha256": hashlib.sha256(bits.tobytes()).hexdigest(),
        "unique_bytes": bits.nbytes,
        "minimum": None,
        "maximum": None,
        "missing": None,
        "units": "K",
        "synthetic": True,
        "source": {},
        "licence": "CC0-1.0",
        "citation": "nobody",
        "native_dtype": dtype,
    }
    path.with_suffix(".json").write_text(json.dumps(sidecar | more), encoding="utf-8")
    return path
