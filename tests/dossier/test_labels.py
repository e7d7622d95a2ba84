"""How a point reads in a list."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.dossier.words import label
from collpress.usual import USUAL

POINT = {"collective": "bcast", "algorithm": "library:chain", "codec": "none", "error_bound": "none", "dtype": "int8"}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "bcast library:chain int8, 4 KiB, 2 ranks"),
        (dict(USUAL), "bcast library:chain int8, 4 KiB, 2 ranks"),
        ({"root": 1, "cache": "cold"}, "bcast library:chain int8, 4 KiB, 2 ranks, root 1, cold cache"),
        ({"collective": "reduce"}, "reduce library:chain int8 sum, 4 KiB, 2 ranks"),
        ({"collective": "barrier", "message_bytes": 0}, "barrier library:chain, 2 ranks"),
    ],
)
def test_what_means_nothing_or_is_usual_is_left_out(more: dict[str, Any], told: str) -> None:
    assert label(POINT | {"op": "sum", "message_bytes": 4096, "ranks": 2, "nodes": 1} | more) == told
