"""Rules: what is noisy, what cannot be done here, and what failed."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr

from collpress.analysis.points import Point, points
from collpress.analysis.wrapping import wrapped
from collpress.findings import words
from collpress.findings.finding import Finding

NOISY, UNSUPPORTED, FAILED, WRAPPED = "noisy", "unsupported", "failed", "wrapped"
MANY = 0.25
"""Share of the ok points."""


def noisy(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """First all experiments together, then per experiment the ok points that missed the asked precision in some launch,
    the widest first.

    `value` is how many. Verdicts: `noisy`; `none`; together also `many noisy`, above a quarter of all ok points.
    """
    parts = [(group, _noisy(group)) for group in groups]
    ok = sum(p.ok for group, _ in parts for p in points(group))
    restless = tuple(p for _, finding in parts for p in finding.points)
    if not restless:
        return [finding for _, finding in parts]
    verdict = "many noisy" if len(restless) > MANY * ok else NOISY
    text = (
        f"{len(restless)} of {words.count(ok, 'ok point')} ({words.percent(len(restless) / ok)}) missed the asked "
        "precision in some launch"
    )
    return [Finding(NOISY, verdict, text, restless, float(len(restless))), *(finding for _, finding in parts)]


def is_noisy(first: Finding) -> bool:
    """Whether so much is noisy that the end of a run has to say it."""
    return first.verdict == "many noisy"


def wrapped_data(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """Datasets that do not fill their messages by themselves; `value` is the smallest share of different bytes.

    Verdict: `wrapped`. Nothing where there are none.
    """
    return [Finding(WRAPPED, WRAPPED, w.words, w.points, w.least) for w in wrapped(groups)]


def unsupported(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """Points that cannot be done here, by experiment and reason; `value` is how many.

    Verdicts: `unsupported`; `none`.
    """
    found = [p for group in groups for p in points(group) if p.status == "unsupported"]
    return _by_reason(UNSUPPORTED, found) or [Finding(UNSUPPORTED, "none", "every point can be done here", ())]


def failed(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """Points that should be ok and are not, by experiment, status and reason; `value` is how many.

    Verdicts: the status; `none` where every point that can be done is ok, `no point` where none was to be measured.
    """
    found = [p for group in groups for p in points(group)]
    lost = [p for p in found if p.status not in ("ok", "unsupported")]
    if lost:
        return _by_reason(FAILED, lost)
    if not any(p.ok for p in found):
        return [Finding(FAILED, "no point", "no point is ok: none can be done here", ())]
    return [Finding(FAILED, "none", "every point that can be done here is ok", ())]


def _noisy(group: xr.Dataset) -> Finding:
    found = [p for p in points(group) if p.ok]
    restless = sorted((p for p in found if p.noisy), key=_spread, reverse=True)
    name = str(group.attrs["experiment"])
    if not found:
        return Finding(NOISY, "none", f"{name}: no point is ok", (), 0.0)
    if not restless:
        return Finding(NOISY, "none", f"{name}: all {words.count(len(found), 'point')} reached the precision", (), 0.0)
    worst = restless[0]
    text = f"{name}: {len(restless)} of {words.count(len(found), 'ok point')} missed the asked precision in some launch"
    if len(worst.times) > 1:
        low, high = min(worst.times) / worst.time, max(worst.times) / worst.time
        text += (
            f"; the medians of the launches differ most, {words.number(low)} to {words.number(high)} of their median, "
            f"at {words.point(worst)}"
        )
    return Finding(NOISY, "noisy", text, tuple(restless), float(len(restless)))


def _spread(point: Point) -> float:
    return (max(point.times) - min(point.times)) / point.time


def _by_reason(rule: str, found: list[Point]) -> list[Finding]:
    groups: dict[tuple[str, str, str], list[Point]] = {}
    for p in found:
        groups.setdefault((p.experiment, p.status, p.reason), []).append(p)
    return [
        Finding(
            rule,
            status,
            f"{experiment}: {words.count(len(members), 'point')} {status.replace('_', ' ')}: "
            f"{' '.join(reason.split()) or 'no reason given'} "
            f"({words.point(members[0])}{', ...' if members[1:] else ''})",
            tuple(members),
            float(len(members)),
        )
        for (experiment, status, reason), members in groups.items()
    ]
