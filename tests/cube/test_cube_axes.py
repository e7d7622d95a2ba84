"""Axes: order of labels, refusal of cubes that explode, no two points in one cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.cube.axes import FACTORS, axes_of
from collpress.errors import CollpressError

DEFAULTS: dict[str, Any] = {
    "collective": "allreduce",
    "algorithm": "library:default",
    "codec": "none",
    "error_bound": "none",
    "dataset": "pattern",
    "dtype": "float32",
    "op": "sum",
    "message_bytes": 8,
    "ranks": 2,
    "nodes": 1,
    "wrap": "none",
}


def points(**factors: list[Any]) -> list[dict[str, Any]]:
    """Points that differ in one factor at a time: a cross without its inside."""
    return [DEFAULTS | {name: value} for name, values in factors.items() for value in values]


def test_labels_stand_in_an_order_a_reader_expects() -> None:
    planned = points(
        algorithm=["reference:ring", "compressed:ring", "library:ring", "library:basic"],
        error_bound=["rel 1e-4", "rel 1e-2", "abs 0.5"],
        codec=["zfp", "bf16"],
        message_bytes=[1024, 64],
    )
    axes = axes_of("e", [*planned, DEFAULTS])
    assert axes.labels["algorithm"] == [
        "library:default",
        "library:basic",
        "library:ring",
        "reference:ring",
        "compressed:ring",
    ]
    assert axes.labels["error_bound"] == ["none", "abs 0.5", "rel 1e-2", "rel 1e-4"]
    assert axes.labels["codec"] == ["none", "bf16", "zfp"]
    assert axes.labels["message_bytes"] == [8, 64, 1024]
    assert axes.dims == FACTORS


@given(st.sets(st.tuples(st.sampled_from([8, 64, 512]), st.integers(1, 4)), min_size=1))
def test_each_point_has_its_own_cell_and_the_cell_has_its_labels(chosen: set[tuple[int, int]]) -> None:
    planned = [DEFAULTS | {"message_bytes": size, "ranks": ranks} for size, ranks in chosen]
    axes = axes_of("e", planned)
    assert len(set(axes.cell.tolist())) == len(planned)
    for point, cell in zip(planned, axes.cell, strict=True):
        index = np.unravel_index(int(cell), axes.shape)
        assert {name: labels[i] for (name, labels), i in zip(axes.labels.items(), index, strict=True)} == point


def test_a_cube_that_explodes_is_refused_with_the_axes_to_split() -> None:
    planned = points(message_bytes=list(range(400)), ranks=list(range(300)), dataset=[f"d{i}" for i in range(500)])
    unique = list({tuple(p.items()): p for p in planned}.values())
    with pytest.raises(CollpressError) as caught:
        axes_of("huge", unique, launches=5)
    message = str(caught.value)
    assert "experiment huge" in message
    assert "split the experiment by dataset or message_bytes or ranks" in message


def test_a_large_and_nearly_empty_cube_is_refused_too() -> None:
    planned = points(message_bytes=list(range(1, 2000)), ranks=list(range(3, 2000)))
    unique = list({tuple(p.items()): p for p in planned}.values())
    with pytest.raises(CollpressError, match="filled"):
        axes_of("sparse", unique)


def test_a_small_cube_may_be_as_empty_as_it_likes() -> None:
    planned = points(message_bytes=list(range(1, 300)), ranks=list(range(3, 300)))
    assert axes_of("sparse", list({tuple(p.items()): p for p in planned}.values())).cells < 1e6


def test_two_points_with_equal_factors_are_refused_by_name() -> None:
    with pytest.raises(CollpressError, match="message_bytes=8"):
        axes_of("twice", [DEFAULTS, DEFAULTS])


def test_a_bound_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(CollpressError, match="no error bound"):
        axes_of("e", [DEFAULTS | {"error_bound": "rel lots"}, DEFAULTS])
