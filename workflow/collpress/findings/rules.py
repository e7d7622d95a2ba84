"""The rules in the order of the page, each with its title and how it judges; one more rule is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import xarray as xr

from collpress.analysis.payoff import ASSUMPTIONS, FORMULA
from collpress.analysis.ratios import FEWEST
from collpress.analysis.statistics import CONFIDENCE
from collpress.findings import compression, coverage, default, results, words
from collpress.findings.finding import Finding

Find = Callable[[Iterable[xr.Dataset]], list[Finding]]
Extent = Callable[[Sequence[Finding]], str]


def _never(first: Finding) -> bool:
    return False


def _always(first: Finding) -> bool:
    return True


def _nothing(found: Sequence[Finding]) -> str:
    return ""


def _by_chance(found: Sequence[Finding]) -> str:
    """How many of the cases chance would show; the first finding sums up the others and is no case of its own."""
    judged = sum(f.low is not None and f.verdict != "unknown" for f in found[1:])
    if not judged:
        return ""
    shown = words.number((1 - CONFIDENCE) * judged, 2)
    return (
        f" Each case is judged alone, with {words.percent(CONFIDENCE)} confidence: if nothing differed, chance would "
        f"show a difference in about {shown} of the {words.count(judged, 'case')}."
    )


def _coverage(found: Sequence[Finding]) -> str:
    """How sure the limits of the rates are."""
    sure = sorted({f.confidence for f in found if f.confidence is not None})
    if not sure:
        return ""
    said = words.percent(sure[0]) if len(sure) == 1 else f"{words.percent(sure[0])} to {words.percent(sure[-1])}"
    return (
        f" Limits in brackets are order statistics of the launches; they hold the median with {said} (exact binomial)."
    )


@dataclass(frozen=True)
class Rule:
    """A rule: from the groups of a cube to findings.

    method : how it judges; `extent` adds what only its findings can tell.
    headline : whether the first finding, which sums up the others, is told at the end of a run.
    """

    title: str
    method: str
    find: Find
    headline: Callable[[Finding], bool] = _never
    extent: Extent = _nothing


_PICKED = (
    "Ratios are of medians over launches, with exact bootstrap limits; the error probability is divided by the number "
    "of {} that the best was picked from (Bonferroni). A difference is shown where the limits leave out 1 and launches "
    f"are enough: {FEWEST} on each side, more where the best of many was picked."
)
RULES: Sequence[Rule] = (
    Rule("The library's choice", _PICKED.format("rivals"), default.best_over_default, _always, _by_chance),
    Rule(
        "Codecs against the library's choice",
        _PICKED.format("codec settings"),
        compression.codec_over_default,
        _always,
        _by_chance,
    ),
    Rule(
        "Codecs against the same algorithm without compressing",
        f"{_PICKED.format('codec settings')} The plain algorithm is the reference algorithm of the same name; where "
        "that is not ok, the compressing one with an identity codec, which copies what the plain one sends as it is.",
        compression.codec_over_none,
        _always,
        _by_chance,
    ),
    Rule(
        "Break-even link rates",
        f"{FORMULA}; {ASSUMPTIONS}. Medians over launches of each launch's quotient.",
        compression.break_even,
        extent=_coverage,
    ),
    Rule(
        "Errors against their bounds",
        "Every result is compared over its whole buffer with a float64 oracle; a point's error is the largest of its "
        "launches.",
        results.error_over_bound,
        _always,
    ),
    Rule("Metrics without a value", "What could not be computed, and why.", results.metric_without_value),
    Rule(
        "Noisy points",
        "A launch is noisy where the confidence interval of its median stayed wider than the campaign asks for.",
        coverage.noisy,
        coverage.is_noisy,
    ),
    Rule(
        "Wrapped data",
        "Where messages are longer than the data, bytes come back that no larger field would have: ratios and rates "
        "of codecs there are those of a shorter message.",
        coverage.wrapped_data,
    ),
    Rule("Unsupported points", "What cannot be done here; no failure of the run.", coverage.unsupported),
    Rule("Points that failed", "What should be ok and is not.", coverage.failed),
)
