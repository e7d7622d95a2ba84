"""Whether two cubes were measured alike: what their provenance says differs, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

CROWDED = "more wanted to run than there are CPUs"
_MACHINE = {
    "cpu_model": "processor",
    "allowed_cpus": "CPUs that may be used",
    "cpus": "CPUs",
    "cores": "cores",
    "memory_bytes": "bytes of memory",
    "kernel": "kernel",
    "governor": "frequency governor",
}


class Described(Protocol):
    """A cube, or what was kept of one: its root attributes say where it comes from."""

    @property
    def attrs(self) -> Mapping[Any, Any]: ...


@dataclass(frozen=True)
class Load:
    """Smallest and largest load average of the machine when launches began, and its CPUs where they are known."""

    low: float
    high: float
    cpus: int | None

    @property
    def crowded(self) -> bool:
        """Whether more wanted to run than there are CPUs: others than the ranks, as long as each has its own CPU."""
        return self.cpus is not None and self.high > self.cpus

    @property
    def words(self) -> str:
        """`load 4.3 to 6.3 on 2 CPUs when launches began`."""
        low, high = f"{self.low:.1f}", f"{self.high:.1f}"
        spread = low if low == high else f"{low} to {high}"
        cpus = f" on {self.cpus} CPU{'s' if self.cpus > 1 else ''}" if self.cpus is not None else ""
        return f"load {spread}{cpus} when launches began"


def load(cube: Described) -> Load | None:
    """The load that the launches of a cube saw; None where the cube does not tell."""
    seen = provenance(cube).get("load") or {}
    if not seen.get("load_average"):
        return None
    low, high = seen["load_average"]
    return Load(float(low), float(high), seen.get("cpus"))


def differences(a: Described, b: Described) -> list[str]:
    """Warnings, most serious first; empty where everything that could spoil a comparison is known and alike.

    The MPI library is not among them: that two of them are compared is no reason to warn.
    """
    return list(_differences(a, b))


def provenance(cube: Described) -> Mapping[str, Any]:
    """What the cube says of its origin; empty where it says nothing."""
    try:
        said = json.loads(str(cube.attrs.get("provenance", "{}")))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _differences(a: Described, b: Described) -> Iterator[str]:
    schemas = a.attrs.get("schema_version"), b.attrs.get("schema_version")
    if schemas[0] != schemas[1]:
        yield f"the cubes have different schemas: A has {schemas[0]}, B has {schemas[1]}; make the older one again"
    left, right = provenance(a), provenance(b)
    yield from _data(left.get("datasets"), right.get("datasets"))
    yield from _settings(left.get("measure"), right.get("measure"))
    launches = a.attrs.get("launches"), b.attrs.get("launches")
    if launches[0] != launches[1]:
        yield f"another number of launches: A has {launches[0]}, B has {launches[1]}"
    yield from _machines(left.get("hardware"), right.get("hardware"))
    yield from _loads(load(a), load(b))
    links = _links(left), _links(right)
    if links[0] != links[1]:
        yield f"measured over different links: A over {links[0]}, B over {links[1]}"
    hosts = [((side.get("world") or {}).get("hosts")) for side in (left, right)]
    if hosts[0] != hosts[1]:
        yield f"measured on different hosts: A on {_list(hosts[0])}, B on {_list(hosts[1])}"


def _links(side: Mapping[str, Any]) -> str:
    """What ranks talked over, in words; what pingpongs found of it is no reason to warn."""
    told = [(link["medium"], link["rate"]) for link in side.get("links") or []]
    return "; ".join(f"{medium}, {rate / 1e9:.3g} Gbit/s" if rate else medium for medium, rate in told) or "none made"


def _data(a: Mapping[str, str] | None, b: Mapping[str, str] | None) -> Iterator[str]:
    if a is None or b is None:
        yield from _unknown("the checksums of the datasets", a, b)
        return
    for name in sorted(a.keys() & b.keys()):
        if a[name] != b[name]:
            yield f"the dataset {name} is another one: sha256 {a[name][:12]}... in A, {b[name][:12]}... in B"


def _settings(a: Mapping[str, list[str]] | None, b: Mapping[str, list[str]] | None) -> Iterator[str]:
    if not a or not b:
        yield from _unknown("the measure settings", a or None, b or None)
        return
    for name in sorted(a.keys() | b.keys()):
        if a.get(name) != b.get(name):
            said = _rounded(a.get(name), b.get(name))
            yield f"measured with another {name}: A with {_list(said[0])}, B with {_list(said[1])}"


def _machines(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> Iterator[str]:
    if not a or not b:
        yield from _unknown("the machine (or it was several)", a or None, b or None)
        return
    for key, words in _MACHINE.items():
        if a.get(key) != b.get(key):
            yield f"another machine: {words}: A {a.get(key)}, B {b.get(key)}"


def _loads(a: Load | None, b: Load | None) -> Iterator[str]:
    if a is None or b is None:
        yield from _unknown("the load of the machine", a, b)
        return
    for name, side in (("A", a), ("B", b)):
        if side.crowded:
            yield f"{CROWDED} while {name} was measured: {side.words}"
    cpus = a.cpus or b.cpus
    if cpus is not None and max(abs(a.low - b.low), abs(a.high - b.high)) > cpus / 2:
        yield f"the machine was not equally busy: A {a.words}, B {b.words}"


def _unknown(what: str, a: object, b: object) -> Iterator[str]:
    which = "neither cube tells" if a is None and b is None else f"cube {'A' if a is None else 'B'} does not tell"
    yield f"{which} {what}: whether they are alike is not known"


def _rounded(*sides: list[str] | None) -> list[list[str] | None]:
    """Numbers with as few digits as tell the sides apart, at least four: 0.3333, not 0.33333333333333331."""
    for digits in range(4, 17):
        said = [None if side is None else [_number(value, digits) for value in side] for side in sides]
        if said[0] != said[1]:
            return said
    return list(sides)


def _number(value: str, digits: int) -> str:
    try:
        return f"{float(value):.{digits}g}" if "." in value else value
    except ValueError:
        return value


def _list(values: list[str] | None) -> str:
    return ", ".join(map(str, values)) if values else "nothing said"
