"""Rules: whether every result was right, and which fidelity metric has no value."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr

from collpress.analysis.points import Point, points
from collpress.findings import words
from collpress.findings.finding import Finding

BOUND, FIDELITY = "error_over_bound", "metric_without_value"
_ERRORS = ("max_abs_error", "codec_bound", "rounding_bound")


def error_over_bound(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """The largest error over what codec and rounding may cause, for results with and without a codec's bound; then
    every result that broke its bound.

    A point's error is the largest of its launches, checked over the whole buffer against the float64 oracle. Verdicts:
    `within`, `violated`, `nothing checked`.
    """
    found = [p for group in groups for p in points(group, _ERRORS)]
    checked = [p for p in found if p.numbers["max_abs_error"] is not None]
    if not checked:
        return [Finding(BOUND, "nothing checked", "no result was checked", ())]
    broken = [p for p in checked if p.status == "invalid" or (_share(p) or 0.0) > 1]
    lossy = [p for p in checked if p.numbers["codec_bound"]]
    plain = [p for p in checked if not p.numbers["codec_bound"]]
    return [
        *_largest(lossy, "codec and rounding", "with a codec's bound"),
        *_largest(plain, "the plain sum's rounding", "without a codec's bound"),
        *map(_violation, broken),
    ]


def metric_without_value(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """Metrics that could not be computed, by reason; nothing for a cube without fidelity metrics.

    Verdicts: `missing`; `none` where every metric that was asked for has its value.
    """
    withs = [group for group in groups if "fidelity_problem" in group]
    found = [finding for group in withs for finding in _problems(group)]
    if withs and not found:
        found = [Finding(FIDELITY, "none", "every fidelity metric has its value", ())]
    return found


def _largest(found: list[Point], allowance: str, kind: str) -> list[Finding]:
    """Nothing where no result is of this kind; an exact result has error 0, whatever may be caused."""
    if not found:
        return []
    top = max(found, key=lambda p: _share(p) or 0.0)
    value = _share(top) or 0.0
    broken = sum(p.status == "invalid" or (_share(p) or 0.0) > 1 for p in found)
    verdict = f"{words.count(broken, 'result')} above the bound" if broken else "none above the bound"
    text = (
        f"{words.count(len(found), 'point')} {kind} checked in every launch, {verdict}; largest error "
        f"{words.number(value)} of what {allowance} may cause: {words.point(top)}"
    )
    return [Finding(BOUND, "violated" if broken else "within", text, (top,), value)]


def _violation(point: Point) -> Finding:
    share = _share(point)
    told = f"{words.number(share)} of what is allowed" if share is not None else "where none is allowed"
    text = f"{words.point(point)}: error {told}; status {point.status}: {point.reason or 'no reason given'}"
    return Finding(BOUND, "violated", text, (point,), share)


def _share(point: Point) -> float | None:
    """Largest error over the sum of both bounds; None where nothing is allowed, or nothing known of it."""
    error, codec, rounding = (point.numbers[name] for name in _ERRORS)
    allowed = (codec or 0.0) + (rounding or 0.0)
    return error / allowed if error is not None and allowed > 0 else None


def _problems(group: xr.Dataset) -> list[Finding]:
    texts = group["fidelity_problem_text"].values.astype(str)
    by_text: dict[int, list[Point]] = {}
    for point in points(group, ("fidelity_problem",)):
        code = point.numbers["fidelity_problem"]
        if code:
            by_text.setdefault(int(code), []).append(point)
    return [
        Finding(
            FIDELITY,
            "missing",
            f"{members[0].experiment}: {texts[code]} ({words.count(len(members), 'point')})",
            tuple(members),
            float(len(members)),
        )
        for code, members in sorted(by_text.items())
    ]
