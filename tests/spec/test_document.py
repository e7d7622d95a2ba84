"""The YAML reader: plain values, the line of each, and no surprises."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.spec.document import LARGEST_FILE, Document, parse_document, read_document


def _read(text: str) -> Document:
    return parse_document(text, "a.yaml")


def test_every_field_knows_its_line() -> None:
    document = _read("a:\n  b:\n    - 1\n    - c: 2\n")
    assert document.data == {"a": {"b": [1, {"c": 2}]}}
    assert document.where("a", "b", 1, "c") == "a.yaml:4: a.b[1].c"
    assert document.where("a", "b", 0) == "a.yaml:3: a.b[0]"


def test_a_field_that_is_not_there_is_told_by_the_nearest_that_is() -> None:
    document = _read("a:\n  b: 1\n")
    assert document.where("a", "z", "y") == "a.yaml:1: a"
    assert document.where("a", 0, "b") == "a.yaml:2: a.b"


def test_a_key_that_stands_twice_is_an_error_with_both_lines() -> None:
    with pytest.raises(CollpressError, match='the key "b" stands twice') as error:
        _read("a:\n  b: 1\n  b: 2\n")
    assert error.value.where == "a.yaml:3: a.b"
    assert "line 2" in error.value.fix


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("1e-3", 1e-3),
        ("0.5", 0.5),
        ("010", 10),
        ("0x10", "0x10"),
        ("~", None),
        ("true", True),
        ("2001-01-01", "2001-01-01"),
        ('"8"', "8"),
        ("1_000", "1_000"),
        ("9" * 30, "9" * 30),
        (".", "."),
        ("library:*", "library:*"),
    ],
)
def test_scalars_mean_what_they_look_like(text: str, value: object) -> None:
    found = _read(f"a: [{text}]").data["a"][0]
    assert found == value
    assert type(found) is type(value)


def test_anchors_and_merges_work() -> None:
    document = _read("base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\nlist: [*b]\n")
    assert document.data["use"] == {"x": 1, "y": 3}
    assert document.data["list"] == [{"x": 1, "y": 2}]


def test_a_billion_laughs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(CollpressError, match="holds too much"):
        _read("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: &a [*a]", "contains itself"),
        ("a: !!python/object/apply:os.system [ls]", "has no meaning here"),
        ("a: !mine 3", "has no meaning here"),
        ("[" * 2000 + "]" * 2000, "too deeply|too much"),
        ("a: [1", "not valid YAML"),
        ("a: *", "not valid YAML"),
        ("a: 1\n--- \nb: 2", "not valid YAML"),
        ("", "empty"),
        ("# only a comment", "empty"),
        ("? [a]\n: 1", "a key must be text"),
        ("a: \x07", "not valid YAML"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_without_a_traceback(text: str, complaint: str) -> None:
    with pytest.raises(CollpressError, match=complaint):
        _read(text)


def test_an_unquoted_star_is_answered_with_how_to_quote_it() -> None:
    with pytest.raises(CollpressError, match="fix: quote") as error:
        _read("b: 1\na: *")
    assert error.value.where.startswith("a.yaml:2")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text("a: 1", encoding="utf-8")
    with pytest.raises(CollpressError, match='did you mean "quick"'):
        read_document(tmp_path / "quik.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(CollpressError, match=r"latin.yaml:2: the file is not UTF-8"):
        read_document(tmp_path / "latin.yaml")
    (tmp_path / "huge.yaml").write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(CollpressError, match="too large"):
        read_document(tmp_path / "huge.yaml")
    with pytest.raises(CollpressError, match="cannot be read"):
        read_document(tmp_path)
