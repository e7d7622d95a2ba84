"""Experiments crossed, paired, cut and checked: every combination becomes a point, or an exclusion with its reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from collpress.collectives import idle
from collpress.errors import CollpressError, did_you_mean
from collpress.plan.identity import point_id
from collpress.plan.offer import Dataset, Offer
from collpress.plan.support import unsupported
from collpress.spec.campaign import Campaign, Experiment
from collpress.spec.expressions import Condition, parse_condition
from collpress.spec.factors import DTYPES, FACTORS, Value, is_pattern
from collpress.spec.mistakes import combined
from collpress.spec.platform import Platform
from collpress.usual import USUAL

MOST_POINTS = 200_000
MOST_CELLS = 50_000_000

Row = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Point:
    """One resolved combination.

    Parameters
    ----------
    unsupported : why this platform cannot measure it.
    failed : what is missing today: a dataset that could not be had, a plugin that does not compile.
    """

    experiment: str
    factors: Mapping[str, Value]
    id: str
    unsupported: str | None
    failed: str | None = None

    @property
    def runnable(self) -> bool:
        return self.unsupported is None and self.failed is None


@dataclass(frozen=True)
class Excluded:
    """One combination that the campaign cuts, and why."""

    experiment: str
    factors: Mapping[str, Value]
    why: str


@dataclass
class Expansion:
    """All points in the order of the campaign.

    Parameters
    ----------
    unknown : what is known after the build only; empty when the plan is exact.
    at_least : number of supported points at least; a pattern that is not resolved counts as one.
    """

    points: list[Point] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    at_least: int = 0


def expand(
    campaign: Campaign,
    platform: Platform,
    datasets: Mapping[str, Dataset],
    offer: Offer | None = None,
    memory_bytes: int | None = None,
    cpus: int | None = None,
    no_hosts: str | None = None,
) -> Expansion:
    """All points of a campaign on a platform.

    Parameters
    ----------
    datasets : the datasets that can be had, by the name that the campaign uses; it holds at least what
        `needs.datasets_needed` names. Points, exclusions and reasons name them by their ids, private ones thus not.
    offer : what the installation offers; None before the build: patterns of algorithms and codecs then stay patterns.
    memory_bytes, cpus : of a node, where known.
    no_hosts : why the hosts that the platform asks for cannot be made of this machine; see `provenance.namespaces`.

    Raises
    ------
    CollpressError : impossible message sizes, points that two experiments share, or too many combinations to measure.
    """
    public = {name: dataset.id for name, dataset in datasets.items()}
    by_id = {dataset.id: dataset for dataset in datasets.values()}
    sweeps = {name: _Sweep(campaign, name, offer, public, platform) for name in campaign.experiments}
    _guard(campaign, sweeps)
    result = Expansion()
    owners: dict[str, str] = {}
    errors: list[CollpressError] = []
    for name, sweep in sweeps.items():
        points, wrong = sweep.points(result)
        errors += wrong
        for identity, factors in points.items():
            if identity in owners:
                told = ", ".join(f"{k} {FACTORS[k].text(v)}" for k, v in factors.items() if v != FACTORS[k].default)
                errors.append(
                    CollpressError(
                        f"the experiments {owners[identity]} and {name} both hold the point {told}",
                        where=campaign.where("experiments", name),
                        fix="keep it in one of them, for example with exclude",
                    )
                )
                continue
            owners[identity] = name
            result.points.append(
                Point(
                    name, factors, identity, unsupported(factors, platform, offer, by_id, memory_bytes, cpus, no_hosts)
                )
            )
    if errors:
        shown = errors[:5] + (
            [CollpressError(f"... and {len(errors) - 5} more of the kind")] if len(errors) > 5 else []
        )
        raise combined(shown, str(campaign.path))
    _tell_unknown(result, offer)
    return result


class _Sweep:
    """One experiment: its groups of rows, before they are crossed."""

    def __init__(
        self,
        campaign: Campaign,
        name: str,
        offer: Offer | None,
        datasets: Mapping[str, str],
        platform: Platform,
    ) -> None:
        """`datasets`: ids by the names that the campaign uses."""
        self.campaign, self.name, self.offer, self.datasets, self.platform = campaign, name, offer, datasets, platform
        self.experiment: Experiment = campaign.experiments[name]
        self.warnings: list[str] = []
        self._names_of: dict[str, list[str]] = {}
        self._meant: set[Value] = set()
        self.groups: dict[str, list[Row]] = {}
        paired = [z.given() for z in self.experiment.zip]
        crossed = self.experiment.matrix.given()
        own = set(crossed).union(*paired)
        defaults = {k: v for k, v in campaign.defaults.given().items() if k not in own}
        self.asked = {k: v for given in (defaults, crossed, *paired) for k, v in given.items()}
        for factor, values in {**defaults, **crossed}.items():
            self.groups[factor] = [row for value in values for row in self._rows({factor: value})]
        for group in paired:
            rows = [dict(zip(group, row, strict=True)) for row in zip(*group.values(), strict=True)]
            self.groups[" with ".join(group)] = [resolved for row in rows for resolved in self._rows(row)]
        self.rest = {f.name: f.default for f in FACTORS.values() if f.name not in own and f.name not in defaults}

    def combinations(self) -> int:
        return math.prod(len(rows) for rows in self.groups.values())

    def cells(self) -> int:
        """Cells of the experiment's cube: it is dense, so paired factors count as crossed."""
        distinct: dict[str, set[Value]] = {}
        for rows in self.groups.values():
            for row in rows:
                for factor, value in row:
                    distinct.setdefault(factor, set()).add(value)
        return math.prod(len(values) for values in distinct.values())

    def points(self, result: Expansion) -> tuple[dict[str, dict[str, Value]], list[CollpressError]]:
        """Points by id, without those that are cut; exclusions and warnings go to `result`."""
        cuts = [(parse_condition(e.when), e.because or f"exclude: {e.when}") for e in self.experiment.exclude]
        keep = parse_condition(self.experiment.when) if self.experiment.when else None
        hits = [0] * len(cuts)
        seen: set[str] = set()
        points: dict[str, dict[str, Value]] = {}
        wrong: dict[tuple[Value, Value], CollpressError] = {}
        for named in self._combined():
            factors = named | {"dataset": self.datasets.get(str(named["dataset"]), named["dataset"])}
            identity = point_id(factors)
            if identity in seen:
                continue
            seen.add(identity)
            why = None if keep is None or self._holds(keep, named, "when") else f"when: {keep.text}"
            for position, (condition, because) in enumerate(cuts):
                if self._holds(condition, named, "exclude", position, "when"):
                    hits[position] += 1
                    why = why or because
            if why is not None:
                result.excluded.append(Excluded(self.name, factors, self._public(why)))
                continue
            points[identity] = factors
            self._check_size(factors, wrong)
            self._check_knobs(str(factors["knobs"]), wrong)
        result.warnings += self.warnings
        for collective in (c for c in self.asked["collective"] if self._meant and c not in self._meant):
            where = self.campaign.where("experiments", self.name)
            there = ", ".join(self._offered(str(collective))) or "nothing"
            result.warnings.append(f"{where}: no algorithm of {collective} is asked for; there is {there}")
        # A pattern that is not resolved yet may still hold what the condition is about.
        if not any(is_pattern(v) for factors in points.values() for v in factors.values()):
            for position, count in enumerate(hits):
                if not count:
                    where = self.campaign.where("experiments", self.name, "exclude", position)
                    result.warnings.append(f"{where}: excludes nothing: {cuts[position][0].text}")
        if not points:
            result.warnings.append(
                f"{self.campaign.where('experiments', self.name)}: has no points: every combination is excluded"
            )
        return points, list(wrong.values())

    def _public(self, text: str) -> str:
        """A condition as it may be told."""
        for name, public in self.datasets.items():
            text = text.replace(name, public) if name != public else text
        return text

    def _holds(self, condition: Condition, factors: Mapping[str, Value], *field: str | int) -> bool:
        try:
            return condition.holds(factors)
        except CollpressError as error:
            where = self.campaign.where("experiments", self.name, *field)
            fix = f"cut such combinations by a condition that stands before it, with `and` (met at {error.where})"
            raise CollpressError(error.what, where=where, fix=fix) from None

    def _combined(self) -> Iterator[dict[str, Value]]:
        for rows in product(*self.groups.values()):
            chosen: dict[str, Any] = {**self.rest, **{factor: value for row in rows for factor, value in row}}
            if self._is_meant(str(chosen["collective"]), str(chosen["algorithm"])):
                self._meant.add(chosen["collective"])
                yield self._without_idle_factors({name: chosen[name] for name in FACTORS})

    def _is_meant(self, collective: str, algorithm: str) -> bool:
        """Whether a pattern stands for an algorithm in this collective too; one that is asked for by name always is."""
        named = self.offer is None or algorithm in self.asked["algorithm"]
        return named or algorithm in self._offered(collective)

    def _offered(self, collective: str) -> list[str]:
        if collective not in self._names_of:
            self._names_of[collective] = self.offer.names(collective) if self.offer else []
        return self._names_of[collective]

    def _without_idle_factors(self, factors: dict[str, Value]) -> dict[str, Value]:
        """Factors that change nothing for this combination fall back to what is usual; equal combinations then count
        once.
        """
        collective, name = str(factors["collective"]), str(factors["algorithm"])
        if not name.startswith("compressed:"):
            factors["codec"] = "none"
        algorithm = self.offer.algorithm(collective, name) if self.offer else None
        if algorithm is not None and not algorithm.segments:
            factors["segment_bytes"] = "default"
        if algorithm is not None and not algorithm.least_fanout:
            factors["fanout"] = "default"
        factors |= idle(collective)
        codec = self.offer.codec(str(factors["codec"])) if self.offer else None
        if codec is not None:
            factors["codec"] = codec.setting(str(factors["codec"]))
        if factors["codec"] == "none" or (codec is not None and not codec.takes_bound):
            factors["error_bound"] = "none"
        if factors["error_bound"] == "none":
            factors["target"] = USUAL["target"]
        if factors["dataset"] == "pattern":
            factors["wrap"] = "none"
        return factors

    def _rows(self, row: Mapping[str, Value]) -> list[Row]:
        resolved = [[(factor, value) for value in self._resolved(factor, value)] for factor, value in row.items()]
        return [tuple(combination) for combination in product(*resolved)]

    def _resolved(self, factor: str, value: Value) -> list[Value]:
        names = self._names(factor)
        if not is_pattern(value) or names is None:
            return [value]
        found: list[Value] = [name for name in names if fnmatchcase(name, str(value))]
        if not found:
            where = self._where(factor)
            self.warnings.append(f'{where}: nothing matches "{value}"; there is {", ".join(names) or "nothing"}')
        return found

    def _names(self, factor: str) -> list[str] | None:
        """What a pattern of a factor is matched with; None if that is not known yet."""
        if factor == "dataset":
            return sorted(self.datasets)
        if factor == "knobs":
            return sorted(self.platform.knobs)
        if self.offer is None:
            return None
        return (
            list(dict.fromkeys(name for c in self.asked["collective"] for name in self._offered(str(c))))
            if factor == "algorithm"
            else [c.name for c in self.offer.codecs]
        )

    def _check_size(self, factors: Mapping[str, Value], wrong: dict[tuple[Value, Value], CollpressError]) -> None:
        size, dtype = factors["message_bytes"], str(factors["dtype"])
        if int(size) % DTYPES[dtype]:
            wrong.setdefault(
                (size, dtype),
                CollpressError(
                    f"a message of {size} bytes holds no whole number of {dtype} elements of {DTYPES[dtype]} bytes",
                    where=self._where("message_bytes"),
                    fix=f"a multiple of {DTYPES[dtype]}, or an exclude for this combination",
                ),
            )

    def _check_knobs(self, name: str, wrong: dict[tuple[Value, Value], CollpressError]) -> None:
        there = sorted(self.platform.knobs)
        if name != "none" and name not in there:
            wrong.setdefault(
                ("knobs", name),
                CollpressError(
                    f'the platform {self.platform.name} has no knobs "{name}"',
                    where=self._where("knobs"),
                    allowed=", ".join(["none", *there]) + ", or a pattern, which takes those that a platform has",
                    fix=did_you_mean(name, there) or f"add them under knobs in {self.platform.path}",
                ),
            )

    def _where(self, factor: str) -> str:
        """Where the campaign file sets a factor of this experiment."""
        for position, group in enumerate(self.experiment.zip):
            if factor in group.given():
                return self.campaign.where("experiments", self.name, "zip", position, factor)
        own = factor in self.experiment.matrix.given()
        return self.campaign.where(*(("experiments", self.name, "matrix") if own else ("defaults",)), factor)


