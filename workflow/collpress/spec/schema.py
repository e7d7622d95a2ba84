"""The JSON schemas of the files that a person writes: generated from the models, used by editors and by tests."""

from __future__ import annotations

import json
from pathlib import Path

from collpress.spec.campaign import CampaignFile
from collpress.spec.platform import PlatformFile

FOLDER = Path("config/schemas")


def schema_texts() -> dict[Path, str]:
    """The text of each schema file, by its path from the checkout."""
    texts = {}
    for name, model in (("campaign", CampaignFile), ("platform", PlatformFile)):
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema(by_alias=True)}
        schema["title"] = f"collpress {name}"
        texts[FOLDER / f"{name}.schema.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return texts
