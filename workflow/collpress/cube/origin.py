"""Where a cube comes from: its journals by digest, the world that the records saw, and the sources and software at the
time.

No moment of now and nothing that drifts (a load, a clock) is in it but what the journals hold: equal journals and equal
sources give equal cubes.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from collpress.cube.asked import dataset_checksums, measure_settings
from collpress.cube.plan import Plan
from collpress.errors import CollpressError
from collpress.layout import ROOT
from collpress.provenance import git_state, software
from collpress.provenance.machine import stable
from collpress.provenance.namespaces import MEDIA
from collpress.records import Journals

SCHEMA = 1
_KIND = ("cpu_model", "architecture", "cpus", "cores", "sockets", "memory_bytes")
"""What makes two machines of one kind; a governor or a limit may differ between attempts."""


def origin(
    directory: Path, plan: Plan, journals: Journals, build: Path | None = None, root: Path = ROOT
) -> dict[str, Any]:
    """Provenance of the cube of `directory` (`results/campaigns/<campaign>/<platform>`), ready for JSON.

    `build` is the platform's build.json, `root` the checkout whose git state is told. `measured` holds what each
    batch's own provenance file observed when it ran; `hardware` is this machine only if the records name it as their
    host, else null.
    """
    digest = journal_digest(directory, journals.files)
    moments = sorted(record.utc for record in journals.records.values())
    hosts = sorted({host for launch in journals.launches for host in launch.hosts})
    observed = _observed(directory)
    hardware = _hardware(observed, hosts)
    identity = json.dumps([SCHEMA, plan.campaign, plan.platform, plan.digest, digest])
    return {
        "schema": SCHEMA,
        "id": hashlib.sha256(identity.encode("utf-8")).hexdigest()[:32],
        "campaign": plan.campaign,
        "platform": plan.platform,
        "plan_digest": plan.digest,
        "journal_digest": digest,
        "journals": len(journals.files),
        "records": len(journals.records),
        "torn_lines": len(journals.torn),
        "first_record_utc": moments[0] if moments else None,
        "last_record_utc": moments[-1] if moments else None,
        "record_schemas": sorted({record.schema_version for record in journals.records.values()}),
        "world": {
            "hosts": hosts,
            "ranks": sorted({launch.ranks for launch in journals.launches}),
            "mpi_libraries": sorted({" ".join(launch.mpi_library.split()) for launch in journals.launches}),
            "clocks": sorted({launch.clock.name for launch in journals.launches}),
            "seeds": sorted({launch.seed for launch in journals.launches}),
        },
        "load": _load(journals, hardware),
        "links": _links(directory),
        "measure": measure_settings(
            record for point in plan.points for record in journals.of(point.key or "").values()
        ),
        "datasets": dataset_checksums(
            directory / "inventory.json", (str(point.factors.get("dataset")) for point in plan.points)
        ),
        "measured": observed,
        "hardware": hardware,
        "software": software(build),
        "git": git_state(root),
    }


def journal_digest(directory: Path, files: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of journals; the same wherever the results lie."""
    total = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(directory).as_posix()
        total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _observed(directory: Path) -> list[dict[str, Any]]:
    """What the provenance files of the batches' attempts say of machine and sources, each different one once."""
    seen: dict[str, dict[str, Any]] = {}
    for path in sorted(directory.glob("batches/*/provenance*.json")):
        content = _read(path)
        machine = {k: v for k, v in (content.get("machine") or {}).items() if k != "load_average"}
        kept = {"host": content.get("host"), "machine": machine, "git": content.get("git")}
        seen.setdefault(json.dumps(kept, sort_keys=True), kept)
    return list(seen.values())


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CollpressError(f"this provenance cannot be read: {error}", where=str(path)) from error


def _links(directory: Path) -> list[dict[str, Any]]:
    """The links that were made for attempts, each once: what was asked for, and what the pingpongs before them found.

    `rate` in bit/s, null: as fast as it goes; `found` [smallest, largest] of the `met` attempts that met it, null
    where none did; `missed` attempts measured nothing.
    """
    seen: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for path in sorted(directory.glob("batches/*/provenance*.json")):
        hosts = (_read(path).get("launch") or {}).get("hosts")
        if hosts:
            seen.setdefault((hosts["kind"], hosts["rate"]), []).append(hosts.get("link") or {})
    out = []
    for (kind, rate), links in seen.items():
        met = sorted(link["measured"] for link in links if link.get("verdict") == "met")
        missed = sum(link.get("verdict") == "missed" for link in links)
        found = [met[0], met[-1]] if met else None
        medium = MEDIA.get(kind, kind)
        out.append({"kind": kind, "medium": medium, "rate": rate, "found": found, "met": len(met), "missed": missed})
    return out


def _load(journals: Journals, hardware: Mapping[str, Any] | None) -> dict[str, Any]:
    """[smallest, largest] over the launches of what each saw when it began, null where none tells; and the CPUs."""
    seen: dict[str, Any] = {"launches": len(journals.launches), "cpus": (hardware or {}).get("cpus")}
    for name in ("load_average", "runnable"):
        known = sorted(value for launch in journals.launches if (value := getattr(launch, name)) is not None)
        seen[name] = [known[0], known[-1]] if known else None
    return seen


def _hardware(observed: list[dict[str, Any]], hosts: list[str]) -> dict[str, Any] | None:
    """The one machine of all attempts; None where there were several kinds, or where nothing tells."""
    machines = [o["machine"] for o in observed if o["machine"]]
    if not machines:
        return stable() if hosts == [platform.node()] else None
    kinds = {json.dumps([machine.get(name) for name in _KIND], sort_keys=True) for machine in machines}
    return dict(machines[0]) if len(kinds) == 1 else None