def _guard(campaign: Campaign, sweeps: Mapping[str, _Sweep]) -> None:
    """Refuse what nobody can measure or hold, from the axes' lengths alone."""
    errors = []
    for name, sweep in sweeps.items():
        combinations, cells = sweep.combinations(), sweep.cells()
        if combinations > MOST_POINTS or cells > MOST_CELLS:
            largest = sorted(sweep.groups.items(), key=lambda item: -len(item[1]))[:3]
            axes = ", ".join(f"{axis} ({len(rows):,})" for axis, rows in largest if len(rows) > 1)
            what = f"{combinations:,} combinations" if combinations > MOST_POINTS else f"a cube of {cells:,} cells"
            errors.append(
                CollpressError(
                    f"the experiment {name} has {what}",
                    where=campaign.where("experiments", name),
                    allowed=f"at most {MOST_POINTS:,} combinations and {MOST_CELLS:,} cells",
                    fix=f"split the largest axes over several campaigns or thin them out: {axes}",
                )
            )
    total = sum(sweep.combinations() for sweep in sweeps.values())
    if not errors and total > MOST_POINTS:
        sizes = ", ".join(f"{name} ({sweep.combinations():,})" for name, sweep in sweeps.items())
        errors.append(
            CollpressError(
                f"the campaign has {total:,} combinations",
                where=campaign.where("experiments"),
                allowed=f"at most {MOST_POINTS:,}",
                fix=f"split its experiments over several campaigns: {sizes}",
            )
        )
    if errors:
        raise combined(errors, str(campaign.path))


def _tell_unknown(result: Expansion, offer: Offer | None) -> None:
    runnable = [p for p in result.points if p.unsupported is None]
    result.at_least = len(runnable)
    if offer is not None:
        return
    settings = [n for n in ("segment_bytes", "fanout") if any(p.factors[n] != "default" for p in runnable)]
    if settings:
        result.unknown.append(f"which algorithms heed {' and '.join(settings)} (all count as if they did)")
    patterns = sorted({str(v) for p in runnable for v in (p.factors["algorithm"], p.factors["codec"]) if is_pattern(v)})
    if patterns:
        result.unknown.append(f"what {', '.join(patterns)} stands for (each counts as one here)")
    bounded = sorted({str(p.factors["codec"]) for p in runnable if p.factors["error_bound"] != "none"})
    if bounded:
        result.unknown.append(
            f"which of the codecs {', '.join(bounded)} take an error bound (all count as if they did)"
        )
    # What takes none has one point where several bounds, segments or fan-outs are asked for.
    none = {"error_bound": "none", "segment_bytes": "default", "fanout": "default"}
    result.at_least = len({point_id(dict(p.factors) | none) for p in runnable})
    result.unknown.append("whether every algorithm, codec and dataset can do what is asked of it")
