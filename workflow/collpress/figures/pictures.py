"""A drawing as files: PDF, SVG and PNG with the same provenance inside, the same bytes each time, replaced together.

The provenance is inside a PNG as the tEXt chunk `collpress`, in an SVG as the Dublin Core description, in a PDF as the
keywords of its information dictionary; always the same JSON, in ASCII. The caption keeps its signs: as an iTXt chunk in
a PNG, as UTF-16 in a PDF. No moment of now is in it. `stamped` reads it back.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from collpress.errors import CollpressError
from collpress.figures import style

PICTURES = ("pdf", "svg", "png")
Stamp = dict[str, Any]
_MOST_PIXELS = 30_000
_FOOT = 5
"""Points."""


def pictures(figure: Figure, content: Stamp, title: str, caption: str) -> dict[str, bytes]:
    """The bytes of each picture by suffix. Call inside `style.house()`."""
    return {suffix: _picture(figure, suffix, _metadata(suffix, content, title, caption)) for suffix in PICTURES}


def _picture(figure: Figure, suffix: str, metadata: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    dpi = min(200.0, _MOST_PIXELS / max(figure.get_size_inches()))
    figure.savefig(out, format=suffix, dpi=dpi, metadata=metadata)
    return out.getvalue()


def foot(figure: Figure, start: str, end: str) -> None:
    """One grey line at the foot; `start` is cut where both have no room."""
    width, height = (float(v) for v in figure.get_size_inches())
    text = style.shortened(start, _FOOT, width - 0.16 - style.length_of(end, _FOOT)) + end
    figure.text(1 - 0.08 / width, 0.06 / height, text, ha="right", va="bottom", fontsize=_FOOT, color=style.FAINT)


def replace(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Write all files aside, then rename them one by one: a full disk leaves the old figure whole."""
    parts: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            handle, part = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
            parts.append((Path(part), folder / name))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        for part_path, path in parts:
            part_path.chmod(0o644)
            Path(part_path).replace(path)
    except OSError as error:
        raise CollpressError(f"the figure cannot be written: {error.strerror}", where=str(folder)) from error
    finally:
        for part_path, _ in parts:
            part_path.unlink(missing_ok=True)
    return [path for _, path in parts]


def sources_digest(sources: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of the modules that draw."""
    total = hashlib.sha256()
    for path in sorted(sources):
        total.update(f"{path.parent.name}/{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _metadata(suffix: str, content: Stamp, title: str, caption: str) -> dict[str, Any]:
    """The `metadata` argument of savefig for a suffix; dates are switched off, they would change the bytes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    if suffix == "png":
        return {"Title": title, "Description": caption, "Software": "collpress", "collpress": text}
    if suffix == "svg":
        return {"Title": title, "Description": text, "Creator": "collpress", "Date": None, "Format": "image/svg+xml"}
    if suffix == "pdf":
        return {
            "Title": title,
            "Subject": caption,
            "Keywords": text,
            "Creator": "collpress",
            "CreationDate": None,
        }
    raise ValueError(f"no place for metadata in .{suffix}")
