"""Which point of one campaign is which of another: by what was asked for, then by as much as both can tell.

The ways are tried one after the other, the surest first; a way pairs only points that are alone on their side, so that
nothing is paired by chance.
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
    rivals : of a point that is alone, how many of the other side it could have been: none, or too many.
    """

    a: Entry | None
    b: Entry | None
    differs: str = ""
    rivals: int = 0


def matches(a: Sequence[Entry], b: Sequence[Entry]) -> list[Match]:
    """Every point of either side exactly once: the experiments of A first, then those that only B has."""
    shared = _shared(a, b)
    ways: list[Key] = [
        lambda entry: entry.id and (entry.experiment, entry.id),
        lambda entry: (entry.experiment, *sorted(entry.factors.items())),
        lambda entry: entry.id,
        lambda entry: (entry.experiment, *_only(entry, shared)),
        lambda entry: _only(entry, shared),
    ]
    left, right, partner = list(a), list(b), dict[int, Entry]()
    for way in ways:
        ours, theirs = _by(left, way), _by(right, way)
        for key in ours.keys() & theirs.keys():
            if len(ours[key]) == len(theirs[key]) == 1:
                partner[id(ours[key][0])] = theirs[key][0]
        taken = {id(entry) for entry in partner.values()}
        left = [entry for entry in left if id(entry) not in partner]
        right = [entry for entry in right if id(entry) not in taken]
    mine, yours = _by(left, ways[-1]), _by(right, ways[-1])
    found = [
        Match(entry, other, _difference(entry, other))
        if (other := partner.get(id(entry)))
        else Match(entry, None, rivals=len(yours.get(_only(entry, shared), [])))
        for entry in a
    ]
    found += [Match(None, entry, rivals=len(mine.get(_only(entry, shared), []))) for entry in right]
    order = list(dict.fromkeys(entry.experiment for entry in (*a, *b)))
    return sorted(found, key=lambda match: order.index(match.a.experiment if match.a else _known(match.b).experiment))


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
        if (key := way(entry)) is not None and key != "":
            found.setdefault(key, []).append(entry)
    return found


def _difference(a: Entry, b: Entry) -> str:
    said = [f"experiment {a.experiment} in A, {b.experiment} in B"] if a.experiment != b.experiment else []
    for side, own, other in (("A", a, b), ("B", b, a)):
        alone = [f"{name} {value}" for name, value in own.factors.items() if name not in other.factors]
        said += [f"only {side} tells {', '.join(alone)}"] if alone else []
    return "; ".join(said)


def _known(entry: Entry | None) -> Entry:
    assert entry is not None
    return entry
