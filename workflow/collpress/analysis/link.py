"""The throttled link that a cube was measured over, and a rank's share of it."""

from __future__ import annotations

from dataclasses import dataclass

from collpress.analysis.circumstances import Described, provenance
from collpress.collectives import ROOTED

SHARED = "loopback"
"""The kind of link of which all ranks and both directions use one bucket."""


@dataclass(frozen=True)
class Link:
    """What the ranks of a cube's points talked over.

    medium : in words.
    rate : bit/s that were asked for; None: as fast as it goes.
    found : [smallest, largest] bit/s of the pingpongs before the batches, of one direction; None where none was made.
    """

    kind: str
    medium: str
    rate: int | None
    found: tuple[float, float] | None

    @property
    def shared(self) -> bool:
        return self.kind == SHARED

    @property
    def one_way(self) -> float | None:
        """Byte/s of one direction alone, the middle of what was found; None where that is not known."""
        return sum(self.found) / 2 / 8 if self.found else None

    @property
    def words(self) -> str:
        """`a link, its rate in each direction: 1 Gbit/s asked for, 0.992 to 1.01 found`."""
        asked = f"{self.rate / 1e9:.3g} Gbit/s asked for" if self.rate else "as fast as it goes"
        if self.found is None:
            return f"{self.medium}: {asked}"
        low, high = (f"{rate / 1e9:.3g}" for rate in self.found)
        return f"{self.medium}: {asked}, {low if low == high else f'{low} to {high}'} found"


def link(cube: Described) -> Link | None:
    """The one link that a cube tells of; None where it tells of none, or of several."""
    links = provenance(cube).get("links") or []
    if len(links) != 1:
        return None
    [only] = links
    found = (float(only["found"][0]), float(only["found"][1])) if only["found"] else None
    return Link(str(only["kind"]), str(only["medium"]), only["rate"], found)


def share(of: Link, collective: str, ranks: int) -> float | None:
    """Byte/s at which a rank sends while all send that the collective lets send at once.

    A link of two hosts is crossed by one message at a time in each direction, as consecutive ranks are on one host. On
    a shared loopback all ranks send at once, except where one rank has all the data: there the root is reckoned to send
    alone, which is too much for a tree's lower levels.

    >>> bus, wire = (Link(kind, "", 8, (8.0, 8.0)) for kind in ("loopback", "namespaces"))
    >>> share(bus, "allreduce", 4), share(bus, "bcast", 4), share(wire, "allreduce", 4)
    (0.25, 1.0, 1.0)
    """
    if of.one_way is None:
        return None
    return of.one_way / ranks if of.shared and collective not in ROOTED else of.one_way
