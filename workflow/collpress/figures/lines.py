"""Which lines a plot over message size has, and how each looks: never told by colour alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collpress.analysis.points import DEFAULT
from collpress.analysis.table import Row
from collpress.figures import labels, style
from collpress.usual import USUAL

_IN_LINE = ("algorithm", "codec", "error_bound", "knobs")
Dashes = str | tuple[float, tuple[float, ...]]
_SOLID: Dashes = "-"
_KINDS: dict[str, Dashes] = {"library": _SOLID, "reference": (0, (4, 1.6)), "compressed": (0, (1, 1.2))}
_WITH_KNOBS: dict[str, Dashes] = {"library": (0, (6, 1.2, 1, 1.2)), "reference": (0, (4, 1.2, 1, 1.2, 1, 1.2))}
_BOUNDS: tuple[Dashes, ...] = (_SOLID, (0, (4, 1.6)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)), (0, (8, 1.6)))


@dataclass(frozen=True)
class Look:
    """How a line is drawn; `base` is the base case that others are compared with."""

    colour: str
    dashes: Dashes
    marker: str
    face: str
    base: bool


@dataclass(frozen=True, eq=False)
class Line:
    """Points of one algorithm, codec, bound and set of knobs by message size; `wins` is at how many sizes it is the
    fastest.
    """

    name: str
    look: Look
    points: Sequence[Row]
    wins: int

    @property
    def drawn(self) -> bool:
        return any(p["status"] == "ok" and (p["latency_median"] or 0) > 0 for p in self.points)


@dataclass(frozen=True)
class Facet:
    """Lines that are comparable: one experiment, and equal in every factor but the line's own and the message size."""

    experiment: str
    factors: Mapping[str, Any]
    lines: Sequence[Line]

    @property
    def title(self) -> str:
        return labels.factors(self.factors)

    @property
    def collective(self) -> str:
        return labels.collective(self.factors)

    @property
    def sizes(self) -> list[int]:
        return sorted({int(p["message_bytes"]) for line in self.lines for p in line.points})

    @property
    def has_rate(self) -> bool:
        """Whether any point has a bandwidth; those of one rank have none."""
        return any(p["busbw"] is not None for group in self.ok_by_size().values() for p in group)

    def ok_by_size(self) -> dict[int, list[Row]]:
        return _ok_by_size([p for line in self.lines for p in line.points])

    def missing(self) -> dict[int, Counter[str]]:
        """For each size with any: how many drawn lines have a planned point without a time there, by status."""
        out: dict[int, Counter[str]] = {}
        for line in (line for line in self.lines if line.drawn):
            for point in line.points:
                if point["status"] != "ok":
                    out.setdefault(int(point["message_bytes"]), Counter())[str(point["status"])] += 1
        return out


def facets(experiment: str, points: list[Row], factors: Sequence[str]) -> list[Facet]:
    """The facets of one experiment, in the order of the cube; `factors` names the factors among the rows' entries."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    names = [n for n in factors if n not in (*_IN_LINE, "target", "message_bytes")]
    for point in points:
        groups.setdefault(tuple(point[n] for n in names), []).append(point)
    return [_facet(experiment, dict(zip(names, key, strict=True)), group) for key, group in groups.items()]


def _facet(experiment: str, common: dict[str, Any], points: list[Row]) -> Facet:
    best = {id(min(group, key=lambda p: float(p["latency_median"]))) for group in _ok_by_size(points).values()}
    by_line: dict[tuple[str, ...], list[Row]] = {}
    for point in sorted(points, key=lambda p: int(p["message_bytes"])):
        by_line.setdefault(_key(point), []).append(point)
    keys = sorted(by_line, key=[_key(p) for p in points].index)
    looks = _looks(keys)
    called = names(keys)
    lines = [Line(called[k], looks[k], by_line[k], sum(id(p) in best for p in by_line[k])) for k in keys]
    return Facet(experiment, common, lines)


def _key(point: Row) -> tuple[str, ...]:
    """What makes a line; knobs are a factor only where any are set, and so is what a bound is of."""
    algorithm, codec, bound, knobs = (str(point.get(n, "none")) for n in _IN_LINE)
    target = point.get("target", USUAL["target"])
    return algorithm, codec, bound if target == USUAL["target"] else f"{bound} of the {target}", knobs


def _ok_by_size(points: Sequence[Row]) -> dict[int, list[Row]]:
    out: dict[int, list[Row]] = {}
    for point in points:
        if point["status"] == "ok" and (point["latency_median"] or 0) > 0:
            out.setdefault(int(point["message_bytes"]), []).append(point)
    return out


def names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The algorithm where nothing is compressed; else codec and bound, and the algorithm if there are several. Knobs
    follow, where a key has a fourth entry and it is set.
    """
    compressed = {key[0] for key in keys if key[0].startswith("compressed:")}
    return {key: ", ".join([_name(*key[:3], several=len(compressed) > 1), *_set(key)]) for key in keys}


def _name(algorithm: str, codec: str, bound: str, *, several: bool) -> str:
    kind, _, stem = algorithm.partition(":")
    if kind != "compressed":
        return labels.algorithm(algorithm)
    words = [labels.factor("codec", codec), labels.factor("error_bound", bound)]
    return " ".join([w for w in words if w] + ([f"({stem})"] if several else []))


def _set(key: tuple[str, ...]) -> list[str]:
    return [knobs for knobs in key[3:] if knobs != "none"]


def _looks(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Look]:
    """Equal stems share a colour (library and reference ring), equal codecs too, but never under different knobs; kind
    or bound choose the dash.
    """
    compressing = any(key[0].startswith("compressed:") for key in keys)
    subjects = list(dict.fromkeys(_subject(key) for key in keys if _subject(key) != DEFAULT))
    bounds = list(dict.fromkeys(key[2] for key in keys if key[2] != "none"))
    out = {}
    for key in keys:
        algorithm, _, bound, _ = key
        subject = _subject(key)
        if subject == DEFAULT:
            out[key] = Look(style.INK, _SOLID, "o", style.INK, True)
            continue
        colour, marker = style.nth(subjects.index(subject))
        kind = algorithm.partition(":")[0]
        if compressing and kind == "compressed":
            dashes = _BOUNDS[bounds.index(bound) % len(_BOUNDS)] if bound != "none" else _SOLID
            face = "white" if bound != "none" and bounds.index(bound) % 2 else colour
        else:
            dashes = (_WITH_KNOBS if _set(key) else _KINDS).get(kind, _SOLID)
            face = "white" if kind == "reference" else colour
        out[key] = Look(colour, dashes, marker, face, False)
    return out


def _subject(key: tuple[str, ...]) -> str:
    """What a colour stands for."""
    kind, _, stem = key[0].partition(":")
    subject = f"codec {key[1]}" if kind == "compressed" else key[0] if key[0] == DEFAULT else stem
    return ", ".join([subject, *_set(key)])
