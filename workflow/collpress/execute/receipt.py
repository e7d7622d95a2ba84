"""The receipt: the small file that a batch declares as its output once each of its points has a status."""

from __future__ import annotations

from pathlib import Path

from collpress.execute.attempt import now
from collpress.execute.batch import Batch
from collpress.files import write_json
from collpress.records.journal import Journals
from collpress.records.status import Status


def write_receipt(directory: Path, batch: Batch, journals: Journals) -> Path:
    """Write `receipt.json` into the batch's directory.

    Parameters
    ----------
    journals : those of the whole campaign on the platform: a point may have been measured in another batch.
    """
    counts = dict.fromkeys(Status, 0)
    for point in batch.points:
        counts[journals.status(point.key, batch.launches).status] += 1
    records = sum((point.key, launch) in journals.records for point in batch.points for launch in range(batch.launches))
    path = directory / "receipt.json"
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
            "finished_utc": now(),
        },
    )
    return path
