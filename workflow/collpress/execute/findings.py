"""The three most telling numbers of a campaign, computed from its records: for the summary at the end of a run.

A difference is told only where the launches of both sides lie apart: with several launches the interval of a point
spans their medians, with one launch it is the confidence interval of that launch's median.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from collpress.execute.status import Coverage, Outlook, label
from collpress.records.schema import Record
from collpress.records.status import Status

DEFAULT = "library:default"


@dataclass(frozen=True)
class Timing:
    """Seconds of a point: the median over launches and the interval that its launches span."""

    point: dict[str, Any]
    median_s: float
    low_s: float
    high_s: float

    def apart_from(self, other: Timing) -> bool:
        return self.high_s < other.low_s or other.high_s < self.low_s


@dataclass(frozen=True)
class Finding:
    """A number worth telling; `text` says it in a sentence."""

    name: str
    value: float
    text: str
    keys: list[str]

    def document(self) -> dict[str, Any]:
        return asdict(self)


def findings(seen: Coverage) -> list[Finding]:
    """Best algorithm against the library's default, codec against none, error against bound; those that there are."""
    timings = [timing for outlook in seen.points if (timing := _timing(seen, outlook)) is not None]
    found = (_best_over_default(timings), _codec_over_none(timings), _error_over_bound(seen))
    return [finding for finding in found if finding is not None]


def _best_over_default(timings: Iterable[Timing]) -> Finding | None:
    plain = [timing for timing in timings if timing.point["factors"]["codec"] == "none"]
    pairs = [(timing, default) for default, timing in _pairs(plain, "algorithm", DEFAULT)]
    pairs = [(timing, default) for timing, default in pairs if timing.high_s < default.low_s]
    if not pairs:
        return None
    best, default = max(pairs, key=lambda pair: pair[1].median_s / pair[0].median_s)
    ratio = default.median_s / best.median_s
    text = f"best algorithm over the library's choice: {ratio:.2f} times as fast ({label(best.point)})"
    return Finding("best_over_default", ratio, text, [best.point["key"], default.point["key"]])


def _codec_over_none(timings: Iterable[Timing]) -> Finding | None:
    pairs = _pairs(timings, "codec", "none")
    if not pairs:
        return None
    plain, coded = max(pairs, key=lambda pair: pair[0].median_s / pair[1].median_s)
    ratio = plain.median_s / coded.median_s
    if not plain.apart_from(coded):
        text = f"best codec: no difference shown to the same collective without one ({label(coded.point)})"
        return Finding("codec_over_none", ratio, text, [coded.point["key"], plain.point["key"]])
    text = (
        f"best codec: {ratio:.2f} times as fast as the same collective without one ({label(coded.point)})"
        if ratio >= 1
        else f"no codec paid off: the nearest took {1 / ratio:.2f} times as long as without one ({label(coded.point)})"
    )
    return Finding("codec_over_none", ratio, text, [coded.point["key"], plain.point["key"]])


def _error_over_bound(seen: Coverage) -> Finding | None:
    ratios = [(ratio, outlook) for outlook in seen.points if (ratio := _worst_ratio(seen, outlook)) is not None]
    if not ratios:
        return None
    ratio, outlook = max(ratios, key=lambda pair: pair[0])
    text = f"largest error: {ratio:.3g} of what codec and rounding may cause ({label(outlook.point)})"
    return Finding("error_over_bound", ratio, text, [outlook.point["key"]])


def _worst_ratio(seen: Coverage, outlook: Outlook) -> float | None:
    records = seen.journals.of(outlook.point["key"]) if outlook.point["key"] else {}
    checks = [r.check for launch, r in records.items() if launch < seen.launches and r.check is not None]
    return max(
        (
            check.max_abs_error / (check.bound + (check.rounding_bound or 0.0))
            for check in checks
            if check.max_abs_error is not None and check.bound
        ),
        default=None,
    )


def _pairs(timings: Iterable[Timing], factor: str, reference: str) -> list[tuple[Timing, Timing]]:
    """(reference, other) for all timings that differ from a reference in one factor only.

    A codec brings its bound along, so that bounds may differ too where codecs are compared.
    """
    ignored = {factor, "error_bound"} if factor == "codec" else {factor}
    groups: dict[tuple[Any, ...], list[Timing]] = {}
    for timing in timings:
        same = tuple(
            (name, str(value)) for name, value in sorted(timing.point["factors"].items()) if name not in ignored
        )
        groups.setdefault(same, []).append(timing)
    return [
        (one, other)
        for group in groups.values()
        for one in group
        if one.point["factors"][factor] == reference
        for other in group
        if other is not one
    ]


def _timing(seen: Coverage, outlook: Outlook) -> Timing | None:
    if outlook.became.status is not Status.OK:
        return None
    records = [record for launch, record in seen.journals.of(outlook.point["key"]).items() if launch < seen.launches]
    medians = [record.time_s.median for record in records if record.time_s is not None]
    low, high = _interval(records[0]) if len(medians) == 1 else (min(medians), max(medians))
    return Timing(outlook.point, median(medians), low, high)


def _interval(record: Record) -> tuple[float, float]:
    times = record.time_s
    assert times is not None
    low = times.min if times.ci_low is None else times.ci_low
    high = times.max if times.ci_high is None else times.ci_high
    return low, high
