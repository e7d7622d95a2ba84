"""The inventory: what an installation offers to a campaign, with every hash, and the frozen plan that follows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from collpress.codecs.outside import libraries
from collpress.data.registry import Entry, load_registry
from collpress.errors import CollpressError
from collpress.fidelity import grain
from collpress.files import write_json
from collpress.layout import Places, build_record, dataset_file
from collpress.plan.built import find_mpiexec, read_build
from collpress.plan.expansion import Expansion, Point, expand
from collpress.plan.frozen import FrozenPlan, Site, freeze, read_json, read_shards, write_plan
from collpress.plan.identity import Build
from collpress.plan.launch import launch_of, root_permissions
from collpress.plan.machine import Machine, this_machine
from collpress.plan.metrics import broken_metrics, refuse_other_plugins
from collpress.plan.needs import datasets_needed
from collpress.plan.offer import Dataset, Offer, library_algorithms, metrics_of, offer_from_json, plugins_of
from collpress.plan.settings import refuse_unknown_settings
from collpress.plan.variables import refuse_unknown_variables
from collpress.provenance.namespaces import hosts_lack
from collpress.spec.campaign import Campaign
from collpress.spec.codec_text import codec_name
from collpress.spec.platform import Platform

REGISTRY = Path("config/datasets.yaml")
PROBE_SECONDS = 60


def take_inventory(
    campaign: Campaign, platform: Platform, without: Collection[str] = ()
) -> tuple[Expansion, FrozenPlan, list[Path]]:
    """Look at what was built and prepared, freeze the plan, write both.

    Parameters
    ----------
    without : public ids of datasets that could not be had; their points are planned as failed, all others can run.

    Returns the expansion, the plan, and the files that changed.

    Raises
    ------
    CollpressError : something that the campaign needs was not built or prepared, or the core does not answer.
    """
    places = Places(campaign.name, platform.name)
    build_path = build_record(platform.name)
    build = _project_build(platform.name)
    own = (
        read_build(places.plugins, f"./run collpress run {campaign.name} --platform {platform.name}")
        if campaign.plugins
        else {"plugins": []}
    )
    machine = this_machine()
    offers = probe_core(build, launch_of(platform, machine, 1).environment)
    _refuse_another_library(build, offers)
    algorithms, codecs = plugins_of([build, own], libraries())
    library = library_algorithms(offers, platform.backends.mpi.controls)
    offer = Offer(tuple(library + algorithms), tuple(codecs), tuple(metrics_of([build, own])))
    refuse_unknown_settings(campaign, offer)
    datasets = prepared_datasets(campaign, without)
    no_hosts = hosts_lack(platform.hosts.kind if platform.hosts else None)
    expansion = expand(campaign, platform, datasets, offer, machine.memory_bytes, machine.cpus, no_hosts)
    asked = {str(p.factors["knobs"]) for p in expansion.points}
    refuse_unknown_variables(platform, str(build["mpi"]["wrapper"]), asked & platform.knobs.keys())
    broken = {str(b["name"]): f"the plugin cannot be used: {b['reason']}" for b in own.get("broken", ())}
    expansion.warnings += refuse_other_plugins(campaign, offer.metrics, broken)
    expansion.points = [_with_what_is_missing(p, without, broken) for p in expansion.points]
    if not expansion.points:
        raise CollpressError("the campaign has no points: every combination is excluded", where=str(campaign.path))
    site = Site(
        platform,
        machine,
        offer,
        {d.id: d for d in datasets.values()},
        Build.of(build),
        build["core"]["path"],
        build_path.as_posix(),
    )
    plan = freeze(campaign, site, expansion, read_shards(places), broken_metrics(campaign, broken))
    written = write_plan(plan, places)
    inventory = _document(campaign, site, build, own, offers)
    if write_json(places.inventory, inventory):
        written.append(places.inventory)
    return expansion, plan, written


def _project_build(platform: str) -> dict[str, Any]:
    """The build record of a platform, which has a core."""
    path, fix = build_record(platform), f"./run collpress build --platform {platform}"
    build = read_build(path, fix)
    if not build.get("core"):
        raise CollpressError("the build record has no core", where=str(path), fix=fix)
    return build


def installed_offer(platform: Platform) -> tuple[Offer, Any, Machine]:
    """What a platform offers without any campaign: offer, build record, machine."""
    build, machine = _project_build(platform.name), this_machine()
    offers = probe_core(build, launch_of(platform, machine, 1).environment)
    algorithms, codecs = plugins_of([build], libraries())
    return (
        Offer(
            tuple(library_algorithms(offers, platform.backends.mpi.controls) + algorithms),
            tuple(codecs),
            tuple(metrics_of([build])),
        ),
        build,
        machine,
    )


def known_offer(places: Places) -> Offer | None:
    """The offer of an earlier inventory; None before the first."""
    if not places.inventory.exists():
        return None
    fix = f"take it again: ./run collpress inventory {places.campaign} --platform {places.platform}"
    inventory = read_json(places.inventory, fix)
    try:
        return offer_from_json(inventory)
    except (KeyError, TypeError):
        raise CollpressError(f"{places.inventory} is not an inventory, version 1", fix=fix) from None


def registered_datasets() -> dict[str, Dataset]:
    """All datasets of the registry as they will be once prepared, by the names that campaigns use."""
    return {name: _registered(entry) for name, entry in load_registry(REGISTRY).items()}


def _registered(entry: Entry) -> Dataset:
    name = entry.public_id
    path = dataset_file(name).as_posix()
    row_and_plane = grain(entry.shape, entry.parts)
    return Dataset(
        name, entry.dtype, entry.elements, path, entry.sha256 or "", entry.bytes, entry.parts, *row_and_plane
    )


def _with_what_is_missing(point: Point, without: Collection[str], broken: Mapping[str, str]) -> Point:
    """A point whose data or plugin could not be had today failed; it is not `unsupported`, which is for good."""
    dataset = str(point.factors["dataset"])
    if point.unsupported is None and dataset in without:
        return replace(point, failed=f"the dataset {dataset} could not be had (results/logs/datasets/{dataset}.log)")
    names = (codec_name(str(point.factors["codec"])), str(point.factors["algorithm"]).partition(":")[2])
    reason = next((broken[name] for name in names if name in broken), None)
    if point.unsupported is not None and reason is not None:
        return replace(point, unsupported=None, failed=reason)
    return point


def prepared_datasets(campaign: Campaign, without: Collection[str] = ()) -> dict[str, Dataset]:
    """The datasets that a campaign needs, by the names that it uses, from their sidecars; one that is not prepared is
    an error.

    Those in `without` (public ids) are described as they would be.
    """
    registered = registered_datasets()
    found = {}
    for name in datasets_needed(campaign, registered, {name: dataset.id for name, dataset in registered.items()}):
        public = registered[name].id
        if public in without:
            found[name] = registered[name]
            continue
        values = dataset_file(public)
        sidecar = read_json(values.with_suffix(".json"), f"prepare it: ./run collpress dataset get {name}")
        if not values.is_file() or values.stat().st_size != sidecar["bytes"]:
            raise CollpressError(
                f"{values} is not the file that its sidecar describes", fix=f"./run collpress dataset get {name}"
            )
        found[name] = Dataset(
            public,
            sidecar["dtype"],
            int(sidecar["elements"]),
            values.as_posix(),
            sidecar["sha256"],
            int(sidecar["unique_bytes"]),
            sidecar.get("parts"),
            *grain(sidecar.get("shape", ()), sidecar.get("parts")),
        )
    return found


def _refuse_another_library(build: Mapping[str, Any], offers: Mapping[str, Any]) -> None:
    """The core must run with the MPI library that it was built with: keys and provenance name that one."""
    # The first line of what the library says, up to what Open MPI says about its own build.
    built, found = (
        text.partition("\n")[0].partition(",")[0]
        for text in (str(build["mpi"]["version"]), str(offers.get("library", "")))
    )
    if built != found:
        raise CollpressError(
            f"the core was built with {built}, but it finds {found}",
            where=str(build["core"]["path"]),
            fix="build again: ./run collpress build",
        )


def probe_core(build: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    """What the core says about the library: one short process, under the launcher where it does not start alone."""
    command = [str(Path(build["core"]["path"]).absolute()), "--offers"]
    # No transport: a lone process needs none, and shared memory would leave its segment behind.
    variables = {**os.environ, **environment, "OMPI_MCA_btl": "self", **root_permissions()}
    complaints = []
    for prefix in ([], [str(find_mpiexec(str(build["mpi"]["wrapper"]))), "-n", "1"]):
        try:
            done = subprocess.run(
                [*prefix, *command],
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=PROBE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            complaints.append(f"no answer within {PROBE_SECONDS} s")
            continue
        except OSError as error:
            complaints.append(f"{error.filename}: {error.strerror}")
            continue
        answer = _answer(done.stdout)
        if done.returncode == 0 and answer is not None:
            return answer
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        complaints.append(f"exit code {done.returncode}: {last}")
    raise CollpressError(
        "the core does not say what the MPI library offers",
        where=" ".join(command),
        allowed="JSON",
        fix="; under mpiexec: ".join(complaints),
    )


def _answer(text: str) -> Any:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("algorithms"), list) else None


def _document(
    campaign: Campaign, site: Site, build: Mapping[str, Any], own: Mapping[str, Any], offers: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "schema": 1,
        "campaign": campaign.name,
        "platform": site.platform.name,
        "machine": site.machine.as_json(),
        "library": offers.get("library"),
        "controls": offers.get("controls"),
        **site.offer.as_json(),
        "datasets": [vars(d) for d in site.datasets.values()],
        "build": {"path": site.build_path, "core": build["core"], "compiler": build["compiler"], "mpi": build["mpi"]},
        "own_plugins": [p["name"] for p in own["plugins"]],
    }
