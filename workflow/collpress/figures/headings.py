"""What blocks beside each other have in common, for their heading, and what tells them apart, for their titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collpress.collectives import idle
from collpress.figures import labels

_FIRST = ("collective", "algorithm", "codec", "error_bound", "dataset", "wrap", "message_bytes", "ranks")


def parted(blocks: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The factors that are equal in all blocks as words, and for each block those that are not; the collective first.

    What means nothing for a collective is not said of it; one node is said only beside more.

    >>> parted([{"ranks": 2, "collective": "allreduce"}, {"ranks": 4, "collective": "allreduce"}])
    ('allreduce', ['2 ranks', '4 ranks'])
    """
    names = list(dict.fromkeys(name for block in blocks for name in block))
    order = [*(n for n in _FIRST if n in names), *(n for n in names if n not in _FIRST)]
    telling = {n for n in names if _tells(n, blocks)}
    common = [n for n in order if n not in telling and not (n == "nodes" and blocks[0][n] == 1)]
    return _words(blocks[0], common), [_words(block, [n for n in order if n in telling]) for block in blocks]


def _tells(name: str, blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a factor differs, or is one that means something for some collectives only."""
    means = {name not in idle(labels.collective(block)) for block in blocks}
    return len(means) > 1 or len({block.get(name) for block in blocks}) > 1


def _words(block: Mapping[str, Any], names: Sequence[str]) -> str:
    return labels.factors({n: block[n] for n in names if n in block}, labels.collective(block))
