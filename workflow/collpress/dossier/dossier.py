"""The dossier of a point: one document with everything that plan, journals, build and data say of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from collpress.dossier.search import Found, relative
from collpress.dossier.testimony import Testimony, testimony
from collpress.layout import build_record, dataset_file, reruns
from collpress.records.journal import ok_medians
from collpress.records.status import PointStatus, Status


class _Documents:
    """Reads JSON objects: a dossier tells what there is, so a damaged file is no error, but told in `unreadable`."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    def read(self, path: Path) -> dict[str, Any] | None:
        """The content of a file; None where there is none, or none that can be read."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = error.strerror or str(error)
        except (ValueError, RecursionError) as error:
            reason = str(error)
        else:
            if isinstance(document, dict):
                return document
            reason = "not a JSON object"
        self.unreadable.append(f"{path}: {reason}")
        return None


def dossier(found: Found) -> dict[str, Any]:
    """Everything known, ready for JSON. What does not exist is null or an empty list; files are named by their paths.

    `unreadable` names the files that are there and cannot be read, and what is wrong with them.

    Raises
    ------
    CollpressError : a journal cannot be read.
    """
    point, places = found.point, found.places
    heard = testimony(places.directory, point["id"], point["key"])
    verdict = became(found, heard)
    records = heard.of_key(point["key"])
    documents = _Documents()
    line = _plan_line(documents, places.batch_index(point["batch"]), point["id"]) if point["batch"] else None
    medians = ok_medians(heard.journals.of(point["key"] or ""), found.plan["launches"])
    return {
        "campaign": places.campaign,
        "platform": places.platform,
        "experiment": point["experiment"],
        "id": point["id"],
        "key": point["key"],
        "factors": point["factors"],
        "status": str(verdict.status),
        "reason": verdict.reason,
        "launches_ok": verdict.n_ok,
        "launches_planned": found.plan["launches"],
        "median_s": median(medians) if medians else None,
        "launch_medians_s": medians,
        "flags": ["noisy"] if verdict.noisy else [],
        "effective": _different(record.get("effective") for record in records),
        "plan_line": line,
        "records": records,
        "superseded_records": heard.of_other_keys(point["key"]),
        "begun_without_record": heard.begun,
        "damaged_lines": heard.damaged,
        "starts_of_the_core": heard.launches,
        "files": _files(found, heard),
        "build": _build(documents, found, line),
        "dataset": _dataset(documents, str(point["factors"].get("dataset"))),
        "unreadable": documents.unreadable,
        "rerun": rerun_command(found) if point["key"] else None,
    }


def became(found: Found, heard: Testimony) -> PointStatus:
    """The point's one visible status."""
    point = found.point
    if point["unsupported"] is not None:
        return PointStatus(Status.UNSUPPORTED, 0, point["unsupported"])
    if point["failed"] is not None:
        return PointStatus(Status.FAILED, 0, point["failed"])
    return heard.journals.status(point["key"], found.plan["launches"])


def rerun_command(found: Found) -> str:
    """The command that measures this point alone, once more, beside what is recorded."""
    places = found.places
    return shlex.join(["./run", "collpress", "rerun", f"{places.campaign}/{places.platform}:{found.point['id']}"])


def _files(found: Found, heard: Testimony) -> dict[str, Any]:
    places, batch = found.places, found.point["batch"]
    own = places.batch(batch) if batch else None
    records = [*heard.records, *heard.begun]
    folders = sorted(
        {Path(record["where"].rpartition(":")[0]).parent for record in records} | ({own} if own else set())
    )
    attempts = sorted({(folder, record["attempt"]) for folder in folders for record in records if _in(record, folder)})
    return {
        "plan": relative(places.points),
        "inventory": _there(places.inventory),
        "batch": batch,
        "batch_index": _there(places.batch_index(batch)) if batch else None,
        "receipt": _there(places.receipt(batch)) if batch else None,
        "journal_lines": [record["where"] for record in records],
        "samples": [_samples(record) for record in heard.records if record.get("samples")],
        "provenance": _there_of(folder / f"provenance-{attempt}.json" for folder, attempt in attempts),
        "core_logs": _there_of(folder / f"core-{attempt}.log" for folder, attempt in attempts),
        "cube": _there(places.cube),
        "reruns": _there_of(sorted(reruns(found.point["id"]).glob("*/rerun.json"))),
    }


def _in(record: dict[str, Any], folder: Path) -> bool:
    return Path(record["where"].rpartition(":")[0]).parent == folder


def _samples(record: dict[str, Any]) -> dict[str, Any]:
    folder = Path(record["where"].rpartition(":")[0]).parent
    samples = record["samples"]
    path = folder / samples["file"]
    return {
        **samples,
        "file": str(path),
        "launch": record["launch"],
        "attempt": record["attempt"],
        "is_there": path.is_file(),
    }


def _build(documents: _Documents, found: Found, line: dict[str, Any] | None) -> dict[str, Any] | None:
    """Core, compiler and MPI of the platform's build, and the plugins that the point uses, with their sources."""
    records = [build_record(found.places.platform), found.places.plugins]
    built = [document for path in records if (document := documents.read(path)) is not None]
    core = next((one for one in built if one.get("core")), None)
    if core is None:
        return None
    used = {str(line.get(name)) for name in ("plugin", "codec_plugin")} if line else set()
    plugins = [plugin for one in built for plugin in _entries(one, "plugins") if plugin.get("path") in used]
    return {
        "record": str(records[0]),
        **{name: core.get(name) for name in ("core", "compiler", "mpi")},
        "plugins": plugins,
    }


def _dataset(documents: _Documents, name: str) -> dict[str, Any] | None:
    """The sidecar of the dataset; None for the core's own pattern, or where it is not prepared."""
    path = dataset_file(name).with_suffix(".json")
    document = documents.read(path) if name != "pattern" else None
    return None if document is None else {"sidecar": str(path), **document}


def _plan_line(documents: _Documents, index: Path, identity: str) -> dict[str, Any] | None:
    """What the core is told of the point, from its batch's index."""
    document = documents.read(index) or {}
    lines = [p["line"] for p in _entries(document, "points") if p.get("id") == identity and "line" in p]
    return dict(lines[0]) if lines and isinstance(lines[0], dict) else None


def _entries(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a list of a document; none where it is another kind of thing."""
    found = document.get(name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _different(values: Iterable[Any]) -> list[Any]:
    """Each different value once."""
    seen: list[Any] = []
    for value in values:
        if value is not None and value not in seen:
            seen.append(value)
    return seen


def _there(path: Path) -> str | None:
    return str(path) if path.exists() else None


def _there_of(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths if path.exists()]
