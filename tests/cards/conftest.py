"""Prepared datasets made from arrays, in a folder of their own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Prepare = Callable[..., Path]


@pytest.fixture
def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Writes values and sidecar of `made/<name>` as `collpress dataset get` does; float32 values, or bfloat16 bits."""
    monkeypatch.chdir(tmp_path)

    def put(name: str, values: npt.NDArray[Any], **more: Any) -> Path:
        return prepared(tmp_path, name, values, **more)

    return put


def prepared(root: Path, name: str, values: npt.NDArray[Any], **more: Any) -> Path:
    """See the fixture; returns the path of the values."""
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
