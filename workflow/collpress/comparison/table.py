"""A comparison for a terminal: a table an experiment, what is not compared, and what can be said of all together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collpress.analysis.comparison import Odd, Pair
from collpress.analysis.statistics import CONFIDENCE
from collpress.comparison.told import Told, parted
from collpress.comparison.words import factor, limits, percent, point, ratio_words, seconds

FEW = 20
"""Points listed of one kind; the rest are counted."""


def lines(told: Told) -> Iterator[str]:
    """The whole text, line by line; warnings are not in it."""
    comparison = told.comparison
    yield f"A: {told.a.words}"
    yield f"B: {told.b.words}"
    yield (
        f"{comparison.metric}, medians over launches; ratio B/A with its limits of {percent(CONFIDENCE)} (exact "
        "bootstrap); p of the rank test (Mann and Whitney, two-sided); the verdict is on B, a difference is claimed "
        "where both show it"
    )
    for experiment in dict.fromkeys(pair.experiment for pair in told.pairs):
        yield from _experiment(experiment, [pair for pair in told.pairs if pair.experiment == experiment])
    yield from _odd(comparison.odd)
    yield from _summary(told)
    yield from _regressions(told)


def _experiment(experiment: str, pairs: Sequence[Pair]) -> Iterator[str]:
    varying, fixed = parted([pair.factors for pair in pairs])
    differs = any(pair.differs for pair in pairs)
    rows = [[*varying, "A", "B", "B/A", "limits", "p", "B is", *(["though"] if differs else [])]]
    for pair in pairs:
        numbers = [*map(seconds, pair.medians), f"{pair.ratio.value:.3g}", limits(pair), f"{pair.p:.2g}"]
        verdict = f"{pair.verdict}: too few launches" if pair.reason else pair.verdict
        values = [factor(name, pair.factors.get(name, "")) for name in varying]
        rows.append([*values, *numbers, verdict, *([pair.differs] if differs else [])])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    yield ""
    yield f"{experiment} ({_values(fixed)})"
    for row in rows:
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _values(factors: dict[str, int | str]) -> str:
    return ", ".join(f"{name} {factor(name, value)}" for name, value in factors.items())


def _odd(odd: Sequence[Odd]) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[Odd]] = {}
    for one in odd:
        groups.setdefault((one.experiment, one.a.words, one.b.words), []).append(one)
    if groups:
        yield ""
        yield "not compared:"
    for (experiment, a, b), members in groups.items():
        varying, fixed = parted([one.factors for one in members])
        yield f"  {experiment}: A {a}; B {b} ({len(members)}: {_values(fixed)})"
        for one in members[:FEW] if varying else []:
            yield "    " + ", ".join(f"{name} {factor(name, one.factors.get(name, ''))}" for name in varying)
        if len(members) > FEW:
            yield f"    ... and {len(members) - FEW} more; --json has all"


def _summary(told: Told) -> Iterator[str]:
    comparison, counts = told.comparison, told.comparison.counts()
    only_a, both, only_b = comparison.algorithms
    few = f", {counts['not comparable']} with too few launches to tell" if counts["not comparable"] else ""
    yield ""
    yield (
        f"{counts['compared']} points compared: B is faster in {counts['faster']}, slower in {counts['slower']}, "
        f"no difference shown in {counts['no difference shown']}{few}"
    )
    if comparison.pairs:
        yield (
            "each point is judged alone: if nothing differed, chance would show up to about "
            f"{comparison.expected_by_chance():.1f} differences. Launches of one campaign do not cover drift: "
            "what changed on the machine between the two campaigns counts as a difference"
        )
    if told.judgement.judged:
        yield told.verdict
        yield told.power
    left = [(counts["only_a"], "only in A"), (counts["only_b"], "only in B"), (counts["not_ok"], "not ok in both")]
    yield "not compared: " + (", ".join(f"{count} {words}" for count, words in left if count) or "none")
    yield (
        f"library algorithms by name: {len(both)} in both ({', '.join(both) or 'none'}); "
        f"{len(only_a)} only in A, {len(only_b)} only in B"
    )


def _regressions(told: Told) -> Iterator[str]:
    found = told.judgement.regressions
    if not (told.gate.rule and found):
        return
    yield ""
    yield f"regressions ({told.gate.rule}), the worst first:"
    for one in found[:FEW]:
        yield f"  {point(one.pair.experiment, one.pair.factors)}: {ratio_words(one.pair)}, q {one.q:.2g}"
    if len(found) > FEW:
        yield f"  ... and {len(found) - FEW} more; --json has all"
