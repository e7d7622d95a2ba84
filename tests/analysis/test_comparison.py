"""Two cubes side by side: which points match, what is claimed of them, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from collpress.analysis import comparison
from collpress.analysis.comparison import Comparison
from collpress.analysis.measured import measured
from collpress.analysis.ratios import ratio_of_medians

CODES = {"ok": 0, "unsupported": 1, "crashed": 4, "not_planned": 10}
NAN = float("nan")
Cells = Mapping[tuple[str, int], Sequence[float] | str]


def group(cells: Cells, launches: int = 5) -> xr.Dataset:
    """MADE UP: an experiment over algorithm and message_bytes; a cell has its launches' medians, or a status."""
    algorithms, sizes = sorted({a for a, _ in cells}), sorted({s for _, s in cells})
    shape = len(algorithms), len(sizes)
    status = np.full(shape, CODES["not_planned"], dtype=np.int8)
    values = np.full((*shape, launches), NAN)
    reason = np.zeros(shape, dtype=np.int32)
    for (algorithm, size), content in cells.items():
        place = algorithms.index(algorithm), sizes.index(size)
        status[place] = CODES[content] if isinstance(content, str) else CODES["ok"]
        reason[place] = isinstance(content, str)
        if not isinstance(content, str):
            values[place][: len(content)] = content
    dims = ["algorithm", "message_bytes"]
    flags = {"flag_values": np.array(list(CODES.values()), dtype=np.int8), "flag_meanings": " ".join(CODES)}
    return xr.Dataset(
        {
            "status": (dims, status, flags),
            "reason": (dims, reason),
            "reason_text": (["reason_index"], np.array(["", "why"])),
            "latency_launch_median": ([*dims, "launch"], values),
            "latency_launch_p99": ([*dims, "launch"], values * 2),
        },
        coords={"algorithm": algorithms, "message_bytes": np.array(sizes, dtype=np.int64)},
    )


def cube(**experiments: Cells) -> xr.DataTree:
    return xr.DataTree.from_dict({f"/{name}": group(cells) for name, cells in experiments.items()})


def compare(a: xr.DataTree, b: xr.DataTree, metric: str = "latency_median") -> Comparison:
    return comparison.compare(measured(a), measured(b), metric)


SLOW, FAST = [2.0, 2.1, 2.2, 2.05, 2.15], [1.0, 1.1, 1.2, 1.05, 1.15]


def test_the_verdict_is_on_b_and_the_ratio_is_b_over_a() -> None:
    a = cube(e={("x", 8): SLOW, ("y", 8): FAST, ("z", 8): SLOW})
    b = cube(e={("x", 8): FAST, ("y", 8): SLOW, ("z", 8): SLOW})
    pairs = {str(pair.factors["algorithm"]): pair for pair in compare(a, b).pairs}
    assert {name: pair.verdict for name, pair in pairs.items()} == {
        "x": "faster",
        "y": "slower",
        "z": "no difference shown",
    }
    assert pairs["x"].ratio == ratio_of_medians(FAST, SLOW)
    assert pairs["x"].ratio.value == pytest.approx(1.1 / 2.1)
    assert (pairs["x"].a.median, pairs["x"].b.median) == (2.1, 1.1)


def test_too_few_launches_claim_nothing() -> None:
    few = compare(cube(e={("x", 8): [2.0, 2.1]}), cube(e={("x", 8): [1.0, 1.1]}))
    one = compare(cube(e={("x", 8): [2.0]}), cube(e={("x", 8): [1.0]}))
    assert [c.pairs[0].verdict for c in (few, one)] == ["not comparable", "not comparable"]
    assert few.expected_by_chance() == 0
    assert few.counts()["not comparable"] == 1


