"""Where everything lies: the paths under `results/`, in one place (docs/contracts.md, "Places under results/")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

RESULTS = Path("results")
"""Everything made."""

DATA = RESULTS / "data"
"""Prepared datasets."""

CARDS = RESULTS / "cards"
"""What they look like."""

CAMPAIGNS = RESULTS / "campaigns"
"""A folder a campaign, in it one a platform."""

FIGURES = RESULTS / "figures"
"""Figures that are drawn over several cubes, where nobody names another folder."""

BASELINES = RESULTS / "baselines"
"""What was kept of a campaign, to compare later ones with."""


PLUGIN_SUFFIXES = (".cpp", ".c", ".py")
"""Of the sources of a user's plugins; those in Python are metrics."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def campaign_file(campaign: str) -> Path:
    """The file that a campaign's name stands for."""
    return Path("config/campaigns") / f"{campaign}.yaml"


def platform_file(platform: str) -> Path:
    """The file that a platform's name stands for."""
    return Path("config/platforms") / f"{platform}.yaml"


def dataset_file(dataset: str) -> Path:
    """The prepared values of a dataset; its sidecar has the same name and ends in `.json`."""
    return DATA / f"{dataset}.bin"


def card_file(dataset: str) -> Path:
    """The card of a dataset; its page has the same name and ends in `.pdf`, `.svg`, `.png`."""
    return CARDS / f"{dataset}.json"


def baseline_file(name: str) -> Path:
    """What is kept under a name; CollpressError for what is no name."""
    _require_name("baseline", name)
    return BASELINES / f"{name}.json"


def cube_file(word: str) -> Path:
    """The cube that `CAMPAIGN/PLATFORM` or `CAMPAIGN@PLATFORM` stands for, or the path of one.

    CollpressError for anything else.
    """
    names = re.split("[/@]", word)
    if word.endswith(".nc"):
        return Path(word)
    if len(names) != 2:
        raise CollpressError(f'"{word}" names no cube', allowed="CAMPAIGN/PLATFORM, or the path of a cube.nc")
    return Places(*names).cube


def build_record(platform: str) -> Path:
    """What was built for a platform."""
    return Path("results/native") / platform / "build.json"


def reruns(point: str) -> Path:
    """Where a point's reruns lie, numbered; they belong to no campaign."""
    return RESULTS / "reruns" / point


@dataclass(frozen=True)
class Places:
    """The places of one campaign on one platform; paths are relative to the checkout.

    Raises CollpressError for what is no name: a path would lead out of `results/`.
    """

    campaign: str
    platform: str

    def __post_init__(self) -> None:
        for noun, name in (("campaign", self.campaign), ("platform", self.platform)):
            _require_name(noun, name, fix="the file's name, without .yaml")

    @property
    def directory(self) -> Path:
        return CAMPAIGNS / self.campaign / self.platform

    @property
    def plugins(self) -> Path:
        return self.directory / "plugins" / "build.json"

    @property
    def inventory(self) -> Path:
        return self.directory / "inventory.json"

    @property
    def points(self) -> Path:
        return self.directory / "plan" / "points.json"

    @property
    def batches(self) -> Path:
        return self.directory / "plan" / "batches.json"

    @property
    def summary(self) -> Path:
        return self.directory / "summary.json"

    @property
    def cube(self) -> Path:
        return self.directory / "cube.nc"

    @property
    def findings(self) -> Path:
        return self.directory / "findings.json"

    @property
    def findings_page(self) -> Path:
        return self.directory / "findings.md"

    def batch_index(self, batch: str) -> Path:
        return self.directory / "plan" / "batches" / f"{batch}.json"

    def batch(self, batch: str) -> Path:
        return self.directory / "batches" / batch

    def receipt(self, batch: str) -> Path:
        return self.batch(batch) / "receipt.json"

    def trace(self, point: str, launch: int) -> Path:
        """A trace that a person asked for; nothing reads it."""
        return self.directory / "traces" / f"{point}-{launch}.json"

    def figure(self, name: str, suffix: str) -> Path:
        return self.directory / "figures" / f"{name}.{suffix}"


def _require_name(noun: str, name: str, fix: str = "") -> None:
    if not _NAME.fullmatch(name):
        allowed = "a name of lower-case letters, digits, - and _"
        raise CollpressError(f'"{name}" cannot name a {noun}', allowed=allowed, fix=fix)
