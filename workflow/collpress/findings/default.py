"""Rule: the library's choice against the best other algorithm, wherever both could run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import xarray as xr

from collpress.analysis.points import Point
from collpress.analysis.ratios import Ratio
from collpress.analysis.rivals import Choice, choices
from collpress.findings import words
from collpress.findings.finding import Finding, of_ratio

RULE = "best_over_default"
CHOICE = "the library's choice"


def best_over_default(groups: Iterable[xr.Dataset]) -> list[Finding]:
    """First all cells together, then each that is compared, then the others by what stood in the way.

    Verdicts: those of `rivals.Choice`; of all cells together the one of the cell that is quoted, or `nothing compared`.
    """
    found = [c for group in groups for c in choices(group) if c.verdict != "no rival"]
    return [_together(found), *(f for c in found if (f := _cell(c)) is not None), *_without_ratio(found)]


def _together(found: list[Choice]) -> Finding:
    compared = [c for c in found if c.ratio is not None]
    if not compared:
        return Finding(RULE, "nothing compared", "the library's choice and another algorithm are nowhere both ok", ())
    shown = [c for c in compared if c.verdict == "rival faster"]
    top = max(shown or compared, key=lambda c: c.ratio.value if c.ratio else 0.0)
    assert top.ratio is not None
    assert top.best is not None
    cells = words.count(len(compared), "case")
    if shown:
        said = f"another algorithm is faster than {CHOICE} in {len(shown)} of {cells}; {_largest(top.ratio)}"
    elif all(c.verdict == "default faster" for c in compared):
        nearest = f"the nearest takes {words.slower(top.ratio, 'it')}"
        said = f"{CHOICE} is faster than the best rival in {len(compared)} of {cells}; {nearest}"
    elif top.verdict == "unknown":
        said = f"too few launches to show a difference to {CHOICE} in {cells}; {_largest(top.ratio)}"
    else:
        said = f"no algorithm is shown to be faster than {CHOICE} in {cells}; {_largest(top.ratio)}"
    return of_ratio(RULE, top.verdict, f"{said}: {words.point(top.best)}", _pair(top), top.ratio)


def _cell(c: Choice) -> Finding | None:
    if c.ratio is None or c.best is None:
        return None
    best = f"{words.subject(c.best)}, the best of {words.count(len(c.rivals), 'rival')}"
    said = {
        "rival faster": f"{best}, is {words.faster(c.ratio, CHOICE)}",
        "default faster": f"{best}, takes {words.slower(c.ratio, CHOICE)}",
        "no difference": f"no difference shown between {CHOICE} and {best}; ratio {_ratio(c.ratio)}",
        "unknown": f"too few launches to show a difference between {CHOICE} and {best}; ratio {_ratio(c.ratio)}",
    }[c.verdict]
    return of_ratio(RULE, c.verdict, f"{words.place(c.factors)}: {said}", _pair(c), c.ratio)


def _without_ratio(found: list[Choice]) -> Iterator[Finding]:
    """Cells that cannot be compared, together where the reason is the same."""
    groups: dict[tuple[str, str], list[Choice]] = {}
    for c in found:
        if c.ratio is None or c.best is None:
            groups.setdefault((c.verdict, _not_compared(c)), []).append(c)
    for (verdict, reason), cells in groups.items():
        first = words.place(cells[0].factors)
        text = f"{first}: {reason}" if len(cells) == 1 else f"{len(cells)} cases: {reason} ({first}, ...)"
        yield Finding(RULE, verdict, text, tuple(p for c in cells for p in _stood_in_the_way(c)))


def _largest(ratio: Ratio) -> str:
    return f"the largest ratio is {_ratio(ratio)}"


def _ratio(ratio: Ratio) -> str:
    return words.number(ratio.value) + words.limits(ratio)


def _not_compared(c: Choice) -> str:
    if c.default is None:
        return f"{CHOICE} was not planned"
    if not c.default.ok:
        return f"{CHOICE} is {c.default.status.replace('_', ' ')}: {c.default.reason or 'no reason given'}"
    return words.none_ok(c.rivals, "rival")


def _stood_in_the_way(c: Choice) -> tuple[Point, ...]:
    """The default where it is to blame, else the rivals."""
    return c.rivals if c.default is None or c.default.ok else (c.default,)


def _pair(c: Choice) -> tuple[Point, ...]:
    return tuple(p for p in (c.best, c.default) if p is not None)