def test_points_that_only_one_has_or_that_are_not_ok_are_listed_with_both_statuses() -> None:
    a = cube(e={("x", 8): FAST, ("y", 8): "crashed", ("x", 64): FAST}, only_here={("x", 8): FAST})
    b = cube(e={("x", 8): "unsupported", ("y", 8): FAST, ("w", 8): FAST})
    compared = compare(a, b)
    assert compared.pairs == []
    odd = {
        (o.experiment, o.factors["algorithm"], o.factors["message_bytes"]): (o.a.status, o.b.status)
        for o in compared.odd
    }
    assert odd == {
        ("e", "x", 8): ("ok", "unsupported"),
        ("e", "x", 64): ("ok", "not_planned"),
        ("e", "y", 8): ("crashed", "ok"),
        ("e", "w", 8): ("not_planned", "ok"),
        ("only_here", "x", 8): ("ok", "not_planned"),
    }
    assert next(o.b.reason for o in compared.odd if o.b.status == "unsupported") == "why"
    counts = compared.counts()
    assert (counts["only_a"], counts["only_b"], counts["not_ok"], counts["compared"]) == (2, 1, 2, 0)


def test_the_ok_launches_of_a_point_that_is_not_ok_are_not_compared() -> None:
    broken = cube(e={("x", 8): FAST})
    broken["e"]["status"][0, 0] = CODES["crashed"]
    (odd,) = compare(broken, cube(e={("x", 8): FAST})).odd
    assert (odd.a.status, odd.a.launches, odd.b.median) == ("crashed", (), 1.1)


def test_two_libraries_are_matched_by_the_names_of_their_algorithms() -> None:
    a = cube(e={("library:default", 8): FAST, ("library:ring", 8): FAST, ("reference:ring", 8): FAST})
    b = cube(e={("library:default", 8): FAST, ("library:tree", 8): FAST, ("reference:ring", 8): FAST})
    compared = compare(a, b)
    assert compared.algorithms == (["library:ring"], ["library:default"], ["library:tree"])
    assert {str(pair.factors["algorithm"]) for pair in compared.pairs} == {"library:default", "reference:ring"}


def test_another_metric_takes_its_own_launches_and_an_unknown_one_is_refused() -> None:
    a, b = cube(e={("x", 8): SLOW}), cube(e={("x", 8): FAST})
    assert compare(a, b, "latency_p99").pairs[0].a.median == pytest.approx(4.2)
    with pytest.raises(KeyError):
        compare(a, b, "beauty")


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["x", "y", "library:z"]), st.sampled_from([8, 64])),
        st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=5) | st.sampled_from(["crashed", "unsupported"]),
        min_size=1,
    ),
    st.dictionaries(
        st.tuples(st.sampled_from(["x", "y", "library:w"]), st.sampled_from([8, 64])),
        st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=5) | st.sampled_from(["crashed", "unsupported"]),
        min_size=1,
    ),
)
def test_every_point_of_either_cube_is_told_exactly_once_and_swapping_mirrors_it(left: Any, right: Any) -> None:
    forth, back = compare(cube(e=left), cube(e=right)), compare(cube(e=right), cube(e=left))
    told = [(p.factors["algorithm"], p.factors["message_bytes"]) for p in [*forth.pairs, *forth.odd]]
    assert sorted(told) == sorted(left.keys() | right.keys())
    counts, mirrored = forth.counts(), back.counts()
    assert counts["compared"] + counts["only_a"] + counts["only_b"] + counts["not_ok"] == len(told)
    assert sum(counts[v] for v in ("faster", "slower", "no difference shown", "not comparable")) == counts["compared"]
    assert (counts["only_a"], counts["not_ok"]) == (mirrored["only_b"], mirrored["not_ok"])
    assert (counts["faster"], counts["slower"]) == (mirrored["slower"], mirrored["faster"])


def test_a_cube_compared_with_itself_shows_nothing() -> None:
    same = cube(e={("x", 8): SLOW, ("y", 8): FAST, ("z", 8): "crashed"})
    counts = compare(same, same).counts()
    assert (counts["compared"], counts["no difference shown"], counts["not_ok"]) == (2, 2, 1)
