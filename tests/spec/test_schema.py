"""The JSON schemas say what the models say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from collpress.spec.document import parse_document, read_document
from collpress.spec.schema import schema_texts

ROOT = Path(__file__).resolve().parents[2]


def _validator(kind: str) -> Any:
    schema = json.loads((ROOT / f"config/schemas/{kind}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_files_are_those_that_the_models_make() -> None:
    for path, text in schema_texts().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run: ./run collpress schema --write"


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*s/*.yaml")), ids=lambda p: p.stem)
def test_every_file_of_the_house_passes_its_schema_and_names_it(path: Path) -> None:
    if path.parent.name not in ("campaigns", "platforms"):
        pytest.skip("a file of another kind")
    kind = path.parent.name.removesuffix("s")
    _validator(kind).validate(read_document(path).data)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema=../schemas/{kind}.schema.json"


@pytest.mark.parametrize(
    ("matrix", "right"),
    [
        ("ranks: 2", True),
        ("ranks: '2'", True),
        ("ranks: [2, 4 .. 16 x2]", True),
        ("ranks: 2 .. 8 +1", True),
        ("message_bytes: 8 .. 2Mi x8", True),
        ("message_bytes: [8, 1.5Ki]", True),
        ("algorithm: ['library:*', reference:ring]", True),
        ("error_bound: [none, rel 1e-3, abs 0.5]", True),
        ("codec: '*'", True),
        ("dataset: synthetic/*", True),
        ("ranx: 2", False),
        ("ranks: 0", False),
        ("ranks: two", False),
        ("message_bytes: 1MB", False),
        ("algorithm: ring", False),
        ("error_bound: 1e-3", False),
        ("dtype: float16", True),
        ("dtype: complex64", False),
        ("root: [0, 1]", True),
        ("root: -1", False),
        ("buffers: in-place", True),
        ("buffers: inplace", False),
        ("call: [blocking, nonblocking]", True),
        ("imbalance: one-large", True),
        ("segment_bytes: [default, 64Ki, 1Ki .. 4Ki x2]", True),
        ("segment_bytes: none", False),
        ("fanout: [default, 2, 4 .. 16 x2]", True),
        ("fanout: 1", False),
        ("sync: window", True),
        ("cache: cold", True),
        ("alignment: 4Ki", True),
        ("alignment: 8", False),
        ("ranks: []", False),
    ],
)
def test_the_schema_takes_the_forms_that_people_write(matrix: str, right: bool) -> None:
    data = parse_document(f"title: t\nexperiments: {{e: {{matrix: {{{matrix}}}, zip: {{{matrix}}}}}}}", "x").data
    assert _validator("campaign").is_valid(data) is right
