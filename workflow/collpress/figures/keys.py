"""Words in narrow places: names whole where they fit, else a letter with a key; entries of a legend side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice

from collpress.figures import style
from collpress.figures.blocks import wrapped

_SLACK = 0.95


@dataclass(frozen=True)
class Names:
    """How each name is written: in `lines` lines at most; `letters` holds the letter of each where they do not fit."""

    written: Mapping[str, Sequence[str]]
    letters: Mapping[str, str]

    @property
    def lines(self) -> int:
        return max((len(lines) for lines in self.written.values()), default=0)

    def text(self, name: str) -> Sequence[str]:
        return self.written[name]

    def key(self, room: float, size: float) -> list[str]:
        """`A ring (ref.)   B …` in lines no longer than `room` inches at `size` points; none without letters."""
        return flowed([f"{letter} {name}" for name, letter in self.letters.items()], room, size)


def flowed(entries: Iterable[str], room: float, size: float) -> list[str]:
    """Entries side by side in lines no longer than `room` inches at `size` points, less what hinting may add; an entry
    that is longer goes on in the next line.
    """
    lines: list[str] = []
    for entry in entries:
        if lines and style.length_of(f"{lines[-1]}   {entry}", size) <= _SLACK * room:
            lines[-1] += f"   {entry}"
        else:
            lines += wrapped(entry, size, room)
    return lines


def least_room(names: Sequence[str], size: float) -> float:
    """Inches in which each of `names` fits in two lines at most."""
    return max(style.length_of(line, size) for name in names for line in _broken(name, 0.0, size))


def names_for(names: Sequence[str], room: float, size: float) -> Names:
    """Two lines at most for each of `names` within `room` inches at `size` points; letters for all where one does not
    fit.
    """
    written = {name: _broken(name, room, size) for name in names}
    if all(max(style.length_of(line, size) for line in lines) <= room for lines in written.values()):
        return Names(written, {})
    letters = dict(zip(names, islice(_letters(), len(names)), strict=True))
    return Names({name: [letter] for name, letter in letters.items()}, letters)


def _broken(name: str, room: float, size: float) -> list[str]:
    """One line if it fits, else the two that are shortest."""
    words = name.split(" ")
    if style.length_of(name, size) <= room or len(words) == 1:
        return [name]
    pairs = [[" ".join(words[:i]), " ".join(words[i:])] for i in range(1, len(words))]
    return min(pairs, key=lambda pair: max(style.length_of(line, size) for line in pair))


def _letters() -> Iterator[str]:
    """A, B, …, Z, A1, B1, …"""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for turn in count():
        yield from (f"{letter}{turn or ''}" for letter in alphabet)
