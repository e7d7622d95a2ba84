"""The receipt: the small file that a batch declares as its output once each of its points has a status."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from collpress.execute.attempt import now
from collpress.execute.batch import Batch
from collpress.files import write_json
from collpress.records.journal import Journals
from collpress.records.status import Status


@dataclass(frozen=True)
class Spent:
    """Seconds of the latest sweep that measured anything: all of it, and warm-up, synchronisation and samples alone."""

    wall_s: float
    measuring_s: float


def write_receipt(directory: Path, batch: Batch, journals: Journals, spent: Spent | None = None) -> Path:
    """Write `receipt.json` into the batch's directory.

    Parameters
    ----------
    journals : those of the whole campaign on the platform: a point may have been measured in another batch.
    spent : absent where nothing was measured; what the receipt before says is kept then.
    """
    counts = dict.fromkeys(Status, 0)
    for point in batch.points:
        counts[journals.status(point.key, batch.launches).status] += 1
    records = sum((point.key, launch) in journals.records for point in batch.points for launch in range(batch.launches))
    path = directory / "receipt.json"
    before = read_spent(path)
    write_json(
        path,
        {
            "schema": 1,
            "batch": batch.batch,
            "digest": batch.digest,
            "keys": [point.key for point in batch.points],
            "launches": batch.launches,
            "counts": {str(status): count for status, count in counts.items() if count},
            "records": records,
            "journals": [
                {"name": journal.name, "bytes": journal.stat().st_size}
                for journal in sorted(directory.glob("journal-*.jsonl"))
            ],
            "spent": None if (latest := spent or before) is None else asdict(latest),
            "finished_utc": now(),
        },
    )
    return path


def read_spent(receipt: Path) -> Spent | None:
    """What the receipt says of the time that was spent; None without a receipt, and for older ones."""
    try:
        found = json.loads(receipt.read_text(encoding="utf-8")).get("spent")
        return Spent(float(found["wall_s"]), float(found["measuring_s"])) if found else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
