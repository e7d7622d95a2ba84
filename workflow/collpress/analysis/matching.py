"""Which point of one campaign is which of another: by what was asked for, then by as much as both can tell.

The ways are tried one after the other, the surest first; a way pairs only two points that are each the only one of its
side with what the way looks at, so that nothing is paired by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from collpress.analysis.measured import Entry

Key = Callable[[Entry], Hashable]


@dataclass(frozen=True)
class Match:
    """A point of A and the same of B, one of them None where the other is alone.

    differs : in what the two are told apart and were paired all the same; empty for one and the same question.
    rivals : of a point that is alone, how many of the other side agree with it in all that both tell.
    """

    a: Entry | None
    b: Entry | None
    differs: str = ""
    rivals: int = 0

    @property
    def entry(self) -> Entry:
        """The point of A, or that of B where A has none."""
        found = self.a or self.b
        assert found is not None
        return found


def matches(a: Sequence[Entry], b: Sequence[Entry]) -> list[Match]:
    """Every point of either side exactly once: the experiments of A first, then those that only B has."""
    shared = _shared(a, b)
    ways: list[Key] = [
        lambda entry: (entry.experiment, entry.id) if entry.id else None,
        lambda entry: (entry.experiment, *sorted(entry.factors.items())),
        lambda entry: entry.id,
        lambda entry: (entry.experiment, *_only(entry, shared)),
        lambda entry: _only(entry, shared),
    ]
    partner, taken = dict[int, Entry](), set[int]()
    for way in ways:
        ours, theirs = _by(a, way), _by(b, way)
        for key in ours.keys() & theirs.keys():
            one, other = ours[key][0], theirs[key][0]
            alone = len(ours[key]) == len(theirs[key]) == 1
            if alone and id(one) not in partner and id(other) not in taken:
                partner[id(one)] = other
                taken.add(id(other))
    left = [entry for entry in a if id(entry) not in partner]
    right = [entry for entry in b if id(entry) not in taken]
    mine, yours = _by(left, ways[-1]), _by(right, ways[-1])
    found = [
        Match(entry, twin, _difference(entry, twin))
        if (twin := partner.get(id(entry))) is not None
        else Match(entry, None, rivals=len(yours.get(_only(entry, shared), [])))
        for entry in a
    ]
    found += [Match(None, entry, rivals=len(mine.get(_only(entry, shared), []))) for entry in right]
    order = list(dict.fromkeys(entry.experiment for entry in (*a, *b)))
    return sorted(found, key=lambda match: order.index(match.entry.experiment))


def _shared(a: Iterable[Entry], b: Iterable[Entry]) -> list[str]:
    """The factors that both sides know, sorted."""
    names = ({name for entry in side for name in entry.factors} for side in (a, b))
    return sorted(set.intersection(*names))


def _only(entry: Entry, names: Sequence[str]) -> tuple[Hashable, ...]:
    return tuple((name, entry.factors.get(name)) for name in names)


def _by(entries: Iterable[Entry], way: Key) -> dict[Hashable, list[Entry]]:
    """The entries by a key; those that have none are left out."""
    found: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        if (key := way(entry)) is not None:
            found.setdefault(key, []).append(entry)
    return found


def _difference(a: Entry, b: Entry) -> str:
    said = [f"experiment {a.experiment} in A, {b.experiment} in B"] if a.experiment != b.experiment else []
    for side, own, other in (("A", a, b), ("B", b, a)):
        alone = [f"{name} {value}" for name, value in own.factors.items() if name not in other.factors]
        said += [f"only {side} tells {', '.join(alone)}"] if alone else []
    return "; ".join(said)
