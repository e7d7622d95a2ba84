"""Which metrics a campaign asks for, and which points they are measured of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from collpress.errors import CollpressError, did_you_mean
from collpress.plan.offer import Metric
from collpress.spec.campaign import Campaign
from collpress.spec.factors import Value, is_pattern

FLOATS = ("float32", "float64")


def chosen_metrics(asked: Iterable[str], offered: Iterable[Metric]) -> list[Metric]:
    """The offered metrics that any of the names and patterns asks for, in the order of the offer."""
    patterns = list(asked)
    return [m for m in offered if any(fnmatchcase(m.name, pattern) for pattern in patterns)]


def measures_fidelity(factors: Mapping[str, Value]) -> bool:
    """Whether a point has a fidelity: floating-point values of a dataset. The pattern is made to be exact."""
    return factors["dataset"] != "pattern" and factors["dtype"] in FLOATS


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
        if any(fnmatchcase(k, name) for k in known) or name in unusable:
            continue
        where, allowed = campaign.where("metrics", position), ", ".join(known)
        if not is_pattern(name):
            fix = did_you_mean(name, known)
            raise CollpressError(f'the plugin "{name}" is no metric', where=where, allowed=allowed, fix=fix)
        warnings.append(f'{where}: no metric matches "{name}"; there is {allowed or "none"}')
    return warnings
