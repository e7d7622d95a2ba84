"""How a point reads in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.findings.words import place
from collpress.usual import USUAL

POINT = {"collective": "bcast", "algorithm": "library:chain", "codec": "none", "error_bound": "none", "op": "sum"}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "bcast, 4 KiB, 2 ranks"),
        (dict(USUAL), "bcast, 4 KiB, 2 ranks"),
        (
            {"root": 1, "buffers": "in-place", "call": "nonblocking"},
            "bcast, 4 KiB, 2 ranks, root 1, in-place, nonblocking",
        ),
        ({"segment_bytes": "1024", "fanout": "4"}, "bcast, 4 KiB, 2 ranks, segments of 1024 bytes, fan-out 4"),
        (
            {"sync": "none", "cache": "cold", "alignment": 64},
            "bcast, 4 KiB, 2 ranks, start: none, cold cache, aligned to 64 bytes",
        ),
        ({"collective": "barrier", "message_bytes": 0}, "barrier, 2 ranks"),
    ],
)
def test_only_what_is_not_usual_is_worth_a_word(more: dict[str, Any], told: str) -> None:
    assert place(POINT | {"message_bytes": 4096, "ranks": 2} | more) == told
