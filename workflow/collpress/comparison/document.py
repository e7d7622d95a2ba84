"""A comparison as one JSON document (docs/contracts.md, "Comparison")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collpress.analysis.circumstances import provenance
from collpress.analysis.comparison import Odd, Pair
from collpress.analysis.regression import RATE, Judged
from collpress.comparison.subject import Subject
from collpress.comparison.told import Told

SCHEMA = 2


def document(told: Told) -> dict[str, Any]:
    """Times in seconds; null where there is no number."""
    comparison, judged = told.comparison, {id(j.pair): j for j in told.judgement.judged}
    only_a, both, only_b = comparison.algorithms
    sides = {"a": told.a, "b": told.b}
    return {
        "schema": SCHEMA,
        "machine": {side: provenance(of.measured).get("hardware") for side, of in sides.items()},
        "rows": [_pair(pair, judged.get(id(pair))) for pair in told.pairs] + [_odd(odd) for odd in comparison.odd],
        "summary": {
            **{side: _identity(of) for side, of in sides.items()},
            "command": told.command,
            "metric": comparison.metric,
            **{name.replace(" ", "_"): count for name, count in comparison.counts().items()},
            "expected_by_chance": comparison.expected_by_chance(),
            "gate": _gate(told),
            "library_algorithms": {"only_a": only_a, "both": both, "only_b": only_b},
            "warnings": told.warnings,
        },
    }


def _identity(side: Subject) -> Mapping[str, Any]:
    attrs = side.measured.attrs
    named = {name: str(attrs.get(name, "")) for name in ("campaign", "platform", "id")}
    kept = {"cube_sha256": side.measured.sha256 or None, "baseline": side.baseline, "mpi": side.mpi}
    return {"asked": side.asked, **named, **kept}


def _gate(told: Told) -> dict[str, Any]:
    gate, judgement = told.gate, told.judgement
    return {
        "fail_if": gate.rule or None,
        "require_all": gate.require_all,
        "threshold": judgement.threshold,
        "false_discovery_rate": RATE,
        "judged": len(judgement.judged),
        "regressions": len(judgement.regressions),
        "together_to_show": judgement.together,
        "launches_to_show_one": judgement.launches,
        "missing": len(gate.missing(told.comparison)),
    }


def _pair(pair: Pair, judged: Judged | None) -> dict[str, Any]:
    ratio = pair.ratio
    return {
        "experiment": pair.experiment,
        "id": pair.id,
        "factors": pair.factors,
        "differs": pair.differs or None,
        "a": pair.a.median,
        "b": pair.b.median,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "confidence": ratio.confidence,
        "p": pair.p,
        "q": judged.q if judged else None,
        "launches": list(ratio.n)[::-1],
        "same_launches": pair.same_launches,
        "verdict": pair.verdict,
        "reason": pair.reason or None,
        "regression": bool(judged and judged.regression),
    }


def _odd(odd: Odd) -> dict[str, Any]:
    told = {
        side: {"status": seen.status, "reason": seen.reason or None, "median": seen.median}
        for side, seen in (("a", odd.a), ("b", odd.b))
    }
    common = {"experiment": odd.experiment, "id": odd.id, "factors": odd.factors}
    return {**common, **told, "verdict": "not comparable", "reason": odd.reason}
