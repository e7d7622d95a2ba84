"""A batch of Python's backend is swept like one of the core: started, followed, its receipt written."""

from __future__ import annotations

import json
from pathlib import Path

from native_core import point

from collpress.execute.batch import Batch
from collpress.execute.supervisor import sweep
from collpress.records import Status, read_campaign
from collpress.records.schema import Record

BATCH = "0123456789abcdef"


def batch(folder: Path) -> Batch:
    entries = [point(message_bytes=size, backend="mpi4py") for size in (64, 4096)]
    build = {"schema": 1, "plugins": [], "mpi": {"kind": "openmpi", "version": "", "wrapper": "mpicxx"}}
    (folder / "build.json").write_text(json.dumps(build | {"compiler": {}, "core": {}}), encoding="utf-8")
    identities = ("key", "id")
    points = [
        {
            **{name: entry[name] for name in identities},
            "experiment": "e",
            "line": {name: value for name, value in entry.items() if name not in identities},
        }
        for entry in entries
    ]
    common = {
        "schema": 1, "batch": BATCH, "campaign": "c", "platform": "p", "digest": "d", "nodes": 1, "ranks": 2,
        "launches": 2, "seed": 7, "launcher": "mpiexec", "oversubscribed": True, "binding": "none",
        "environment": {"OMPI_MCA_mpi_yield_when_idle": "1"}, "samples": "all", "core": "no-core",
        "build": folder / "build.json", "backend": "mpi4py", "points": points,
    }  # fmt: skip
    return Batch.model_validate(common)


def test_a_batch_of_python_is_measured_by_the_runner(tmp_path: Path) -> None:
    one = batch(tmp_path)
    swept = sweep(one, tmp_path)
    assert swept.receipt is not None
    journals = read_campaign(tmp_path)
    assert [journals.status(p.key, 2).status for p in one.points] == [Status.OK] * 2
    lines = [json.loads(line) for file in sorted((tmp_path / "batches" / BATCH).glob("journal-*.jsonl"))
             for line in file.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    records = [Record.model_validate(line) for line in lines if line["kind"] == "record"]
    assert [(r.by, r.backend) for r in records] == [("runner", "mpi4py")] * 4
    assert {record.requested["backend"] for record in records if record.requested} == {"mpi4py"}
