"""A comparison as a picture, in the house style and with its provenance inside, as all figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

from collpress import figures
from collpress.analysis.circumstances import provenance
from collpress.comparison.subject import Subject
from collpress.comparison.told import Told
from collpress.figures import comparison as figure_of_comparison
from collpress.figures import style
from collpress.figures.pictures import Stamp, foot, pictures, replace, sources_digest
from collpress.figures.registry import modules_behind, width_of
from collpress.layout import ROOT
from collpress.provenance import git_state

SCHEMA = 1
_HOUSE = Path(figures.__file__).parent


def write_pictures(told: Told, paths: Sequence[Path], root: Path = ROOT) -> list[Path]:
    """Draw `told` into files that end in pdf, svg or png; a stem that ends in `-single` is for one column of a page.

    Raises
    ------
    CollpressError : a file cannot be written.
    """
    return [_write(told, path, root) for path in paths]


def _write(told: Told, path: Path, root: Path) -> Path:
    width = width_of(path.stem)
    with style.house():
        figure, rows = figure_of_comparison.compared(
            told.pairs, told.judgement, (told.a.asked, told.b.asked), gated=bool(told.gate.rule), width=width
        )
        content = _stamp(told, width, root)
        moment = str(content["b"]["last_record_utc"] or "no record")[:10]
        digests = " and ".join(str(content[side]["cube_sha256"])[:12] for side in ("a", "b"))
        start = f"B {told.b.asked} over A {told.a.asked}"
        foot(figure, start, f" · data of {moment} · cubes {digests} · figure {content['id'][:12]}")
        title = f"collpress: {told.b.asked} compared with {told.a.asked}"
        data = pictures(figure, content, title, _caption(told, rows))[path.suffix.removeprefix(".")]
    return replace(path.parent, {path.name: data})[0]


def _stamp(told: Told, width: style.Width, root: Path) -> Stamp:
    """What to write into the picture; no moment of now is in it."""
    drawn_by = sources_digest(
        modules_behind(
            [Path(figure_of_comparison.__file__), *(_HOUSE / name for name in ("style.py", "pictures.py"))],
            ("figures", "analysis"),
        )
    )
    sides = {"a": _side(told.a), "b": _side(told.b)}
    asked = [SCHEMA, width, told.comparison.metric, told.gate.rule, told.order, drawn_by]
    identity = json.dumps([*asked, *(side["cube_sha256"] for side in sides.values())])
    return {
        "schema": SCHEMA,
        "id": hashlib.sha256(identity.encode("utf-8")).hexdigest()[:32],
        "figure": "comparison",
        "command": told.command,
        **sides,
        "metric": told.comparison.metric,
        "sources_sha256": drawn_by,
        "git": git_state(root),
        "software": {"matplotlib": matplotlib.__version__, "font": style.font()},
    }


def _side(of: Subject) -> dict[str, Any]:
    attrs, found = of.measured.attrs, provenance(of.measured)
    return {
        "asked": of.asked,
        "baseline": of.baseline,
        **{name: str(attrs.get(name, "")) for name in ("campaign", "platform", "id")},
        "cube_sha256": of.measured.sha256,
        "last_record_utc": found.get("last_record_utc"),
        "git": found.get("git"),
        "hardware": found.get("hardware"),
        "world": found.get("world"),
    }


def _caption(told: Told, rows: int) -> str:
    counts = told.comparison.counts()
    warned = f" Beware: {'; '.join(told.warnings)}." if told.warnings else ""
    few = f", {counts['not comparable']} with too few launches to tell" if counts["not comparable"] else ""
    judged = f" {told.verdict[0].upper()}{told.verdict[1:]}; {told.power}." if told.judgement.judged else ""
    return (
        f"Time of B over time of A, {told.comparison.metric}, medians over launches. A: {told.a.words}. B: "
        f"{told.b.words}. Bars are exact bootstrap limits of 95 % over launches; a difference is claimed where they "
        f"leave out 1 and an exact rank test (Mann and Whitney) has p of 5 % or less. {counts['compared']} points "
        f"compared, {rows} shown: B is faster in {counts['faster']}, slower in {counts['slower']}, no difference is "
        f"shown in {counts['no difference shown']}{few}; {len(told.comparison.odd)} points are not compared."
        f"{judged}{warned}"
    )
