"""Files made by hand from their formats' descriptions, and a small world of a registry, an index and results."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from collpress.data.registry import Entry, load_registry

MISSING = -(2.0**30)


def pp_record(content: bytes) -> bytes:
    marker = struct.pack(">i", len(content))
    return marker + content + marker


def pp_field(
    values: np.ndarray, *, stash: int = 4, minute: int = 0, level: int = 1, extra: int = 0, **words: int
) -> bytes:
    """One field by the format's description; `words` replaces header integers by zero-based index, as `i20=1`."""
    rows, points = values.shape
    integers = [0] * 45
    integers[0:6] = [2009, 9, 9, 22, minute, 252]
    integers[14], integers[17], integers[18], integers[19] = rows * points + extra, rows, points, extra
    integers[32], integers[38], integers[41] = level, 1, stash
    for name, value in words.items():
        integers[int(name[1:])] = value
    reals = [0.0] * 19
    reals[17] = MISSING
    data = struct.pack(f">{values.size}f", *values.ravel().tolist()) + b"\xff" * 4 * extra
    return pp_record(struct.pack(">45i19f", *integers, *reals)) + pp_record(data)


@dataclass
class World:
    """Where a test's registry, results and index are."""

    registry: Path
    results: Path
    index: Path
    wheel: bytes
    document: dict[str, Any] = field(default_factory=dict)

    def rewrite(self) -> None:
        self.registry.write_text(yaml.safe_dump(self.document, allow_unicode=True), encoding="utf-8")

    def entry(self, dataset: str = "tiny/theta") -> Entry:
        return load_registry(self.registry)[dataset]

    @property
    def cached(self) -> Path:
        return self.results / "cache" / "tiny_fields-1.0-py3-none-any.whl"

    def publish(self, wheel: bytes | None = None) -> None:
        """Put a wheel where pip looks."""
        self.index.mkdir(exist_ok=True)
        (self.index / self.cached.name).write_bytes(self.wheel if wheel is None else wheel)

    def carry(self, wheel: bytes | None = None) -> None:
        """Put a wheel into the cache by hand."""
        self.cached.parent.mkdir(parents=True, exist_ok=True)
        self.cached.write_bytes(self.wheel if wheel is None else wheel)


def make_wheel(path: Path, member: str, content: bytes, *, link: bool = False) -> bytes:
    info = "tiny_fields-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(member)
        entry.external_attr = (0o120777 if link else 0o100644) << 16
        archive.writestr(entry, content)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-fields\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path.read_bytes()
