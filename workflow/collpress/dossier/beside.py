"""A rerun beside what is recorded: both statuses, the medians of their launches, and the ratio of the two medians."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from collpress.analysis.ratios import ratio_of_medians
from collpress.dossier.dossier import became
from collpress.dossier.search import Found
from collpress.dossier.testimony import testimony
from collpress.execute.attempt import now
from collpress.execute.rerun import Rerun
from collpress.records.journal import ok_medians
from collpress.records.schema import Record
from collpress.records.status import PointStatus


def beside(found: Found, made: Rerun) -> dict[str, Any]:
    """The content of rerun.json (docs/contracts.md): times in s; `ratio` is rerun over recorded, null without both.

    Raises
    ------
    CollpressError : a journal cannot be read.
    """
    key = made.point.key
    recorded = testimony(found.places.directory, found.point["id"], key)
    ours = _side(made.swept.journals.status(key, made.launches), made.swept.journals.of(key), made.launches)
    theirs = _side(became(found, recorded), recorded.journals.of(key), found.plan["launches"])
    medians = ours["launch_medians_s"], theirs["launch_medians_s"]
    return {
        "schema": 1,
        "campaign": found.places.campaign,
        "platform": found.places.platform,
        "id": found.point["id"],
        "key": key,
        "launches": made.launches,
        "directory": str(made.directory),
        "journals": [str(path) for path in sorted(made.directory.glob("batches/*/journal-*.jsonl"))],
        "differences": made.differences,
        "recorded": theirs,
        "rerun": ours,
        "ratio": asdict(ratio_of_medians(*medians)) if all(medians) else None,
        "utc": now(),
    }


def _side(status: PointStatus, records: dict[int, Record], launches: int) -> dict[str, Any]:
    return {
        "status": str(status.status),
        "reason": status.reason,
        "noisy": status.noisy,
        "launch_medians_s": ok_medians(records, launches),
    }
