"""Reading campaign and platform files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from collpress.errors import CollpressError
from collpress.layout import campaign_file, platform_file
from collpress.spec.campaign import Campaign, contradictions
from collpress.spec.document import Document, parse_document, read_document
from collpress.spec.mistakes import combined, explain
from collpress.spec.platform import Platform

Model = TypeVar("Model", Campaign, Platform)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def load_campaign(name: str | Path) -> Campaign:
    """Read and check a campaign: a name in config/campaigns, or a path that ends in .yaml.

    Raises CollpressError that lists every mistake with file, line and field.
    """
    return campaign_from(read_document(_path(name, campaign_file, "campaign")))


def load_platform(name: str | Path) -> Platform:
    """Read and check a platform: a name in config/platforms, or a path that ends in .yaml."""
    return _model(Platform, read_document(_path(name, platform_file, "platform")))


def campaign_from(document: Document) -> Campaign:
    """Check what a document holds, field by field and then between fields."""
    campaign = _model(Campaign, document)
    errors = contradictions(campaign)
    if errors:
        raise combined(errors, document.path)
    return campaign


def campaign_text(text: str, path: str = "campaign.yaml") -> Campaign:
    """A campaign from YAML text; `path` names it."""
    return campaign_from(parse_document(text, path))


def platform_text(text: str, path: str = "platform.yaml") -> Platform:
    """A platform from YAML text; `path` names it."""
    return _model(Platform, parse_document(text, path))


def _model(model: type[Model], document: Document) -> Model:
    if not isinstance(document.data, dict):
        raise CollpressError("the file must be a mapping", where=document.path, fix="begin with title: ...")
    try:
        read = model.model_validate(document.data)
    except ValidationError as error:
        raise explain(error, model, document) from None
    path = Path(document.path)
    read._name, read._path, read._document = path.stem, path, document
    return read


def _path(name: str | Path, file_of: Callable[[str], Path], noun: str) -> Path:
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        stem = path.stem
    else:
        stem, path = str(name), file_of(str(name))
    if not _NAME.fullmatch(stem):
        raise CollpressError(
            f'"{stem}" cannot name a {noun}', where=str(path), allowed="lower-case letters, digits, - and _"
        )
    return path
