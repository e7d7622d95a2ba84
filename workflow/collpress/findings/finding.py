"""A finding: one sentence, the number behind it, and the points that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collpress.analysis.points import Point
from collpress.analysis.ratios import Ratio


@dataclass(frozen=True)
class Finding:
    """What a rule says of some points.

    rule, verdict : short words that a program can ask for; each rule states its own.
    text : made from the numbers by the rule.
    value, low, high : in `unit` (`1` for ratios, shares and counts); None where there is none, as limits of one launch.
    confidence : 0 to 1, of `low` and `high`; None without limits.
    choices : of how many the best was picked: the error probability of `confidence` was divided by it. None for what is
        no ratio, or has no limits.
    """

    rule: str
    verdict: str
    text: str
    points: tuple[Point, ...]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    unit: str = "1"
    choices: int | None = None

    def document(self) -> dict[str, Any]:
        """As it stands in findings.json."""
        return {
            "rule": self.rule,
            "verdict": self.verdict,
            "text": self.text,
            "value": self.value,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "choices": self.choices,
            "points": [
                {"experiment": p.experiment, "id": p.id, "key": p.key, "factors": dict(p.factors)} for p in self.points
            ],
        }


def of_ratio(rule: str, verdict: str, text: str, points: tuple[Point, ...], ratio: Ratio) -> Finding:
    """A finding whose number is a ratio of medians."""
    confidence, choices = (ratio.confidence, ratio.choices) if ratio.low is not None else (None, None)
    return Finding(rule, verdict, text, points, ratio.value, ratio.low, ratio.high, confidence, choices=choices)
