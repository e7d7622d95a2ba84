"""findings.json and findings.md: the same findings, as data and as a page; equal cubes give equal bytes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from collpress.analysis.circumstances import CROWDED, load, provenance
from collpress.analysis.points import points
from collpress.cube.file import open_cube
from collpress.errors import CollpressError
from collpress.files import write_atomically, write_json
from collpress.findings.finding import Finding
from collpress.findings.rules import RULES, Rule
from collpress.layout import Places, card_file

SCHEMA = 1
_SHORTEST, _MOST = 8, 4
"""Digits of an id, and ids in a line."""
Told = Sequence[tuple[Rule, Sequence[Finding]]]


def findings(cube: xr.DataTree) -> Told:
    """What each rule finds in a cube; a rule that finds nothing is there with nothing."""
    groups = [cube[name].to_dataset() for name in str(cube.attrs["experiments"]).split()]
    return [(rule, rule.find(groups)) for rule in RULES]


def headlines(told: Told) -> list[Finding]:
    """The findings to tell at the end of a run: the first of each rule that sums itself up."""
    return [found[0] for rule, found in told if found and rule.headline(found[0])]


def write_findings(cube_path: Path, json_path: Path, page_path: Path) -> dict[str, Any]:
    """Write both files of the cube at `cube_path`; returns the document of findings.json.

    Raises CollpressError where there is no cube, or one that does not name its points.
    """
    cube = open_cube(cube_path)
    try:
        told = findings(cube)
    except CollpressError as error:
        raise CollpressError(error.what, where=str(cube_path), fix=error.fix) from None
    content = document(cube, told)
    write_json(json_path, content)
    write_atomically(page_path, page(cube, content, told).encode("utf-8"))
    return content


def document(cube: xr.DataTree, told: Told) -> dict[str, Any]:
    """The content of findings.json (docs/contracts.md)."""
    campaign, platform = str(cube.attrs["campaign"]), str(cube.attrs["platform"])
    return {
        "schema": SCHEMA,
        "campaign": campaign,
        "platform": platform,
        "launches": int(cube.attrs["launches"]),
        "cube": {"sha256": str(cube.encoding["sha256"]), "id": str(cube.attrs["id"])},
        "command": shlex.join(["./run", "collpress", "findings", campaign, "--platform", platform]),
        "headlines": [finding.document() for finding in headlines(told)],
        "findings": [finding.document() for _, found in told for finding in found],
    }


def page(cube: xr.DataTree, content: Mapping[str, Any], told: Told) -> str:
    """The content of findings.md."""
    digits = _digits(cube)
    where = f"{content['campaign']}/{content['platform']}"
    lines = [
        f"# Findings: {content['campaign']} on {content['platform']}",
        "",
        f"{cube.attrs['ok_points']} of {cube.attrs['planned_points']} points are ok, in "
        f"{content['launches']} launch{'es' if content['launches'] > 1 else ''}. {_sure(content['launches'])}",
        "",
        *_load(cube),
        *_cards(cube),
        f"Cube {content['cube']['sha256']}; made by `{content['command']}`. "
        f"`[show ID …]` names points: `./run collpress show {shlex.quote(where)}:ID` tells all that is known of one.",
    ]
    for rule, found in told:
        if found:
            lines += ["", f"## {rule.title}", "", rule.method + rule.extent(found), ""]
            lines += [f"- {finding.text}{_shown(finding, digits)}" for finding in found]
    return "\n".join(lines) + "\n"


def _load(cube: xr.DataTree) -> list[str]:
    """Who else was working, as far as the load average tells; nothing where no record does."""
    seen = load(cube)
    if seen is None:
        return []
    warning = f" **Warning: {CROWDED}, so others than the ranks may have disturbed the times.**" if seen.crowded else ""
    about = "averages over a minute, which count the ranks of a launch that ended shortly before"
    return [f"{seen.words[0].upper()}{seen.words[1:]} ({about}).{warning}", ""]


def _cards(cube: xr.DataTree) -> list[str]:
    """Links to what the datasets of the cube look like, as seen from where the page lies."""
    here = Places(str(cube.attrs["campaign"]), str(cube.attrs["platform"])).directory
    known = provenance(cube).get("datasets") or {}
    links = [f"[{name}]({os.path.relpath(card_file(name).with_suffix('.svg'), here)})" for name in known]
    return [f"What the data look like: {', '.join(links)}.", ""] if links else []


def _sure(launches: int) -> str:
    if launches == 1:
        return "One launch has no confidence: no difference is shown, whatever the numbers look like."
    return "Differences count as shown only where launches on both sides allow it."


def _shown(finding: Finding, digits: int) -> str:
    ids = list(dict.fromkeys(p.id[:digits] for p in finding.points))
    if not ids:
        return ""
    more = f"; {len(ids) - _MOST} more in findings.json" if len(ids) > _MOST else ""
    return f" [show {' '.join(ids[:_MOST])}{more}]"


def _digits(cube: xr.DataTree) -> int:
    """How many digits tell all ids of the cube apart."""
    ids = {p.id for child in cube.children.values() for p in points(child.to_dataset())}
    digits = _SHORTEST
    while len({i[:digits] for i in ids}) < len(ids):
        digits += 1
    return digits
