"""A YAML file that remembers where each of its values was written.

PyYAML's composer gives nodes with marks; this module turns them into plain values and keeps the line of every field.
Stricter than YAML: duplicate keys, tags and recursive anchors are errors, `yes`, `no`, `on` and `12:30` are text. Size,
depth and the number of values (after anchors) are limited, so that a small file cannot grow into a huge one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from collpress.errors import CollpressError
from collpress.spec.quantities import MOST_DIGITS

LARGEST_FILE = 1 << 20
MOST_VALUES = 100_000
DEEPEST = 40

Field = tuple[str | int, ...]
"""The way to a value: keys and list positions."""

_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "timestamp", "value", "seq", "map")
}
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(rf"[-+]?[0-9]{{1,{MOST_DIGITS}}}")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True)
class Document:
    """Plain data and the lines that it came from."""

    path: str
    data: Any
    lines: dict[Field, int] = field(default_factory=dict)

    def where(self, *path: str | int) -> str:
        """`FILE:LINE: a.b[0]` of a field; parts that the file does not hold are skipped in looking for the line.

        The line is that of the deepest part that the file holds.
        """
        known: Field = ()
        for part in path:
            if (*known, part) in self.lines:
                known = (*known, part)
        line = self.lines.get(known)
        place = f"{self.path}:{line}" if line else self.path
        name = field_name(path if known == path else known)
        return f"{place}: {name}" if name else place


def field_name(path: Field) -> str:
    """
    >>> field_name(("experiments", "a", "exclude", 0, "when"))
    'experiments.a.exclude[0].when'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_document(path: Path) -> Document:
    """Read a YAML file; a CollpressError says what is wrong with it and where."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        names = sorted(p.stem for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
        close = get_close_matches(path.stem, names, n=1)
        hint = f'did you mean "{close[0]}"?' if close else ""
        raise CollpressError(f"{path} does not exist", allowed=", ".join(names), fix=hint) from None
    except OSError as error:
        raise CollpressError(f"{path} cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_FILE:
        raise CollpressError("the file is too large", where=str(path), allowed="at most 1 MiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise CollpressError("the file is not UTF-8 text", where=f"{path}:{line}", fix="save it as UTF-8") from None
    return parse_document(text, str(path))


def parse_document(text: str, path: str) -> Document:
    """Parse YAML text; `path` names it in messages."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else path
        what = ": ".join(t for t in (error.context, error.problem) if t)
        tab = "\t" in what or "'\\t'" in what
        hint = (
            "indent with spaces, not with tabs"
            if tab
            else 'quote a text that begins with * & ! % @ or `: "*"'
            if re.search(r"alias|anchor|tag|token", what)
            else ""
        )
        raise CollpressError(f"not valid YAML: {what}", where=where, fix=hint) from None
    except yaml.YAMLError as error:
        raise CollpressError(f"not valid YAML: {' '.join(str(error).split())}", where=path) from None
    except RecursionError:
        raise CollpressError("the file is nested too deeply", where=path, allowed=f"{DEEPEST} levels") from None
    if node is None:
        raise CollpressError("the file is empty", where=path)
    reader = _Reader(path)
    return Document(path, reader.value(node, ()), reader.lines)


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Field, int] = {}
        self.values = 0
        self.open: set[int] = set()

    def value(self, node: yaml.Node, path: Field, line: int | None = None) -> Any:
        self.lines[path] = line if line is not None else node.start_mark.line + 1
        self.values += 1
        if self.values > MOST_VALUES or len(path) > DEEPEST:
            raise self.error(node, "the file holds too much", f"{MOST_VALUES:,} values after anchors, {DEEPEST} levels")
        if node.tag not in _TAGS:
            raise self.error(node, f"the tag {node.tag} has no meaning here", "plain text, numbers, lists and mappings")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self.open:
            raise self.error(node, "an anchor contains itself", "anchors that end")
        self.open.add(id(node))
        result = self.mapping(node, path) if isinstance(node, yaml.MappingNode) else self.sequence(node, path)
        self.open.discard(id(node))
        return result

    def sequence(self, node: yaml.Node, path: Field) -> list[Any]:
        return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]

    def mapping(self, node: yaml.MappingNode, path: Field) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                parts = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                for part in parts:
                    other = self.value(part, path, line)
                    if not isinstance(other, dict):
                        raise self.error(key_node, "<< merges mappings only", "<<: *anchor")
                    merged = {**other, **merged}
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, "a key must be text", "name: value")
            key = str(key_node.value)
            if key in result:
                raise CollpressError(
                    f'the key "{key}" stands twice in one mapping',
                    where=f"{self.path}:{line}: {field_name((*path, key))}",
                    fix=f"remove one of them; the first is on line {self.lines[(*path, key)]}",
                )
            result[key] = self.value(value_node, (*path, key), line)
        return {**merged, **result}

    def error(self, node: yaml.Node, what: str, allowed: str) -> CollpressError:
        return CollpressError(what, where=f"{self.path}:{node.start_mark.line + 1}", allowed=allowed)


def is_number(text: str) -> bool:
    """Whether plain text in a file is read as a number."""
    return bool(_INT.fullmatch(text) or _FLOAT.fullmatch(text))


def _scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text: str = node.value
    if node.style is not None:
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
