"""What became of each point of a frozen plan, as the journals tell it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.batch import read_batch
from collpress.records.journal import Journals, read_campaign
from collpress.records.status import PointStatus, Status


@dataclass(frozen=True)
class Outlook:
    """A point of the plan and what became of it; `point` is its entry in plan/points.json."""

    point: dict[str, Any]
    became: PointStatus


@dataclass(frozen=True)
class Coverage:
    """Every point of a campaign on a platform."""

    campaign: str
    platform: str
    launches: int
    points: list[Outlook]
    journals: Journals

    def counts(self) -> dict[str, int]:
        """`planned`, then one count per status, zeros included; the statuses add up to `planned`."""
        counts = {"planned": len(self.points), **{str(status): 0 for status in Status}}
        for outlook in self.points:
            counts[outlook.became.status] += 1
        return counts

    def incomplete(self) -> list[Outlook]:
        """Points that should be ok and are not."""
        return [o for o in self.points if o.became.status not in {Status.OK, Status.UNSUPPORTED}]


def coverage(directory: Path) -> Coverage:
    """Read plan and journals of `results/campaigns/<campaign>/<platform>`.

    Raises
    ------
    CollpressError : there is no plan yet, or a journal is damaged.
    """
    path = directory / "plan" / "points.json"
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise CollpressError("there is no plan yet", where=str(path), fix="collpress run CAMPAIGN") from None
    except ValueError as error:
        raise CollpressError(f"not a plan: {error}", where=str(path), fix="remove it and run again") from None
    journals = read_campaign(directory)
    points = [Outlook(point, _became(point, journals, plan["launches"])) for point in plan["points"]]
    return Coverage(plan["campaign"], plan["platform"], plan["launches"], points, journals)


def summarise(directory: Path) -> str:
    """The counts in one line: `112 planned, 110 ok, 2 crashed`."""
    return ", ".join(f"{count} {name}" for name, count in coverage(directory).counts().items() if count)


def retire_incomplete_receipts(directory: Path) -> list[str]:
    """Remove the receipts of batches that have something to run again; their ids.

    A launch that has no record counts, and so does one whose latest record is of a status that is tried again.
    """
    journals = read_campaign(directory)
    retired = []
    for receipt in sorted(directory.glob("batches/*/receipt.json")):
        index = directory / "plan" / "batches" / f"{receipt.parent.name}.json"
        if not index.is_file():
            continue  # a batch of an earlier plan: nothing asks for it
        batch = read_batch(index)
        if not all(journals.done(point.key, launch) for point in batch.points for launch in range(batch.launches)):
            receipt.unlink()
            retired.append(batch.batch)
    return retired


def grouped(points: list[Outlook]) -> Iterator[tuple[Status, str, list[Outlook]]]:
    """Points of the same status and reason together, the worst first."""
    groups: dict[tuple[Status, str], list[Outlook]] = {}
    for outlook in points:
        groups.setdefault((outlook.became.status, outlook.became.reason or ""), []).append(outlook)
    for (status, reason), members in sorted(groups.items(), key=lambda item: (-item[0][0].severity, item[0][1])):
        yield status, reason, members


def label(point: dict[str, Any]) -> str:
    """A point in words: only what tells it from others."""
    factors = point["factors"]
    words = [
        factors.get(name)
        for name in ("collective", "algorithm", "codec", "error_bound", "dataset", "wrap", "dtype", "op")
    ]
    kept = [str(word) for word in words if word not in (None, "none", "pattern")]
    if str(factors.get("algorithm")).startswith("compressed:") and factors.get("codec") == "none":
        kept.insert(2, "without codec")
    return f"{' '.join(kept)}, {factors.get('message_bytes')} B, {factors.get('ranks')} ranks"


def _became(point: dict[str, Any], journals: Journals, launches: int) -> PointStatus:
    if point["unsupported"] is not None:
        return PointStatus(Status.UNSUPPORTED, 0, point["unsupported"])
    if point["failed"] is not None:
        return PointStatus(Status.FAILED, 0, point["failed"])
    return journals.status(point["key"], launches)
