"""A metric that is a Python file, made a plugin: the C++ source that carries its text (python_metric.hpp)."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError
from collpress.files import write_atomically
from collpress.metrics.child import versions

PYTHON = "COLLPRESS_PYTHON"
"""The variable of a launch's environment that names the interpreter."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PER_LINE = 32


@dataclass(frozen=True)
class Described:
    """What a file says of itself, without running it: summary, and name → unit of each value."""

    summary: str
    values: Mapping[str, str]


def described(source: Path) -> Described:
    """Read the docstring's first line, `values`, and whether there is a `measure`.

    Raises
    ------
    CollpressError : no Python, or what is missing or wrong, with the line.
    """
    try:
        tree = ast.parse(source.read_bytes(), source.name)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise CollpressError(f"no Python: {what}", where=f"{source}:{line}" if line else str(source)) from None
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "measure" not in functions:
        raise CollpressError(
            "a metric in Python needs a function measure(expected, got)", where=str(source), fix="see docs/plugins.md"
        )
    summary = (ast.get_docstring(tree) or "").partition("\n")[0].strip()
    return Described(summary or f"{source.stem}, in Python", _values(tree, source))


def _values(tree: ast.Module, source: Path) -> dict[str, str]:
    allowed = 'a dict of names and units at the top of the file, such as values = {"share": "1", "mean": "data"}'
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if not any(isinstance(t, ast.Name) and t.id == "values" for t in targets):
            continue
        where = f"{source}:{node.lineno}"
        try:
            found = ast.literal_eval(node.value)  # type: ignore[attr-defined]
        except (ValueError, TypeError):
            found = None
        if not isinstance(found, dict) or not found:
            raise CollpressError("values is not written out", where=where, allowed=allowed)
        for name, unit in found.items():
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                allowed = "lower-case letters, digits and _, a letter first"
                raise CollpressError(f'"{name}" cannot name a value', where=where, allowed=allowed)
            if not isinstance(unit, str) or len(unit.split()) != 1:
                allowed = 'one word: "1" for a pure number, "data" for the unit of the data'
                raise CollpressError(f'"{unit}" is no unit', where=where, allowed=allowed)
        return found
    raise CollpressError("a metric in Python says its values", where=str(source), allowed=allowed)


def plugin_source(source: Path, folder: Path) -> Path:
    """Write the C++ source of the plugin into `folder`, where it is not there already; errors as of `described`."""
    about = described(source)
    text = source.read_bytes()
    bytes_ = [str(byte - 256 if byte > 127 else byte) for byte in text]
    rows = [", ".join(bytes_[i : i + _PER_LINE]) for i in range(0, len(bytes_), _PER_LINE)]
    stated = ", ".join(f"{{{_literal(name)}, {_literal(unit)}}}" for name, unit in about.values.items())
    lines = [
        f"// Made of {source.name} by collpress build.",
        '#include "collpress/python_metric.hpp"',
        "",
        "namespace {",
        "constexpr signed char text[] = {",
        *(f"    {row}," for row in rows),
        "};",
        "",
        "class Metric : public collpress::PythonMetric {",
        "  public:",
        f"    static constexpr collpress_metric_value values[] = {{{stated}}};",
        "    explicit Metric(const collpress_metric_config &config)",
        f"        : PythonMetric({{{_literal(source.name)}, {{reinterpret_cast<const char *>(text), sizeof text}}, "
        f"{_literal(versions())}}}, std::size(values), config) {{}}",
        "};",
        "} // namespace",
        "",
        f"COLLPRESS_METRIC_PLUGIN(Metric, {_literal(about.summary)})",
        "",
    ]
    target = folder / f"{source.stem}.cpp"
    made = "\n".join(lines).encode("utf-8")
    if not target.is_file() or target.read_bytes() != made:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(target, made)
    return target


def _literal(text: str) -> str:
    """A C++ literal; JSON's escapes are C++'s, and other letters stand as they are."""
    return json.dumps(text, ensure_ascii=False).replace("?", "\\?")  # no trigraphs
