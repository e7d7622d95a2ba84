"""The frozen plan: points, batches and their indices, as JSON files that the jobs read (see docs/contracts.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.files import write_json
from collpress.layout import Places
from collpress.plan.batches import Batch, Member, Shards, Start, assign_shards, gather, shape_of
from collpress.plan.estimate import batch_minutes, batch_seconds, point_seconds
from collpress.plan.expansion import Expansion, Point
from collpress.plan.identity import Build, digest, launch_identity, point_key
from collpress.plan.launch import Launch, launch_of
from collpress.plan.lines import plan_line
from collpress.plan.machine import Machine
from collpress.plan.metrics import BrokenMetric, chosen_metrics, metrics_of_point
from collpress.plan.offer import Dataset, Offer
from collpress.spec.campaign import Campaign
from collpress.spec.platform import Platform
from collpress.usual import USUAL


@dataclass(frozen=True)
class Site:
    """Where a plan is frozen for: platform, machine, and what lies there."""

    platform: Platform
    machine: Machine
    offer: Offer
    datasets: Mapping[str, Dataset]
    build: Build
    core: str
    build_path: str


@dataclass(frozen=True)
class FrozenPlan:
    """The documents of a plan, by where they go."""

    points: dict[str, Any]
    batches: dict[str, Any]
    indices: dict[str, dict[str, Any]]
    shards: dict[str, Any]


def freeze(
    campaign: Campaign, site: Site, expansion: Expansion, shards: Shards, broken: Sequence[BrokenMetric] = ()
) -> FrozenPlan:
    """Give every supported point its key and its batch.

    Parameters
    ----------
    broken : metrics that are asked for and cannot be used; they are told, and no part of any key.
    """
    runnable = [p for p in expansion.points if p.runnable]
    starts = {p.id: _start(p) for p in runnable}
    placed = _placed(runnable, shards)
    launches = {
        start: launch_of(site.platform, site.machine, start.ranks // start.nodes, start.knobs, start.nodes)
        for start in set(starts.values())
    }
    shared = {start: launch_identity(site.build, site.platform.launcher, launch) for start, launch in launches.items()}
    members = [(_member(p, campaign, site, shared[starts[p.id]]), starts[p.id]) for p in runnable]
    batches = gather(members, launches, shared, placed)
    batch_of = {m.key: b.id for b in batches for m in b.members}
    key_of = {member.id: member.key for member, _ in members}
    head = {"schema": 1, "campaign": campaign.name, "platform": site.platform.name}
    rows = [
        {
            "key": key_of.get(p.id),
            "id": p.id,
            "experiment": p.experiment,
            "factors": dict(p.factors),
            "batch": batch_of[key_of[p.id]] if p.id in key_of else None,
            "unsupported": p.unsupported,
            "failed": p.failed,
        }
        for p in expansion.points
    ]
    excluded = [asdict(e) for e in expansion.excluded]
    whole = digest({"points": rows, "launches": campaign.measure.launches, "excluded": excluded})
    measure = campaign.measure
    return FrozenPlan(
        {
            **head,
            "digest": whole,
            "launches": measure.launches,
            "precision": measure.precision,
            "metrics": [
                {"name": m.name, "values": list(m.values), "units": list(m.units), "summary": m.summary}
                for m in chosen_metrics(campaign.metrics, site.offer.metrics)
            ],
            "broken_metrics": [asdict(metric) for metric in broken],
            "points": rows,
            "excluded": excluded,
        },
        {**head, "digest": whole, "batches": [_row(b, campaign) for b in batches]},
        {b.id: _index(b, campaign, site, head) for b in batches},
        {"schema": 1, "shards": placed},
    )


def count_batches(expansion: Expansion, shards: Shards, platform: Platform, machine: Machine) -> int:
    """How many batches `freeze` would make: before anything is built, of the points that are known."""
    runnable = [p for p in expansion.points if p.runnable]
    placed = _placed(runnable, shards)
    launches = {
        start: launch_of(platform, machine, start.ranks // start.nodes, start.knobs, start.nodes)
        for start in {_start(p) for p in runnable}
    }
    backend = USUAL["backend"]
    return len(
        {
            (_shape(p), str(launches[_start(p)]), p.factors.get("backend", backend), placed[_shape(p)][p.id])
            for p in runnable
        }
    )


def _placed(points: Sequence[Point], shards: Shards) -> dict[str, dict[str, int]]:
    return assign_shards(shards, ((_shape(p), p.id) for p in points))


def _shape(point: Point) -> str:
    start = _start(point)
    return shape_of(start.nodes, start.ranks)


def _start(point: Point) -> Start:
    factors = point.factors
    return Start(int(factors["nodes"]), int(factors["ranks"]), str(factors.get("knobs", USUAL["knobs"])))


def _member(point: Point, campaign: Campaign, site: Site, shared: Mapping[str, Any]) -> Member:
    measure = campaign.measure
    metrics = metrics_of_point(point.factors, chosen_metrics(campaign.metrics, site.offer.metrics))
    key = point_key(point.id, point.factors, site.offer, site.datasets, shared, measure, site.machine, metrics)
    line = plan_line(key, point.id, point.factors, site.offer, site.datasets, measure, metrics)
    return Member(key, point.id, point.experiment, line, point_seconds(measure))


def _row(batch: Batch, campaign: Campaign) -> dict[str, Any]:
    count = len(batch.members)
    return {
        "batch": batch.id,
        "nodes": batch.nodes,
        "ranks": batch.ranks,
        "digest": batch.digest(campaign.measure.launches),
        "points": count,
        "estimate_s": batch_seconds(count, campaign.measure),
        "minutes": batch_minutes(count, campaign.measure),
    }


def _index(batch: Batch, campaign: Campaign, site: Site, head: Mapping[str, Any]) -> dict[str, Any]:
    launch: Launch = batch.launch
    return {
        "schema": 1,
        "batch": batch.id,
        "campaign": head["campaign"],
        "platform": head["platform"],
        "digest": batch.digest(campaign.measure.launches),
        "nodes": batch.nodes,
        "ranks": batch.ranks,
        "ranks_per_node": batch.ranks // batch.nodes,
        "launches": campaign.measure.launches,
        "seed": batch.seed,
        "launcher": site.platform.launcher,
        "oversubscribed": launch.oversubscribed,
        "binding": launch.binding,
        "environment": launch.environment,
        **({"hosts": launch.hosts.as_json()} if launch.hosts else {}),
        "samples": campaign.measure.samples,
        **({} if batch.backend == "mpi" else {"backend": batch.backend}),
        "core": site.core,
        "build": site.build_path,
        "points": [asdict(m) | {"line": dict(m.line)} for m in batch.members],
    }


def write_plan(plan: FrozenPlan, places: Places) -> list[Path]:
    """Write what has changed, remove the indices of batches that are gone; returns the files written.

    shards.json goes first: a plan never refers to a shard that is not on record.
    """
    documents: dict[Path, Any] = {places.directory / "shards.json": plan.shards}
    documents |= {places.batch_index(batch): index for batch, index in plan.indices.items()}
    documents |= {places.batches: plan.batches, places.points: plan.points}
    written = [path for path, document in documents.items() if write_json(path, document)]
    for path in places.points.parent.glob("batches/*.json"):
        if path.stem not in plan.indices:
            path.unlink()
    return written


def read_json(path: Path, fix: str) -> Any:
    """A JSON document that an earlier step wrote; `fix` says how to get it when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CollpressError(f"{path} does not exist", fix=fix) from None
    except (OSError, ValueError) as error:
        raise CollpressError(f"{path} cannot be read: {error}", fix=fix) from None


def read_shards(places: Places) -> Shards:
    """The shards of earlier plans; none before the first."""
    path = places.directory / "shards.json"
    if not path.exists():
        return {}
    document = read_json(path, "restore it from a copy, or remove it: every batch is then planned and measured anew")
    if not isinstance(document, dict) or document.get("schema") != 1 or not isinstance(document.get("shards"), dict):
        raise CollpressError(f"{path} is not a record of shards, version 1", fix="restore it from a copy, or remove it")
    shards: Shards = document["shards"]
    return shards
