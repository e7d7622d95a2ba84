"""What a campaign needs before it can run: datasets and plugin sources. Cheap: Snakemake asks at each start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from collpress.data.registry import unknown_dataset
from collpress.errors import CollpressError, did_you_mean
from collpress.layout import PLUGIN_SUFFIXES, ROOT
from collpress.spec.campaign import Campaign
from collpress.spec.codec_text import codec_name
from collpress.spec.factors import Value, is_pattern
from collpress.spec.mistakes import combined

_ALL_TELL_THEIR_NAME: Mapping[str, str] = MappingProxyType({})


def datasets_needed(
    campaign: Campaign, registered: Iterable[str] | None = None, public: Mapping[str, str] = _ALL_TELL_THEIR_NAME
) -> list[str]:
    """Names of the datasets that a campaign sends, sorted; `pattern` is made by the core and not among them.

    Parameters
    ----------
    registered : names of all datasets that can be had; patterns are then resolved and unknown names refused. Without it
        patterns stay as they are written.
    public : what private ones of them are called outside of this machine; a campaign may call them so, too.
    """
    known = None if registered is None else sorted(registered)
    needed: set[str] = set()
    errors: list[CollpressError] = []
    for field, values in asked_for(campaign, "dataset"):
        for position, value in enumerate(values):
            name = str(value)
            if name == "pattern":
                continue
            if known is None:
                needed.add(name)
                continue
            found = [k for k in known if name in (k, public.get(k)) or (is_pattern(name) and fnmatchcase(k, name))]
            if not found:
                errors.append(unknown_dataset(name, ["pattern", *known], campaign.where(*field, position)))
            needed.update(found)
    if errors:
        raise combined(errors, str(campaign.path))
    return sorted(needed)


def refuse_unknown_plugins(campaign: Campaign, native: Path = ROOT / "native" / "src") -> None:
    """CollpressError for each codec, metric and algorithm of ours that no source file makes, neither here nor in the
    campaign's own directories.

    An algorithm is known where any of the collectives has it that stand beside it. The library's algorithms are known
    only to the library: one that it lacks is `unsupported`.
    """
    own = {p.stem for d in plugin_directories(campaign) for p in d.rglob("*") if p.suffix in PLUGIN_SUFFIXES}
    codecs = {"none", *own, *(p.stem for p in native.glob("codecs/*.cpp"))}
    metrics = own | {p.stem for p in native.glob("metrics/*.cpp")}
    errors = _unknown(campaign, "metric", metrics, ("metrics",), campaign.metrics)
    for field, values in asked_for(campaign, "codec"):
        errors += _unknown(campaign, "codec", codecs, field, [codec_name(str(v)) for v in values])
    for field, values in asked_for(campaign, "algorithm"):
        known = {f"{kind}:{stem}" for kind in ("reference", "compressed") for stem in own}
        for kind, folder in (("reference", "collectives"), ("compressed", "compressed")):
            for collective in _collectives_beside(campaign, field):
                known |= {f"{kind}:{p.stem}" for p in native.glob(f"{folder}/{collective}/*.cpp")}
        errors += _unknown(campaign, "algorithm", known, field, values)
    if errors:
        raise combined(errors, str(campaign.path))


def _unknown(
    campaign: Campaign, noun: str, known: Collection[str], field: tuple[str | int, ...], values: Iterable[Value]
) -> list[CollpressError]:
    return [
        CollpressError(
            f'unknown {noun} "{name}"',
            where=campaign.where(*field, position),
            allowed=", ".join(sorted(known)),
            fix=did_you_mean(name, known),
        )
        for position, name in enumerate(map(str, values))
        if not (name in known or name.startswith("library:") or is_pattern(name))
    ]


def _collectives_beside(campaign: Campaign, field: tuple[str | int, ...]) -> list[str]:
    """The collectives of the experiment that a field is in; those of all experiments for the defaults."""
    if field[0] == "defaults":
        experiments = list(campaign.experiments.values())
    else:
        experiments = [campaign.experiments[str(field[1])]]
    found: set[str] = set()
    for experiment in experiments:
        own = [c for group in (experiment.matrix, *experiment.zip) for c in group.given().get("collective", ())]
        found.update(map(str, own or campaign.defaults.given().get("collective", ())))
    return sorted(found)


def plugin_directories(campaign: Campaign) -> list[Path]:
    """The directories whose plugin sources a campaign brings along."""
    return [campaign.path.parent / name for name in campaign.plugins]


def asked_for(campaign: Campaign, factor: str) -> Iterator[tuple[tuple[str | int, ...], tuple[Value, ...]]]:
    """Everywhere in the campaign that a factor is given: the field, and its values."""
    yield ("defaults", factor), campaign.defaults.given().get(factor, ())
    for name, experiment in campaign.experiments.items():
        yield ("experiments", name, "matrix", factor), experiment.matrix.given().get(factor, ())
        for position, group in enumerate(experiment.zip):
            yield ("experiments", name, "zip", position, factor), group.given().get(factor, ())
