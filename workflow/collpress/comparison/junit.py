"""A comparison for CI systems: JUnit's XML, a test case a point.

Valid by Ant's schema (windyroad's JUnit.xsd) and by that of Jenkins' xUnit plugin (junit-10.xsd). No moment of now is
in it: the suite's time stamp is that of B's last record.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from collpress.analysis.circumstances import provenance
from collpress.analysis.comparison import Odd, Pair
from collpress.analysis.measured import Factors
from collpress.analysis.regression import Judged
from collpress.comparison import table
from collpress.comparison.told import Told
from collpress.comparison.words import ratio_words
from collpress.printable import one_line, printable

_SAME = "the very same launches in A and B: it was not measured again"
_LONG_AGO = "1970-01-01T00:00:00"


def junit(told: Told) -> bytes:
    """The whole file, UTF-8.

    A regression is a failure, where the gate asks for it. A point that is not compared, or was not measured again, is
    skipped; it is an error where the gate asks for all points, or where nothing could fail: no success, that is.
    """
    world = provenance(told.b.measured).get("world") or {}
    cases = list(_cases(told))
    attrs = told.b.measured.attrs
    suite = ET.Element(
        "testsuite",
        {
            "name": _token(f"{told.comparison.metric} of {told.b.asked} over {told.a.asked}"),
            "package": _token(f"collpress.{attrs.get('campaign')}.{attrs.get('platform')}"),
            "id": "0",
            "timestamp": _moment(provenance(told.b.measured).get("last_record_utc")),
            "hostname": _token(",".join(world.get("hosts") or []) or "localhost"),
            "tests": str(len(cases)),
            "failures": str(_count(cases, "failure")),
            "errors": str(_count(cases, "error")),
            "skipped": str(_count(cases, "skipped")),
            "time": "0",
        },
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(told):
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "\n".join(printable(line) for line in table.lines(told))
    ET.SubElement(suite, "system-err").text = "\n".join(f"warning: {one_line(w)}" for w in told.warnings)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _cases(told: Told) -> Iterator[ET.Element]:
    comparison, gate = told.comparison, told.gate
    failed = {id(j.pair): j for j in told.judgement.regressions} if gate.rule else {}
    missing = {id(one) for one in gate.missing(comparison)} if gate.require_all else set()
    blind = gate.blind(comparison) is not None
    everything: list[Pair | Odd] = [*told.pairs, *comparison.odd]
    for one in everything:
        where = {"classname": _token(f"collpress.{one.experiment}"), "name": _name(one.factors), "time": "0"}
        case = ET.Element("testcase", where)
        if id(one) in failed:
            judged = failed[id(one)]
            said = f"{gate.rule}: {ratio_words(judged.pair)}"
            ET.SubElement(case, "failure", {"type": "regression", "message": said}).text = _evidence(judged)
        elif said := one.reason or (_SAME if isinstance(one, Pair) and one.same_launches else ""):
            if id(one) in missing or blind:
                ET.SubElement(case, "error", {"type": "not compared", "message": one_line(said)})
            else:
                ET.SubElement(case, "skipped", {"message": one_line(said)})
        yield case


def _evidence(judged: Judged) -> str:
    pair = judged.pair
    return (
        f"point {pair.id or 'without an id'}\nlaunches of A (s): {', '.join(map(repr, pair.a.launches))}\n"
        f"launches of B (s): {', '.join(map(repr, pair.b.launches))}\np {judged.p!r} (rank test against the threshold, "
        f"one-sided), q {judged.q!r} (after adjustment for all points)"
    )


def _properties(told: Told) -> Iterator[tuple[str, str]]:
    for side, of in (("a", told.a), ("b", told.b)):
        attrs = of.measured.attrs
        yield side, of.words
        yield f"{side}.campaign", f"{attrs.get('campaign')}/{attrs.get('platform')}"
        yield f"{side}.cube_id", str(attrs.get("id", ""))
        yield f"{side}.cube_sha256", of.measured.sha256
    yield "command", told.command
    yield "metric", told.comparison.metric
    yield "fail_if", told.gate.rule
    yield "require_all", str(told.gate.require_all).lower()
    if told.judgement.judged:
        yield "verdict", told.verdict
        yield "power", told.power


def _name(factors: Factors) -> str:
    """All factors, so that a point's name is the same in every comparison."""
    return _token(", ".join(f"{name} {value}" for name, value in factors.items()))


def _count(cases: list[ET.Element], kind: str) -> int:
    return sum(case.find(kind) is not None for case in cases)


def _token(text: str) -> str:
    """XML Schema's token: one line, no blanks at the ends, never empty."""
    return one_line(text) or "-"


def _moment(utc: object) -> str:
    """`2026-01-31T12:00:00.000000Z` to the second and without a zone, as the schema wants it."""
    found = re.match(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", str(utc))
    return found[0] if found else _LONG_AGO
