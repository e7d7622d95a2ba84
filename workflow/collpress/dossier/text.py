"""A dossier for people. What a record holds is told generically, so that a field of tomorrow is told too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_IN_THE_HEADING = frozenset(
    {"where", "kind", "schema", "key", "id", "launch", "attempt", "requested", "status", "reason"}
)

_OTHER = "record under another key (other core, plugin, data, machine or settings)"


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The lines to print."""
    yield f"{document['id']}  {document['campaign']} on {document['platform']}, experiment {document['experiment']}"
    yield f"key       {document['key'] or 'none: the point never got that far'}"
    flags = f", {', '.join(document['flags'])}" if document["flags"] else ""
    launches = f"{document['launches_ok']} of {document['launches_planned']} launches ok"
    yield f"status    {document['status']}{flags}: {launches}"
    if document["median_s"] is not None:
        each = ", ".join(f"{value:.4g}" for value in document["launch_medians_s"])
        yield f"time      median {document['median_s']:.4g} s over the launches' medians: {each}"
    if document["reason"]:
        yield f"reason    {document['reason']}"
    yield from _section("requested (factors)", document["factors"])
    for effective in document["effective"]:
        yield from _section("in effect", effective)
    yield from _section("told to the core (plan line)", document["plan_line"])
    yield from _records("record", document["records"])
    yield from _records(_OTHER, document["superseded_records"])
    for begun in document["begun_without_record"]:
        yield f"\nbegun without a record: launch {begun['launch']}, attempt {begun['attempt']}, {begun['utc']}"
        yield f"  {begun['where']}"
    for damaged in document["damaged_lines"]:
        yield f"\ndamaged: {damaged}"
    for start in document["starts_of_the_core"]:
        heading = f"start of the core: launch {start['launch']}, attempt {start['attempt']} ({start['where']})"
        yield from _section(heading, {k: v for k, v in start.items() if k not in _IN_THE_HEADING})
    for unreadable in document["unreadable"]:
        yield f"\ncannot be read: {unreadable}"
    yield from _section("files", document["files"])
    yield from _section("build", document["build"])
    yield from _section("dataset", document["dataset"])
    yield ""
    if document["rerun"]:
        yield "measure it alone, once more, beside what is recorded:"
        yield f"  {document['rerun']}"
    else:
        yield f"it cannot be measured alone: {document['reason']}"


def _records(heading: str, records: list[dict[str, Any]]) -> Iterator[str]:
    for record in records:
        told = f"{record['status']}: {record['reason']}" if record["reason"] else record["status"]
        title = f"launch {record['launch']}, attempt {record['attempt']}: {told}  ({record['where']})"
        yield f"\n{heading}: {title}"
        yield from _entries({k: v for k, v in record.items() if k not in _IN_THE_HEADING}, 1)


def _section(heading: str, content: Mapping[str, Any] | None) -> Iterator[str]:
    if content:
        yield f"\n{heading}"
        yield from _entries(content, 1)


def _entries(content: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Nested mappings indented, numbers on one line, what is null or empty left out."""
    indent = "  " * depth
    for name, value in content.items():
        if value is None or value == [] or value == {}:
            continue
        if isinstance(value, Mapping):
            flat = {k: v for k, v in value.items() if v is not None}
            if all(not isinstance(v, Mapping | list) for v in flat.values()):
                yield f"{indent}{name:<20} {', '.join(f'{k} {_short(v)}' for k, v in flat.items())}"
            else:
                yield f"{indent}{name}"
                yield from _entries(value, depth + 1)
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield f"{indent}{name}"
            for item in value:
                yield from _entries(item, depth + 1) if isinstance(item, Mapping) else [f"{indent}  {_short(item)}"]
        elif isinstance(value, list) and all(isinstance(item, str) for item in value) and len(value) > 1:
            yield f"{indent}{name}"
            yield from (f"{indent}  {item}" for item in value)
        else:
            yield f"{indent}{name:<20} {_short(value)}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
