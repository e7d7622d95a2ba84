"""What every rank did in a point's instrumented iterations, as a document that Perfetto and chrome://tracing open.

The format is the Trace Event Format (JSON object form): complete events (`ph: X`), which nest by time within one
thread, and metadata events (`M`) that name processes and threads. A process is a rank, a thread an iteration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collpress.dossier.search import Found
from collpress.dossier.testimony import testimony
from collpress.dossier.words import label
from collpress.errors import CollpressError

Line = dict[str, Any]
"""One iteration of one rank; docs/contracts.md, "Traces"."""


def trace_record(found: Found, launch: int | None = None) -> dict[str, Any]:
    """The latest record with a trace, of one launch or of the first that has one; `where` says where it stands.

    Raises
    ------
    CollpressError : the point has no trace, and why.
    """
    point, places = found.point, found.places
    place = f"{places.campaign}/{places.platform}:{point['id']}"
    if str(point["factors"].get("algorithm")).startswith("library:"):
        raise CollpressError(
            "an algorithm of the library has no trace: what it does inside cannot be seen",
            where=place,
            allowed="points of reference: and compressed: algorithms",
        )
    if why := point["unsupported"] or point["failed"]:
        raise CollpressError(f"the point was not measured: {why}", where=place)
    records = testimony(places.directory, point["id"], point["key"]).of_key(point["key"])
    of_launch = [record for record in records if launch in (None, record["launch"])]
    if not of_launch:
        what = "the point has no record yet" if not records else f"the point has no record of launch {launch}"
        launches = sorted({record["launch"] for record in records})
        allowed = f"launches {', '.join(map(str, launches))}" if records else ""
        raise CollpressError(what, where=place, allowed=allowed, fix=f"collpress run {places.campaign}")
    traced = [record for record in of_launch if record.get("trace")]
    if not traced:
        raise CollpressError(_untraced(of_launch[-1]), where=of_launch[-1]["where"])
    first = traced[0]["launch"]
    return [record for record in traced if record["launch"] == first][-1]


def read_trace(record: dict[str, Any]) -> list[Line]:
    """The lines of a record's slice, checked against the record.

    Raises
    ------
    CollpressError : the file is gone, or holds other bytes than were recorded.
    """
    entry = record["trace"]
    path = Path(record["where"].rpartition(":")[0]).parent / entry["file"]
    gone = "measure the point again: collpress rerun"
    try:
        with path.open("rb") as file:
            file.seek(entry["offset"])
            content = file.read(entry["bytes"])
    except OSError as error:
        raise CollpressError(f"the trace cannot be read: {error.strerror}", where=str(path), fix=gone) from None
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise CollpressError(
            f"the trace has been changed: the {entry['bytes']} bytes from {entry['offset']} on have another sha256 "
            "than their record says",
            where=str(path),
            fix=gone,
        )
    return [json.loads(line) for line in content.decode("utf-8").splitlines()]


def trace_events(found: Found, record: dict[str, Any], lines: Sequence[Line]) -> dict[str, Any]:
    """The document. `ts` and `dur` are microseconds; moment 0 is the earliest beginning of any rank.

    Iterations lie below each other and all begin at their own moment 0, for the time between them is not recorded.
    """
    chosen = sorted(lines, key=lambda line: (line["rank"], line["iteration"]))
    first = {i: min(line["begin_ns"] for line in chosen if line["iteration"] == i) for i in _iterations(chosen)}
    name = str(found.point["factors"]["algorithm"])
    events: list[dict[str, Any]] = []
    for rank in sorted({line["rank"] for line in chosen}):
        events += [_named("process_name", rank, 0, name=f"rank {rank}")]
        events += [_named("process_sort_index", rank, 0, sort_index=rank)]
    for line in chosen:
        pid, tid, start = line["rank"], line["iteration"], first[line["iteration"]]
        events.append(_named("thread_name", pid, tid, name=f"iteration {tid}"))
        events.append(_slice(name, "call", line["begin_ns"] - start, line["ns"], pid, tid))
        for event, kind, _, begin, ns in line["events"]:
            events.append(_slice(event, kind, begin - start, ns, pid, tid))
    one_clock = all(line["origin"] == "rank 0" for line in chosen)
    about = {
        "point": found.point["id"],
        "key": record["key"],
        "campaign": found.places.campaign,
        "platform": found.places.platform,
        "what": label(found.point["factors"]),
        "launch": str(record["launch"]),
        "clock": "all ranks look at one clock"
        if one_clock
        else "each rank has a clock of its own: moments of different ranks cannot be compared",
        "measured in": "the instrumented pass, which is slower than the timed iterations",
    }
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def of_iteration(lines: Sequence[Line], iteration: int | None) -> list[Line]:
    """All lines, or those of one iteration; CollpressError where there is none such."""
    if iteration is None:
        return list(lines)
    if iteration not in (known := _iterations(lines)):
        raise CollpressError(
            f"the trace has no iteration {iteration}", where="--iteration", allowed=f"{known[0]} to {known[-1]}"
        )
    return [line for line in lines if line["iteration"] == iteration]


def _iterations(lines: Sequence[Line]) -> list[int]:
    return sorted({int(line["iteration"]) for line in lines})


def _untraced(record: dict[str, Any]) -> str:
    if record["status"] != "ok":
        return f"the record has no trace: the point is {record['status']}: {record['reason']}"
    if (record.get("requested") or {}).get("instrumented") == "0":
        return "the point has no trace: its campaign asks for no instrumented pass (measure: instrumented: 0)"
    return "the record has no trace: its file was full, or it is of an older core"


def _slice(name: str, kind: str, begin_ns: int, ns: int, pid: int, tid: int) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "X", "ts": begin_ns / 1e3, "dur": ns / 1e3, "pid": pid, "tid": tid}


def _named(what: str, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": args}
