"""Which metrics a campaign asks for, and which points they are measured of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from collpress.errors import CollpressError, did_you_mean
from collpress.fidelity import measures_fidelity
from collpress.plan.needs import asked_for
from collpress.plan.offer import Metric
from collpress.spec.campaign import Campaign
from collpress.spec.codec_text import codec_name
from collpress.spec.factors import Value, is_pattern


@dataclass(frozen=True)
class BrokenMetric:
    """A metric that is asked for and cannot be used: no value, and a reason."""

    name: str
    reason: str


def chosen_metrics(asked: Iterable[str], offered: Iterable[Metric]) -> list[Metric]:
    """The offered metrics that any of the names and patterns asks for, in the order of the offer."""
    patterns = list(asked)
    return [m for m in offered if any(fnmatchcase(m.name, pattern) for pattern in patterns)]


def broken_metrics(campaign: Campaign, broken: Mapping[str, str]) -> list[BrokenMetric]:
    """Sources that could not be built and that the campaign's metrics ask for, by name.

    Nothing says what a source that does not compile would have become: one that a pattern asks for counts as a metric
    unless the campaign names it as a codec or an algorithm.

    Parameters
    ----------
    broken : name → why the plugin cannot be used.
    """
    others = {
        codec_name(str(v).rpartition(":")[2])
        for f in ("codec", "algorithm")
        for _, values in asked_for(campaign, f)
        for v in values
    }
    return [
        BrokenMetric(name, reason)
        for name, reason in sorted(broken.items())
        if name in campaign.metrics
        or (name not in others and any(fnmatchcase(name, pattern) for pattern in campaign.metrics))
    ]


def metrics_of_point(factors: Mapping[str, Value], chosen: Sequence[Metric]) -> Sequence[Metric]:
    """The metrics that a point is measured with; none where it has no fidelity."""
    return chosen if measures_fidelity(factors) else ()


def refuse_other_plugins(campaign: Campaign, offered: Sequence[Metric], broken: Iterable[str]) -> list[str]:
    """Warnings for patterns that match no metric.

    Raises
    ------
    CollpressError : a name that is no metric, but some other plugin; one in `broken` could not be built and may be one.
    """
    known, unusable, warnings = [m.name for m in offered], set(broken), []
    for position, name in enumerate(campaign.metrics):
        if any(fnmatchcase(k, name) for k in (*known, *unusable)):
            continue
        where, allowed = campaign.where("metrics", position), ", ".join(known)
        if not is_pattern(name):
            fix = did_you_mean(name, known)
            raise CollpressError(f'the plugin "{name}" is no metric', where=where, allowed=allowed, fix=fix)
        warnings.append(f'{where}: no metric matches "{name}"; there is {allowed or "none"}')
    return warnings
