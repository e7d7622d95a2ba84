"""The codecs that were built for a platform, from its build.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collpress.codecs.codec import Codec
from collpress.errors import CollpressError
from collpress.layout import ROOT, build_record


def built_codecs(platform: str, root: Path = ROOT) -> list[Codec]:
    """Load every codec of `results/native/<platform>/build.json`, in order of name.

    Raises CollpressError when nothing was built, or what was built is gone.
    """
    return [Codec(path) for path in built_plugins(platform, "codec", root)]


def built_plugins(platform: str, kind: str, root: Path = ROOT) -> list[Path]:
    """The files of all plugins of a kind, in order of name; CollpressError when nothing was built."""
    record = root / build_record(platform)
    try:
        built: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CollpressError(
            f'nothing is built for the platform "{platform}"',
            where=str(record),
            fix=f"./run collpress build --platform {platform}",
        ) from None
    except json.JSONDecodeError as error:
        raise CollpressError(f"not JSON: {error}", where=str(record), fix="delete it and build again") from None
    found = [entry for entry in built["plugins"] if entry["kind"] == kind]
    return [root / entry["path"] for entry in sorted(found, key=lambda entry: str(entry["name"]))]
