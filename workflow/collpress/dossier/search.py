"""Finding a point by the first digits of its id or key, in the frozen plans of all campaigns."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.dossier.words import label
from collpress.errors import CollpressError, did_you_mean
from collpress.layout import RESULTS, Places
from collpress.plan.frozen import read_json

SHORTEST = 4
_SHOWN = 12
_DIGITS = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class Found:
    """A point in a frozen plan; `plan` is the content of plan/points.json, `point` its entry there."""

    places: Places
    plan: dict[str, Any]
    point: dict[str, Any]

    @property
    def label(self) -> str:
        """Which point of which campaign, in words."""
        where = f"{self.places.campaign}/{self.places.platform} {self.point['experiment']}"
        return f"{self.point['id']} {where}: {label(self.point['factors'])}"


def find_point(name: str, campaign: str | None = None, platform: str | None = None) -> Found:
    """The one point whose id or key begins with the digits in `name`.

    Parameters
    ----------
    name : `3b3383a9`, or with its place `quick/local:3b3383a9`: one id may have been measured on several platforms.
    campaign, platform : narrow the search, too.

    Raises
    ------
    CollpressError : too few digits, no such point, or several (they are listed).
    """
    place, _, digits = name.rpartition(":")
    if place:
        inside = place.split("/")
        if len(inside) != 2 or (campaign, platform) not in {(None, None), (inside[0], inside[1])}:
            allowed = "ID, or CAMPAIGN/PLATFORM:ID without --campaign and --platform"
            raise CollpressError(f'"{name}" names no point', allowed=allowed)
        campaign, platform = inside
    word = digits.lower()
    if not _DIGITS.fullmatch(word) or not SHORTEST <= len(word) <= 32:
        raise CollpressError(
            f'"{digits}" cannot begin an id or a key',
            allowed=f"{SHORTEST} to 32 hex digits, as in plan/points.json, findings.json or a journal",
        )
    plans = list(_plans(campaign, platform))
    found = [
        Found(places, plan, point)
        for places, plan in plans
        for point in plan["points"]
        if point["id"].startswith(word) or (point["key"] or "").startswith(word)
    ]
    if not found:
        count = sum(len(plan["points"]) for _, plan in plans)
        listed = ", ".join(f"{places.campaign}/{places.platform}" for places, _ in plans)
        raise CollpressError(
            f'no id and no key begins with "{word}"',
            where=f"the {count} points of {listed}",
            fix="collpress plan CAMPAIGN --json lists every id; a point that was cut from its campaign is in no plan",
        )
    if len({(one.places, one.point["id"]) for one in found}) > 1:
        lines = [f"\n    {one.label}" for one in found[:_SHOWN]]
        more = f"\n    ... and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise CollpressError(
            f'{len(found)} points begin with "{word}":{"".join(lines)}{more}',
            fix=f"give more digits, or say where: {found[0].places.campaign}/{found[0].places.platform}:{word}",
        )
    return found[0]


def _plans(campaign: str | None, platform: str | None) -> Iterator[tuple[Places, dict[str, Any]]]:
    """The frozen plans that are meant; CollpressError where there is none."""
    if campaign is not None or platform is not None:
        Places(campaign or "any", platform or "any")  # what is no name is told at once
    root = RESULTS / "campaigns"
    paths = sorted(root.glob("*/*/plan/points.json"))
    all_places = [places for path in paths if (places := _places(path)) is not None]
    for noun, asked in (("campaign", campaign), ("platform", platform)):
        known = {getattr(places, noun) for places in all_places}
        if asked is not None and asked not in known:
            allowed, hint = ", ".join(sorted(known)) or "none yet", did_you_mean(asked, known)
            raise CollpressError(
                f'no {noun} "{asked}" has a plan',
                where=str(root),
                allowed=allowed,
                fix=hint or "collpress run CAMPAIGN",
            )
    chosen = [p for p in all_places if campaign in (None, p.campaign) and platform in (None, p.platform)]
    if not chosen:
        raise CollpressError("there is no plan yet", where=str(root), fix="collpress run quick")
    damaged: list[CollpressError] = []
    for places in chosen:
        try:
            yield places, _plan(places)
        except CollpressError as error:
            damaged.append(error)
    if len(damaged) == len(chosen):
        raise damaged[0]
    for one in damaged:
        print(f"warning: left out: {one}", file=sys.stderr)


def _places(path: Path) -> Places | None:
    """Where a plan belongs; None, with a warning, where a folder has no name that a campaign or platform can have."""
    try:
        return Places(path.parts[-4], path.parts[-3])
    except CollpressError as error:
        print(f"warning: left out {path.parent.parent}: {error.what}", file=sys.stderr)
        return None


def _plan(places: Places) -> dict[str, Any]:
    """The frozen plan, with all that a dossier reads of it; CollpressError where it is none."""
    fix = f"freeze it again: collpress inventory {places.campaign} --platform {places.platform}"
    plan = read_json(places.points, fix)
    if (
        not isinstance(plan, dict)
        or plan.get("schema") != 1
        or not isinstance(plan.get("points"), list)
        or not isinstance(plan.get("launches"), int)
        or not all(map(_is_point, plan["points"]))
    ):
        raise CollpressError("this is not a plan, version 1", where=str(places.points), fix=fix)
    return plan


def _is_point(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("id", "experiment"))
        and all(isinstance(entry.get(name, 0), str | None) for name in ("key", "batch", "unsupported", "failed"))
        and isinstance(entry.get("factors"), dict)
    )


def relative(path: Path) -> str:
    """A path as it is shown: relative to the checkout where it lies inside."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
