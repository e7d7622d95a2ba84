"""The rules in the order of the page, each with its title and how it judges; one more rule is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import xarray as xr

from collpress.analysis.payoff import ASSUMPTIONS, FORMULA
from collpress.findings import compression, coverage, default, results
from collpress.findings.finding import Finding

Find = Callable[[Iterable[xr.Dataset]], list[Finding]]


@dataclass(frozen=True)
class Rule:
    """A rule: from the groups of a cube to findings.

    headline : whether the first finding sums up all others of the rule and is told at the end of a run.
    """

    title: str
    method: str
    find: Find
    headline: bool = False


_PICKED = (
    "Ratios are of medians over launches, with exact bootstrap limits; the error probability is divided by the number "
    "of {} that the best was picked from (Bonferroni). A difference is shown where the limits leave out 1."
)
RULES: Sequence[Rule] = (
    Rule("The library's choice", _PICKED.format("rivals"), default.best_over_default, True),
    Rule(
        "Codecs against the same algorithm without one",
        _PICKED.format("codec settings"),
        compression.codec_over_none,
        True,
    ),
    Rule("Codecs against the library's choice", _PICKED.format("codec settings"), compression.codec_over_default),
    Rule(
        "Break-even link rates",
        f"{FORMULA}; {ASSUMPTIONS}. Quotients of medians over launches, never averaged.",
        compression.break_even,
    ),
    Rule(
        "Errors against their bounds",
        "Every result is compared over its whole buffer with a float64 oracle; a point's error is the largest of its "
        "launches.",
        results.error_over_bound,
        True,
    ),
    Rule("Metrics without a value", "What could not be computed, and why.", results.metric_without_value),
    Rule(
        "Noisy points",
        "A launch is noisy where the confidence interval of its median stayed wider than the campaign asks for.",
        coverage.noisy,
    ),
    Rule("Unsupported points", "What cannot be done here; no failure of the run.", coverage.unsupported),
    Rule("Points that failed", "What should be ok and is not.", coverage.failed),
)
