"""From a prepared dataset to the files of its card: ID.json and ID.{pdf,svg,png}, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from pathlib import Path
from typing import Any

import matplotlib
import numpy

from collpress import __version__
from collpress.cards.card import SCHEMA, card, open_field
from collpress.cards.page import draw
from collpress.cards.sources import card_sources
from collpress.cards.words import alternative, caption
from collpress.figures import style
from collpress.figures.pictures import Stamp, foot, pictures, replace, sources_digest
from collpress.layout import ROOT
from collpress.provenance import git_state


def write_card(dataset: str, folder: Path, root: Path = ROOT) -> tuple[dict[str, Any], list[Path]]:
    """Compute the card of a prepared dataset, draw its page, and write both below `folder`; returns card and paths.

    Errors: all of `open_field`; a folder that cannot be written.
    """
    field, described = open_field(dataset)
    content = card(field, described)
    with style.house():
        figure = draw(field, content)
        made = _stamp(content, root)
        foot(figure, dataset, f" · data {content['sha256'][:12]} · card {made['id'][:12]}")
        files = pictures(figure, made, f"collpress: card of {dataset}", caption(content))
    hashes = {suffix: hashlib.sha256(data).hexdigest() for suffix, data in files.items()}
    content["page"] = {
        **made,
        "caption": caption(content),
        "alternative": alternative(content),
        "files_sha256": hashes,
    }
    files["json"] = (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    place = folder / dataset
    return content, replace(place.parent, {f"{place.name}.{suffix}": data for suffix, data in files.items()})


def _stamp(content: dict[str, Any], root: Path) -> Stamp:
    """The provenance of a page; no moment of now is in it."""
    drawn_by = sources_digest(card_sources())
    identity = json.dumps([SCHEMA, content["id"], content["sha256"], drawn_by])
    return {
        "schema": SCHEMA,
        "id": hashlib.sha256(identity.encode("utf-8")).hexdigest()[:32],
        "card": content["id"],
        "command": "./run " + shlex.join(["collpress", "card", content["id"]]),
        "data_sha256": content["sha256"],
        "sources_sha256": drawn_by,
        "git": git_state(root),
        "software": {
            "collpress": __version__,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "numpy": numpy.__version__,
            "matplotlib": matplotlib.__version__,
            "font": style.font(),
        },
    }
