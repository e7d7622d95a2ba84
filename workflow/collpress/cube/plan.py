"""The frozen plan, as far as a cube needs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError

LATER = {"wrap": "none"}
"""Factors that plans of earlier versions do not name, and what they meant; those of `usual.USUAL` need no word."""


@dataclass(frozen=True)
class PlannedPoint:
    """One point of the plan; `key` is None where the plan says `unsupported` or `failed`, with the reason."""

    key: str | None
    id: str
    experiment: str
    factors: dict[str, Any]
    unsupported: str | None
    failed: str | None = None


@dataclass(frozen=True)
class PlannedMetric:
    """A metric that the points with a fidelity are measured with; `units` in the order of `values`."""

    name: str
    values: tuple[str, ...]
    units: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class BrokenMetric:
    """A metric that was asked for and could not be used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """What was to be measured: the content of `plan/points.json`."""

    campaign: str
    platform: str
    digest: str
    launches: int
    points: tuple[PlannedPoint, ...]
    metrics: tuple[PlannedMetric, ...] = ()
    broken_metrics: tuple[BrokenMetric, ...] = ()

    def experiments(self) -> dict[str, list[PlannedPoint]]:
        """Points by experiment, in the order of the plan."""
        out: dict[str, list[PlannedPoint]] = {}
        for point in self.points:
            out.setdefault(point.experiment, []).append(point)
        return out


def read_plan(path: Path) -> Plan:
    """Read `plan/points.json`; CollpressError where it is missing, damaged or of another schema."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CollpressError("there is no plan", where=str(path), fix="run the campaign first: ./run") from error
    except (OSError, ValueError) as error:
        raise CollpressError(f"the plan cannot be read: {error}", where=str(path)) from error
    if not isinstance(content, dict) or content.get("schema") != 1:
        raise CollpressError("the plan is of another schema", where=str(path), allowed="schema 1", fix="plan again")
    try:
        points = tuple(
            PlannedPoint(p["key"], p["id"], p["experiment"], LATER | p["factors"], p["unsupported"], p["failed"])
            for p in content["points"]
        )
        metrics = tuple(
            PlannedMetric(m["name"], tuple(m["values"]), tuple(m["units"]), m["summary"])
            for m in content.get("metrics", ())  # plans of the first version have none
        )
        broken = tuple(BrokenMetric(m["name"], m["reason"]) for m in content.get("broken_metrics", ()))
        head = content["campaign"], content["platform"], content["digest"], int(content["launches"])
        return Plan(*head, points, metrics, broken)
    except KeyError as error:
        raise CollpressError(f"the plan has no {error}", where=str(path), fix="plan again") from error
