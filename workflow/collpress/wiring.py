"""What the rule files ask for: inputs, parameters and targets of one campaign on one platform, as plain strings.

Everything here is cheap: Snakemake evaluates it each time it starts, on a cluster in every job.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from collpress.cards.sources import card_sources
from collpress.codecs.outside import libraries
from collpress.data import sidecar
from collpress.data.access import DATA_ROOTS
from collpress.data.registry import Entry, find, load_registry
from collpress.execute.toolchain import signature
from collpress.figures.registry import figure_module, figure_sources
from collpress.layout import (
    DATA,
    PLUGIN_SUFFIXES,
    Places,
    build_record,
    campaign_file,
    card_file,
    dataset_file,
    platform_file,
)
from collpress.plan.needs import datasets_needed, plugin_directories, refuse_unknown_plugins
from collpress.provenance.machine import allowed_cpus, machine_key
from collpress.spec import Campaign, load_campaign, load_platform

PACKAGE = Path(__file__).parent
REGISTRY = Path("config/datasets.yaml")


@dataclass(frozen=True)
class Batch:
    """What the workflow must know of a batch; the rest is in its index."""

    digest: str
    nodes: int
    ranks: int
    minutes: int


class Wiring:
    """One campaign on one platform, as the rules see it."""

    def __init__(self, campaign: str, platform: str, without: str = "") -> None:
        """`without`: public ids of datasets that could not be had, separated by commas."""
        self._without = without.split(",") if without else []
        self.campaign_name, self.platform_name = campaign, platform
        self.campaign_path, self.platform_path = str(campaign_file(campaign)), str(platform_file(platform))
        self._campaign = load_campaign(campaign)
        self._platform = load_platform(platform)
        refuse_unknown_plugins(self._campaign)
        self._registry = load_registry(REGISTRY)
        self.places = Places(campaign, platform)
        self.build = build_record(platform)

    def datasets(self) -> list[str]:
        """Sidecars of the datasets that the campaign uses."""
        public = {name: entry.public_id for name, entry in self._registry.items()}
        needed = (public[name] for name in datasets_needed(self._campaign, self._registry, public))
        return [str(dataset_file(name).with_suffix(".json")) for name in needed if name not in self._without]

    def cards(self) -> list[str]:
        """The cards of the same datasets."""
        return [str(card_file(Path(name).relative_to(DATA).with_suffix("").as_posix())) for name in self.datasets()]

    def card_sources(self) -> list[str]:
        """The modules that a card depends on: editing one makes the cards anew, and nothing else."""
        return [os.path.relpath(path) for path in card_sources()]

    def card_labels(self, what: str) -> Callable[..., dict[str, str]]:
        """What a report says beside a file of a card; asked of Snakemake only when the card is there."""

        def labels(wildcards: Any, output: Any) -> dict[str, str]:
            synthetic = json.loads(Path(output.numbers).read_text(encoding="utf-8"))["synthetic"]
            data = "synthetic" if synthetic else "not synthetic"
            return {"dataset": str(wildcards.dataset), "data": data, "shown": what}

        return labels

    def without_arguments(self) -> str:
        """The datasets that could not be had, as quoted arguments of `collpress inventory`."""
        return " ".join(f"--without {shlex.quote(name)}" for name in self._without)

    def dataset_sha256(self, wildcards: Any) -> str:
        """The checksum of a prepared dataset: the pinned one, else the one that was recorded when it was prepared."""
        pinned = self._entry(wildcards).sha256
        return pinned or sidecar.read(dataset_file(str(wildcards.dataset)).with_suffix(".json")).sha256

    def dataset_digest(self, wildcards: Any) -> str:
        """Changes when the dataset's entry in the registry does."""
        return _digest(self._entry(wildcards).model_dump(mode="json"))

    def _entry(self, wildcards: Any) -> Entry:
        return find(self._registry, str(wildcards.dataset), REGISTRY)

    def data_roots(self) -> list[str]:
        """Directories of the platform that may hold files of datasets."""
        return list(self._platform.data_roots)

    def native_sources(self) -> list[str]:
        """All that the core and the project's plugins are built from."""
        sources = [p for p in Path("native").rglob("*") if p.suffix in {".cpp", ".hpp", ".h", ".txt", ".cmake"}]
        return sorted(str(p) for p in sources if "tests" not in p.parts)

    def toolchain(self) -> str:
        """Another compiler or another MPI library asks for another build."""
        return signature(self._platform.toolchain.source, self._platform.toolchain.mpi)

    def native_headers(self) -> list[str]:
        """The public ABI, which a campaign's own plugins are built against."""
        return sorted(str(p) for p in Path("native/include").rglob("*") if p.is_file())

    def plugin_sources(self) -> list[str]:
        """The sources in the directories that the campaign names."""
        found = (p for directory in self._plugin_directories() for p in directory.rglob("*"))
        return sorted(str(p) for p in found if p.suffix in {*PLUGIN_SUFFIXES, ".hpp", ".h"})

    def python_of_metrics(self) -> str:
        """What metrics written in Python depend on beside their text; empty where the campaign brings none."""
        if not any(source.endswith(".py") for source in self.plugin_sources()):
            return ""
        return f"Python {platform.python_version()}, NumPy {version('numpy')}"

    def plugin_arguments(self) -> str:
        """The same directories as quoted arguments of `collpress build`."""
        return " ".join(f"--plugins {shlex.quote(str(directory))}" for directory in self._plugin_directories())

    def _plugin_directories(self) -> list[Path]:
        return plugin_directories(self._campaign)

    def machine(self) -> str:
        """Another machine, other processors that may be used, or other codec libraries ask for another inventory."""
        return f"{machine_key()}, {allowed_cpus()} CPUs, {_digest(libraries())}"

    def batch(self, checkpoints: Any, batch: str) -> Batch:
        """One batch of the frozen plan; waits for the checkpoint that freezes it."""
        return self._batches(checkpoints)[batch]

    def receipts(self, checkpoints: Any) -> list[str]:
        """The receipt of every batch of the frozen plan."""
        return [str(self.places.receipt(batch)) for batch in self._batches(checkpoints)]

    def _batches(self, checkpoints: Any) -> dict[str, Batch]:
        index = Path(checkpoints.inventory.get().output.batches)
        rows = json.loads(index.read_text(encoding="utf-8"))["batches"]
        return {row["batch"]: Batch(row["digest"], row["nodes"], row["ranks"], row["minutes"]) for row in rows}

    def figures(self) -> list[str]:
        """The figures that the campaign asks for."""
        return figures_of(self._campaign)

    def figure_sources(self, name: str) -> list[str]:
        """The modules that draw a figure: editing one redraws it."""
        return [os.path.relpath(path) for path in figure_sources(name)]

    def sources(self, *rooms: str) -> list[str]:
        """All modules of some rooms of the package."""
        return sorted(os.path.relpath(path) for room in rooms for path in (PACKAGE / room).glob("*.py"))


def figures_of(campaign: Campaign) -> list[str]:
    """The figures that a campaign asks for; CollpressError where there is no such figure."""
    for position, name in enumerate(campaign.figures):
        figure_module(name, campaign.where("figures", position))
    return list(campaign.figures)


def show_to_shells(data_roots: Sequence[str] = ()) -> None:
    """Let the rules' shells find this Python and this package first, here and in a cluster's jobs.

    Parameters
    ----------
    data_roots : the platform's; no parameter of a rule, since data do not change with where their files were found.
    """
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    os.environ["PYTHONPATH"] = str(PACKAGE.parent)
    os.environ[DATA_ROOTS] = os.pathsep.join(data_roots)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
