"""How to cite datasets, whom to thank, and under which licences they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collpress.data.registry import Entry
from collpress.data.sources import UrlSource


def citations(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """One item for all datasets that are cited alike.

    Each has `key`, `datasets`, `citation`, `acknowledgement`, `licence`, `notes` and `url`.
    """
    groups: dict[tuple[str, str | None, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.citation, entry.acknowledgement, entry.licence), []).append(entry)
    found, keys = [], set[str]()
    for (citation, acknowledgement, licence), members in groups.items():
        group = members[0].id.partition("/")[0]
        key = next(k for k in (group, *(f"{group}-{n}" for n in range(2, 1000))) if k not in keys)
        keys.add(key)
        found.append(
            {
                "key": key,
                "datasets": [entry.id for entry in members],
                "citation": citation,
                "acknowledgement": acknowledgement,
                "licence": licence,
                "notes": sorted({entry.note for entry in members if entry.note}),
                "url": _url(members[0]),
            }
        )
    return found


def bibliography(found: Iterable[dict[str, Any]]) -> str:
    """The same as BibTeX, with what BibTeX has no field for in comments."""
    return "\n\n".join("\n".join(_item(row)) for row in found)


def _item(row: dict[str, Any]) -> list[str]:
    lines = [f"% datasets: {', '.join(row['datasets'])}", f"% licence: {row['licence']}"]
    if row["acknowledgement"]:
        lines.append(f"% say in the text: {row['acknowledgement']}")
    lines += [f"% mind: {note}" for note in row["notes"]]
    lines += [f"@misc{{{row['key']},", f"  note = {{{_escaped(row['citation'])}}},"]
    if row["url"]:
        lines.append(f"  howpublished = {{\\url{{{row['url']}}}}},")
    return [*lines, "}"]


def _escaped(text: str) -> str:
    r"""Text whose signs mean themselves in TeX.

    >>> _escaped("a & b_c 5 %")
    'a \\& b\\_c 5 \\%'
    """
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)


def _url(entry: Entry) -> str | None:
    if entry.pypi is not None:
        return f"https://pypi.org/project/{entry.pypi.package}/{entry.pypi.version}/"
    if entry.manual is not None:
        return entry.manual.page
    if not isinstance(entry.url, UrlSource):
        return None
    return next((a for a in entry.url.addresses if a.startswith("https://")), entry.url.addresses[0])
