"""Rules: where a codec pays, over the same algorithm without one and over the library's choice, and below which link
rate it would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import xarray as xr

from collpress.analysis.payoff import Payoff, Rate, baselines, payoffs, speed_up
from collpress.analysis.points import Point
from collpress.analysis.ratios import Ratio
from collpress.findings import words
from collpress.findings.finding import Finding, of_ratio

OVER_PLAIN, OVER_DEFAULT, BREAK_EVEN = "codec_over_none", "codec_over_default", "break_even"
_SERIES = ("message_bytes", "ranks", "nodes")
"""What a break-even rate is told the extremes of."""
_VERDICTS = {"greater": "pays", "less": "does not pay", "no difference": "no difference", "unknown": "unknown"}


@dataclass(frozen=True)
class _Cell:
    """The fastest codec of one place beside its reference; its ratio is corrected for having been picked."""

    coded: Sequence[Point]
    best: Point | None
    reference: Point | None
    ratio: Ratio | None

    @property
    def verdict(self) -> str:
        return _VERDICTS[self.ratio.shown] if self.ratio else "not compared"

    @property
    def points(self) -> tuple[Point, ...]:
        coded = self.coded if self.best is None else (self.best,)
        return (*coded, *([self.reference] if self.reference is not None else []))


def codec_over_none(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """First all cells together, then each cell: the fastest codec and bound against the same algorithm without one
    (`payoff.Payoff` says which).

    Verdicts: `pays`, `does not pay` (not even the fastest), `no difference`, `unknown` (too few launches), `not
    compared`; of all together also `nothing compared`.
    """
    return _rule(OVER_PLAIN, groups)


def codec_over_default(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """As `codec_over_none`, against what a user gets who asks for nothing."""
    return _rule(OVER_DEFAULT, groups)


def break_even(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """For each data, algorithm, codec and bound the smallest and the largest break-even rate of its sizes and worlds.

    Never a mean: `value` is the smallest, in byte/s per rank, with its limits over launches; the text has the largest.
    Verdicts: `rate`, `no bytes saved` (at some size), `unknown`.
    """
    series: dict[tuple[object, ...], list[Payoff]] = {}
    for group in groups:
        for p in payoffs(group):
            key = p.point.experiment, *p.point.without(*_SERIES)
            series.setdefault(key, []).append(p)
    return [_rates(members) for members in series.values()]


def _rule(rule: str, groups: Iterable[xr.Dataset]) -> list[Finding]:
    cells = [cell for group in groups for cell in _cells(group, rule)]
    return [_together(rule, cells), *(_one(rule, cell) for cell in cells)] if cells else []


def _cells(group: xr.Dataset, rule: str) -> list[_Cell]:
    found: dict[tuple[tuple[str, str | int], ...], list[Payoff]] = {}
    for p in payoffs(group):
        found.setdefault(p.point.without("codec", "error_bound"), []).append(p)
    return [_cell(members, rule) for members in found.values()]


def _cell(members: Sequence[Payoff], rule: str) -> _Cell:
    coded = [p.point for p in members]
    reference = members[0].plain if rule == OVER_PLAIN else members[0].default
    best = min((p for p in coded if p.ok), key=lambda p: p.time, default=None)
    ratio = speed_up(best, reference, len(coded)) if best is not None else None
    return _Cell(coded, best, reference, ratio)


def _together(rule: str, cells: Sequence[_Cell]) -> Finding:
    compared = [c for c in cells if c.ratio is not None]
    if not compared:
        nowhere = f"nowhere are a codec and {_than(rule, cells)} both ok"
        return Finding(rule, "nothing compared", nowhere, ())
    paying = [c for c in compared if c.verdict == "pays"]
    top = max(paying or compared, key=lambda c: c.ratio.value if c.ratio else 0.0)
    assert top.ratio is not None
    assert top.best is not None
    cases, than = words.count(len(compared), "case"), _than(rule, compared)
    if paying:
        most = f"the largest ratio is {words.number(top.ratio.value)}{words.limits(top.ratio)}"
        said = f"a codec is faster than {than} in {len(paying)} of {cases}; {most}"
    elif all(c.verdict == "does not pay" for c in compared):
        said = f"no codec pays in {cases}; the nearest takes {words.slower(top.ratio, than)}"
    elif top.verdict == "unknown":
        said = f"too few launches to show whether a codec pays in {cases}; the nearest {_undecided(top.ratio, than)}"
    else:
        said = f"no codec is shown to pay in {cases}; the nearest {_undecided(top.ratio, than)}"
    return of_ratio(rule, top.verdict, f"{said}: {words.point(top.best)}", top.points, top.ratio)


def _one(rule: str, cell: _Cell) -> Finding:
    place, than = words.place(cell.coded[0].factors), _than(rule, [cell])
    if cell.ratio is None or cell.best is None:
        return Finding(rule, cell.verdict, f"{place}: {_not_compared(cell, than)}", cell.points)
    best = f"{words.subject(cell.best)}, the fastest of {words.count(len(cell.coded), 'codec setting')}"
    said = {
        "pays": f"{best}, is {words.faster(cell.ratio, than)}",
        "does not pay": f"{best}, takes {words.slower(cell.ratio, than)}",
        "no difference": f"no difference shown: {best}, {_undecided(cell.ratio, than)}",
        "unknown": f"too few launches to show a difference: {best}, {_undecided(cell.ratio, than)}",
    }[cell.verdict]
    return of_ratio(rule, cell.verdict, f"{place}: {said}", cell.points, cell.ratio)


def _than(rule: str, cells: Sequence[_Cell]) -> str:
    """What the codecs of some cells are measured against."""
    return "the library's choice" if rule == OVER_DEFAULT else baselines([c.reference for c in cells])


def _undecided(ratio: Ratio, than: str) -> str:
    return f"has {words.number(ratio.value)} times the speed of {than}{words.limits(ratio)}"


def _not_compared(cell: _Cell, than: str) -> str:
    if cell.best is None:
        return words.none_ok(cell.coded, "codec setting")
    if cell.reference is None:
        return f"{than} was not planned"
    return f"{than} is {cell.reference.status.replace('_', ' ')}: {cell.reference.reason or 'no reason given'}"


def _rates(members: Sequence[Payoff]) -> Finding:
    known = sorted(((p.break_even, p) for p in members if p.break_even is not None), key=lambda pair: pair[0].value)
    first = members[0].point
    series = {n: v for n, v in first.factors.items() if n not in _SERIES}
    name = f"{words.subject(first)}, {words.place(series)}"
    if not known:
        planned = any(p.identity is not None for p in members)
        why = "bytes or phases are missing" if planned else "the same without a codec (none) was not planned"
        text = f"{name}: no rate, because {why}"
        return Finding(BREAK_EVEN, "unknown", text, tuple(p.point for p in members))
    (low, worst), (high, best) = known[0], known[-1]
    ends = [worst] if low.value == high.value else [worst, best]
    points = tuple(q for p in ends for q in (p.point, p.identity) if q is not None)
    if low.value == high.value:
        said = _pays(low) if low.value else "saves no bytes, so it would pay at no link rate"
        text = f"{name}: {said}{_where(worst)}"
    else:
        at_worst = f"{_pays(low)} at worst" if low.value else "saves no bytes at worst"
        text = f"{name}: {at_worst}{_where(worst)}; below {words.gbit(high)} at best{_where(best)}"
    verdict = "rate" if low.value else "no bytes saved"
    return Finding(BREAK_EVEN, verdict, text, points, low.value, low.low, low.high, low.confidence, "byte/s")


def _pays(rate: Rate) -> str:
    return f"would pay below {words.gbit(rate)}"


def _where(payoff: Payoff) -> str:
    return f", at {words.place({n: payoff.point.factors[n] for n in _SERIES})}"
