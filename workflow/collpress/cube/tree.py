"""A campaign on a platform as a DataTree: one group per experiment, and at the root where it all comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import xarray as xr

from collpress import __version__
from collpress.cube.group import group
from collpress.cube.plan import Plan
from collpress.errors import CollpressError
from collpress.records import Journals

SCHEMA_VERSION = 1


def tree(plan: Plan, journals: Journals, origin: Mapping[str, Any]) -> xr.DataTree:
    """The cube of `plan`, filled from `journals`.

    `origin` is what `origin.origin` found; it goes into the root's attributes as JSON (`provenance`), its `id` and the
    moment of the last record beside it. No moment of now is in it, so that equal journals make equal cubes.
    """
    if not plan.points:
        raise CollpressError(
            "the plan has no points",
            where=f"campaign {plan.campaign} on {plan.platform}",
            fix="collpress plan shows why each combination was excluded",
        )
    groups = {
        name: group(name, points, journals, plan.launches, plan.metrics, plan.broken_metrics).assign_attrs(
            _identity(plan, origin)
        )
        for name, points in plan.experiments().items()
    }
    total, ok = (sum(int(g.attrs[n]) for g in groups.values()) for n in ("planned_points", "ok_points"))
    last = str(origin["last_record_utc"] or "")
    root = xr.Dataset(
        attrs={
            "Conventions": "CF-1.11 ACDD-1.3",
            "title": f"collpress campaign {plan.campaign} on {plan.platform}",
            "summary": f"Times, errors and statuses of {total} planned points ({ok} ok) in {plan.launches} launches; "
            f"one group per experiment: {', '.join(groups)}",
            "source": "measured by collpress-core; derived from its journals and rebuildable from them",
            "history": f"{last} collpress {__version__}: collpress cube {plan.campaign} --platform {plan.platform}",
            "date_created": last,
            "date_created_comment": "moment of the last record, not of the cube",
            "product_version": __version__,
            "schema_version": SCHEMA_VERSION,
            "experiments": " ".join(groups),
            "launches": plan.launches,
            "planned_points": total,
            "ok_points": ok,
            "plan_digest": plan.digest,
            "journal_digest": str(origin["journal_digest"]),
            "provenance": json.dumps(origin, sort_keys=True, ensure_ascii=False, allow_nan=False),
            **_identity(plan, origin),
        }
    )
    return xr.DataTree.from_dict({"/": root, **{f"/{name}": dataset for name, dataset in groups.items()}})


def _identity(plan: Plan, origin: Mapping[str, Any]) -> dict[str, str]:
    return {"campaign": plan.campaign, "platform": plan.platform, "id": str(origin["id"])}
