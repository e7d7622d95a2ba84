"""What an installation offers, algorithms, codecs and metrics, and the datasets at hand: limits and hashes of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from collpress.codecs.parameter import Parameter, parameter_from_json, values_of
from collpress.collectives import COLLECTIVES
from collpress.errors import CollpressError
from collpress.spec.codec_text import codec_name, codec_settings, with_settings

RESERVED = frozenset({"bound", "bound_ok", "bytes", "error_bound"})
"""Names that no metric may have: variables of a cube are `message_<metric>` and `<metric>_value`, and so are others."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of one collective; `name` carries its kind: `library:ring`, `reference:ring`, `compressed:ring`.

    in_place, segments : whether it takes calls in place, and a size of its messages.
    only_in_place : whether it takes no others.
    least_fanout : the smallest fan-out that it takes; 0 where it knows none.
    tagged : the plugin of the same source with its tags, for the pass that attributes time.
    needs_add : whether it adds streams, which its codec must be able to do.
    """

    collective: str
    name: str
    backend: str
    min_ranks: int = 1
    power_of_two_ranks: bool = False
    count_at_least_ranks: bool = False
    path: str | None = None
    sha256: str | None = None
    in_place: bool = False
    segments: bool = False
    least_fanout: int = 0
    tagged: str | None = None
    only_in_place: bool = False
    needs_add: bool = False

    @property
    def kind(self) -> str:
        return self.name.partition(":")[0]


@dataclass(frozen=True)
class Codec:
    """One codec plugin; `library` is the sha256 of an outside library that it loads, None where there is none.

    adds : whether it adds streams without decompressing them.
    """

    name: str
    dtypes: tuple[str, ...]
    takes_bound: bool
    lossless: bool
    path: str
    sha256: str
    library: str | None = None
    parameters: tuple[Parameter, ...] = ()
    adds: bool = False

    def setting(self, text: str) -> str:
        """A codec of this name as a campaign writes it, without the settings that are as usual.

        Raises
        ------
        CollpressError : a setting that there is not, or a value that it cannot have.
        """
        given = codec_settings(text)
        values = dict(zip([p.name for p in self.parameters], self.values(text), strict=True))
        usual = {p.name: p.usual for p in self.parameters}
        return with_settings(self.name, {name: t for name, t in given.items() if values[name] != usual[name]})

    def values(self, text: str) -> list[float]:
        """What the codec is handed for its parameters, in their order."""
        return values_of(self.name, self.parameters, codec_settings(text))


@dataclass(frozen=True)
class Metric:
    """One metric plugin: the names of its values, and their units in the same order (`data`: those of the data)."""

    name: str
    values: tuple[str, ...]
    units: tuple[str, ...]
    summary: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Dataset:
    """One dataset: `elements` values of `dtype` in the file `path`, little-endian; `unique_bytes` as in its sidecar.

    `parts`: how many ranks have a part of their own in it, all of equal length; None where ranks send slices. `row`,
    `plane`: of the array that the file, or each part, is, as `fidelity.grain` says.
    """

    id: str
    dtype: str
    elements: int
    path: str
    sha256: str
    unique_bytes: int
    parts: int | None = None
    row: int = 0
    plane: int = 0


@dataclass(frozen=True)
class Offer:
    """Everything that one installation can run."""

    algorithms: tuple[Algorithm, ...]
    codecs: tuple[Codec, ...]
    metrics: tuple[Metric, ...] = ()

    def algorithm(self, collective: str, name: str) -> Algorithm | None:
        return next((a for a in self.algorithms if (a.collective, a.name) == (collective, name)), None)

    def names(self, collective: str) -> list[str]:
        """The algorithms of a collective."""
        return [a.name for a in self.algorithms if a.collective == collective]

    def codec(self, text: str) -> Codec | None:
        """The codec that a campaign writes so, whatever its settings."""
        return next((c for c in self.codecs if c.name == codec_name(text)), None)

    def as_json(self) -> dict[str, Any]:
        return {
            "algorithms": [asdict(a) for a in self.algorithms],
            "codecs": [_codec_json(c) for c in self.codecs],
            "metrics": [asdict(m) | {"values": list(m.values), "units": list(m.units)} for m in self.metrics],
        }


def offer_from_json(data: Mapping[str, Any]) -> Offer:
    """The inverse of `Offer.as_json`."""
    return Offer(
        tuple(Algorithm(**a) for a in data["algorithms"]),
        tuple(_codec(c) for c in data["codecs"]),
        tuple(_metric(m) for m in data.get("metrics", ())),
    )


def _codec_json(codec: Codec) -> dict[str, Any]:
    parameters = [asdict(p) | {"choices": list(p.choices)} for p in codec.parameters]
    return asdict(codec) | {"dtypes": list(codec.dtypes), "parameters": parameters}


def _codec(data: Mapping[str, Any]) -> Codec:
    parameters = tuple(parameter_from_json(p) for p in data["parameters"])
    return Codec(**(dict(data) | {"dtypes": tuple(data["dtypes"]), "parameters": parameters}))


def library_algorithms(offers: Mapping[str, Any], controls: str) -> list[Algorithm]:
    """The library's algorithms from what the core says; without controls only the library's own choice.

    A core calls the collectives that it names; one that says nothing of an ability does not have it.
    """
    said = {(str(a["collective"]), str(a["name"])): a for a in offers.get("algorithms", [])}
    spoken = {"allreduce"} | {collective for collective, _ in said}
    found = []
    for collective in (c for c in COLLECTIVES if c in spoken):
        entries = {name: a for (of, name), a in said.items() if of == collective and name != "default"}
        # What the library leaves to itself, it can do whenever it can do anything.
        own = said.get((collective, "default"), {"in_place": any(_in_place(a) for a in entries.values())})
        found.append(_library_algorithm(collective, "default", own))
        if controls != "none":
            found += [_library_algorithm(collective, name, a) for name, a in entries.items()]
    return found


def _library_algorithm(collective: str, name: str, said: Mapping[str, Any]) -> Algorithm:
    return Algorithm(
        collective,
        f"library:{name}",
        "mpi",
        int(said.get("min_ranks") or 1),
        bool(said.get("power_of_two")),
        bool(said.get("count_at_least_ranks")),
        in_place=_in_place(said),
        segments=bool(said.get("segments")),
        least_fanout=2 if said.get("fanout") else 0,
        only_in_place=bool(said.get("only_in_place")),
    )


def _in_place(said: Mapping[str, Any]) -> bool:
    """Every MPI takes calls in place; a core that speaks of segments makes them."""
    return bool(said.get("in_place", "segments" in said))


def plugins_of(
    builds: Iterable[Mapping[str, Any]], libraries: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[Algorithm], list[Codec]]:
    """Algorithms and codecs from build records; two plugins of one name are an error.

    Parameters
    ----------
    libraries : codec → sha256 of the outside library that it loads.
    """
    algorithms: dict[tuple[str, str], Algorithm] = {}
    codecs: dict[str, Codec] = {}
    for build in builds:
        for plugin in build["plugins"]:
            if plugin["kind"] == "metric":
                continue
            if plugin["kind"] == "codec":
                _refuse_twin(codecs.get(plugin["name"]), plugin)
                codecs[plugin["name"]] = Codec(
                    plugin["name"],
                    tuple(plugin["dtypes"]),
                    bool(plugin["takes_bound"]),
                    bool(plugin["lossless"]),
                    plugin["path"],
                    plugin["sha256"],
                    libraries.get(plugin["name"]),
                    tuple(parameter_from_json(p) for p in plugin.get("parameters", ())),
                    bool(plugin.get("adds", False)),
                )
                continue
            name = f"{'compressed' if plugin['compresses'] else 'reference'}:{plugin['name']}"
            key = (plugin["collective"], name)
            _refuse_twin(algorithms.get(key), plugin)
            algorithms[key] = Algorithm(
                plugin["collective"],
                name,
                "native",
                int(plugin["min_ranks"]),
                bool(plugin["power_of_two_ranks"]),
                bool(plugin["count_at_least_ranks"]),
                plugin["path"],
                plugin["sha256"],
                bool(plugin.get("in_place", False)),
                bool(plugin.get("segments", False)),
                int(plugin.get("least_fanout", 0)),
                plugin.get("tagged"),
                needs_add=bool(plugin.get("needs_add", False)),
            )
    return list(algorithms.values()), list(codecs.values())


def metrics_of(builds: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """Metrics from build records, by name; two of one name are an error."""
    metrics: dict[str, Metric] = {}
    for build in builds:
        for plugin in build["plugins"]:
            if plugin["kind"] == "metric":
                _refuse_reserved(plugin)
                _refuse_twin(metrics.get(plugin["name"]), plugin)
                metrics[plugin["name"]] = _metric(plugin)
    return [metrics[name] for name in sorted(metrics)]


def _refuse_reserved(plugin: Mapping[str, Any]) -> None:
    if plugin["name"] in RESERVED:
        raise CollpressError(
            f"a metric cannot be called {plugin['name']}: a cube has something else of that name",
            where=str(plugin.get("source", plugin["path"])),
            fix="rename the file; its stem is the plugin's name",
        )


def _metric(plugin: Mapping[str, Any]) -> Metric:
    texts = {name: str(plugin[name]) for name in ("name", "summary", "path", "sha256")}
    return Metric(values=tuple(plugin["values"]), units=tuple(plugin["units"]), **texts)


def _refuse_twin(other: Algorithm | Codec | Metric | None, plugin: Mapping[str, Any]) -> None:
    if other is not None:
        raise CollpressError(
            f"two plugins are called {plugin['name']}",
            where=str(plugin.get("source", plugin["path"])),
            fix=f"rename it; the other is {other.path}",
        )
