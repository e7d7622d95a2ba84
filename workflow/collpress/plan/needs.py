"""What a campaign needs before it can run: datasets and plugin sources. Cheap: Snakemake asks at each start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from collpress.errors import CollpressError, did_you_mean
from collpress.spec.campaign import Campaign
from collpress.spec.factors import Value, is_pattern
from collpress.spec.mistakes import combined


def datasets_needed(campaign: Campaign, registered: Iterable[str] | None = None) -> list[str]:
    """Names of the datasets that a campaign sends, sorted; `pattern` is made by the core and not among them.

    Parameters
    ----------
    registered : names of all datasets that can be had; patterns are then resolved and unknown names refused. Without it
        patterns stay as they are written.
    """
    known = None if registered is None else sorted(registered)
    needed: set[str] = set()
    errors: list[CollpressError] = []
    for field, values in _axes(campaign):
        for position, value in enumerate(values):
            name = str(value)
            if name == "pattern":
                continue
            found = (
                [name]
                if known is None
                else [k for k in known if k == name or (is_pattern(name) and fnmatchcase(k, name))]
            )
            if not found and known is not None:
                what = f'no dataset matches "{name}"' if is_pattern(name) else f'unknown dataset "{name}"'
                where, allowed = campaign.where(*field, position), ", ".join(["pattern", *known])
                errors.append(CollpressError(what, where=where, allowed=allowed, fix=did_you_mean(name, known)))
            needed.update(found)
    if errors:
        raise combined(errors, str(campaign.path))
    return sorted(needed)


def plugin_directories(campaign: Campaign) -> list[Path]:
    """The directories whose plugin sources a campaign brings along."""
    return [campaign.path.parent / name for name in campaign.plugins]


def _axes(campaign: Campaign) -> Iterator[tuple[tuple[str | int, ...], tuple[Value, ...]]]:
    yield ("defaults", "dataset"), campaign.defaults.dataset or ()
    for name, experiment in campaign.experiments.items():
        yield ("experiments", name, "matrix", "dataset"), experiment.matrix.dataset or ()
        for position, group in enumerate(experiment.zip):
            yield ("experiments", name, "zip", position, "dataset"), group.dataset or ()
