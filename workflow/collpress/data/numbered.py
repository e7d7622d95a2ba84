"""Files of ranks: which rank each is, by the number in its name."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from collpress.errors import CollpressError

RANK = "{rank}"


def matching(pattern: str) -> list[Path]:
    """The files that a pattern with `{rank}` stands for, by rank; `*` and `?` may stand elsewhere in it.

    Errors: no `{rank}`, or several; fewer than two files; two files of one rank; a rank without a file.
    """
    if pattern.count(RANK) != 1:
        raise CollpressError(f'"{pattern}" has not one {RANK}', allowed=f"for example dumps/grad-rank{RANK}.bin")
    before, after = pattern.split(RANK)
    number = re.compile(f"{_expression(before)}([0-9]+){_expression(after)}")
    ranks = [
        (int(found.group(1)), Path(name))
        for name in glob.glob(f"{before}*{after}")  # noqa: PTH207  (the pattern may be absolute)
        if (found := number.fullmatch(name)) and Path(name).is_file()
    ]
    if not ranks:
        raise CollpressError("no file matches", where=pattern, allowed=f"{RANK} stands for a whole number")
    if len(ranks) == 1:
        raise CollpressError(f"one file matches, {ranks[0][1]}", where=pattern, fix="name it without a pattern")
    return _in_order(ranks, pattern)


def by_name(paths: Sequence[Path]) -> list[Path]:
    """Files in the order of the last number in their names, which must be the ranks.

    Errors: a name without a number; two files of one rank; a rank without a file.
    """
    ranks = []
    for path in paths:
        numbers = re.findall("[0-9]+", path.stem)
        if not numbers:
            raise CollpressError("the name has no number that could be a rank", where=str(path), fix="rename it")
        ranks.append((int(numbers[-1]), path))
    return _in_order(ranks, ", ".join(map(str, paths[:2])) + ", ...")


def _in_order(ranks: list[tuple[int, Path]], where: str) -> list[Path]:
    ranks.sort()
    for (rank, path), (other, twin) in pairwise(ranks):
        if rank == other:
            raise CollpressError(f"rank {rank} has two files, {path} and {twin}", where=where, fix="keep one of them")
    first, last = ranks[0][0], ranks[-1][0]
    absent = sorted(set(range(first, last + 1)) - {rank for rank, _ in ranks})
    if absent:
        told = ", ".join(map(str, absent[:8])) + (", ..." if len(absent) > 8 else "")
        raise CollpressError(f"of the ranks {first} to {last} these have no file: {told}", where=where)
    return [path for _, path in ranks]


def _expression(text: str) -> str:
    """A glob's `*` and `?` as a regular expression, all else literally."""
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)) for letter in text)
