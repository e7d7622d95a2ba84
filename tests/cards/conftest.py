"""Prepared datasets in a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt
import pytest
from prepared_datasets import Prepare, prepared


@pytest.fixture
def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Writes values and sidecar of `made/<name>` as `collpress dataset get` does; float32 values, or bfloat16 bits."""
    monkeypatch.chdir(tmp_path)

    def put(name: str, values: npt.NDArray[Any], **more: Any) -> Path:
        return prepared(tmp_path, name, values, **more)

    return put
