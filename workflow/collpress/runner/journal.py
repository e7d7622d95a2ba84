"""The journal: JSON lines, appended one by one (docs/contracts.md, "Journal")."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCHEMA = 1


def utc_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Journal:
    """Appends to the file at `path`, from which a torn last line is cut; raises OSError where that cannot be."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a+b", buffering=0)  # noqa: SIM115 - open as long as the launch lasts
        self._file.seek(0)
        kept = self._file.read()
        self._file.truncate(kept.rfind(b"\n") + 1)

    def append(self, kind: str, entries: Mapping[str, Any]) -> None:
        """Numbers that are not finite become null; bytes that are no UTF-8 the replacement character."""
        line = {"kind": kind, "schema": SCHEMA, **entries}
        text = json.dumps(_speakable(line), ensure_ascii=False, allow_nan=False)
        data = memoryview((text + "\n").encode())
        while data:
            data = data[self._file.write(data) :]


def _speakable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _speakable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_speakable(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return None if isinstance(value, float) and not math.isfinite(value) else value
