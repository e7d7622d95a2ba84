"""From experiments to points."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collpress.errors import CollpressError
from collpress.plan.expansion import Expansion, expand
from collpress.plan.offer import Offer
from collpress.spec import Campaign, Platform

Write = Callable[..., Campaign]
CODECS = "codec: [none, bf16, zfp], error_bound: [rel 1e-2, rel 1e-3]"


@pytest.fixture
def expanded(write: Write, platform: Platform, datasets: Any, offer: Offer) -> Callable[..., Expansion]:
    def run(block: str = "", *, built: bool = True, **more: str) -> Expansion:
        return expand(write(block, **more), platform, datasets, offer if built else None)

    return run


def _values(expansion: Expansion, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(p.factors[n] for n in names) for p in expansion.points]


def test_matrix_crosses_and_zip_pairs(expanded: Any) -> None:
    found = expanded("matrix: {op: [sum, max]}, zip: {ranks: [2, 4], message_bytes: [8, 16]}")
    assert _values(found, "op", "ranks", "message_bytes") == [
        ("sum", 2, 8),
        ("sum", 4, 16),
        ("max", 2, 8),
        ("max", 4, 16),
    ]


def test_every_point_holds_every_factor(expanded: Any) -> None:
    [point] = expanded("matrix: {ranks: 4}").points
    assert dict(point.factors) == {
        "collective": "allreduce",
        "algorithm": "library:default",
        "codec": "none",
        "error_bound": "none",
        "dataset": "pattern",
        "wrap": "none",
        "dtype": "float32",
        "op": "sum",
        "message_bytes": 64,
        "ranks": 4,
        "nodes": 1,
        "root": 0,
        "buffers": "separate",
        "call": "blocking",
        "imbalance": "none",
        "segment_bytes": "default",
        "fanout": "default",
        "sync": "dissemination",
        "cache": "warm",
        "alignment": 65536,
        "backend": "mpi",
        "knobs": "none",
        "feedback": 0,
        "target": "message",
    }


def test_what_an_experiment_sets_goes_before_the_defaults(expanded: Any) -> None:
    assert _values(expanded("zip: {ranks: [3], message_bytes: [8]}"), "ranks", "message_bytes") == [(3, 8)]


def test_patterns_become_what_the_installation_offers(expanded: Any) -> None:
    found = expanded("matrix: {algorithm: ['library:*', 'reference:r*', library:ring]}")
    assert _values(found, "algorithm") == [("library:default",), ("library:ring",), ("reference:ring",)]
    found = expanded("matrix: {algorithm: 'compressed:*', codec: '*', error_bound: rel 1e-3, dataset: synthetic/*}")
    assert {(c, d) for c, d in _values(found, "codec", "dataset")} == {
        (c, d) for c in ("none", "zfp", "bf16") for d in ("synthetic/normal", "synthetic/laplace")
    }
    assert not found.unknown


def test_a_pattern_that_matches_nothing_is_a_warning(expanded: Any) -> None:
    found = expanded("matrix: {algorithm: ['reference:x*', library:ring]}")
    assert _values(found, "algorithm") == [("library:ring",)]
    assert 'nothing matches "reference:x*"' in found.warnings[0]


def test_idle_factors_are_dropped_without_duplicates(expanded: Any) -> None:
    block = f"matrix: {{algorithm: [compressed:ring, library:default], {CODECS}}}"
    assert sorted(_values(expanded(block), "algorithm", "codec", "error_bound")) == [
        ("compressed:ring", "bf16", "none"),
        ("compressed:ring", "none", "none"),
        ("compressed:ring", "zfp", "rel 1e-2"),
        ("compressed:ring", "zfp", "rel 1e-3"),
        ("library:default", "none", "none"),
    ]


def test_before_the_build_the_plan_says_what_it_does_not_know(expanded: Any) -> None:
    block = f"matrix: {{algorithm: [compressed:ring, 'library:*'], {CODECS}}}"
    found = expanded(block, built=False)
    assert (len(found.points), found.at_least) == (6, 4)
    assert "library:*" in found.unknown[0]
    assert "bf16, zfp" in found.unknown[1]
    assert len(expanded(block).points) >= found.at_least


def test_an_exclusion_keeps_its_reason(expanded: Any) -> None:
    found = expanded(
        "matrix: {ranks: [2, 4], message_bytes: [8, 16]}, when: ranks == 2 or message_bytes == 16,"
        " exclude: [{when: ranks == 4, because: too many}, {when: message_bytes == 8}]"
    )
    assert _values(found, "ranks", "message_bytes") == [(2, 16)]
    assert [(e.factors["ranks"], e.factors["message_bytes"], e.why) for e in found.excluded] == [
        (2, 8, "exclude: message_bytes == 8"),
        (4, 8, "when: ranks == 2 or message_bytes == 16"),
        (4, 16, "too many"),
    ]
    assert not found.warnings


def test_an_exclusion_sees_dropped_factors_and_canonical_bounds(expanded: Any) -> None:
    block = f"matrix: {{algorithm: compressed:ring, {CODECS}}}, exclude: [{{when: error_bound == 'rel 0.001'}}]"
    assert _values(expanded(block), "codec", "error_bound") == [("none", "none"), ("bf16", "none"), ("zfp", "rel 1e-2")]


def test_an_exclusion_that_matches_nothing_is_a_warning_with_its_line(expanded: Any) -> None:
    found = expanded("matrix: {ranks: [2, 4]}, exclude: [{when: ranks == 3}]")
    assert found.warnings == ["test.yaml:4: experiments.e.exclude[0]: excludes nothing: ranks == 3"]


def test_an_unresolved_pattern_may_still_be_excluded(expanded: Any) -> None:
    block = "matrix: {algorithm: 'library:*'}, exclude: [{when: algorithm == 'library:ring'}]"
    assert expanded(block, built=False).warnings == []
    assert _values(expanded(block), "algorithm") == [("library:default",)]


def test_an_experiment_without_points_is_a_warning(expanded: Any) -> None:
    found = expanded(one="when: ranks == 3", two="matrix: {ranks: 4}")
    assert len(found.points) == 1
    assert "test.yaml:4: experiments.one: has no points" in found.warnings[0]


def test_a_point_in_two_experiments_is_an_error_that_names_both(expanded: Any) -> None:
    with pytest.raises(CollpressError, match="experiments one and two both hold the point") as error:
        expanded(one="matrix: {message_bytes: [8, 16]}", two="matrix: {message_bytes: [4, 8]}")
    assert "message_bytes 8" in str(error.value)
    assert error.value.where == "test.yaml:5: experiments.two"


def test_a_message_holds_whole_elements(expanded: Any) -> None:
    with pytest.raises(CollpressError, match="a message of 12 bytes holds no whole number of float64 elements"):
        expanded("matrix: {dtype: [float32, float64], message_bytes: [8, 12]}")
    assert (
        len(
            expanded(
                "matrix: {dtype: [float32, float64], message_bytes: [8, 12]}, exclude: [{when: message_bytes % 8 > 0}]"
            ).points
        )
        == 2
    )


def test_absurd_sweeps_are_refused_before_they_are_made(expanded: Any) -> None:
    tracemalloc.start()
    with pytest.raises(CollpressError, match="the experiment e has 25,000,000 combinations") as error:
        expanded("matrix: {message_bytes: 4 .. 20000 +4, ranks: 1 .. 5000 +1, op: sum}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 << 20
    assert error.value.fix.endswith("message_bytes (5,000), ranks (5,000)")


def test_paired_axes_whose_cube_would_be_absurd_are_refused(expanded: Any) -> None:
    with pytest.raises(CollpressError, match="a cube of 64,000,000 cells"):
        expanded("zip: {message_bytes: 4 .. 32000 +4, ranks: 1 .. 8000 +1}")


def test_experiments_that_are_absurd_together_are_refused(expanded: Any) -> None:
    block = "matrix: {{op: {}, message_bytes: 4 .. 4000 +4, ranks: 1 .. 150 +1}}"
    with pytest.raises(CollpressError, match="the campaign has 300,000 combinations"):
        expanded(one=block.format("sum"), two=block.format("max"))


_axes = st.fixed_dictionaries(
    {
        "ranks": st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True),
        "message_bytes": st.lists(st.sampled_from([8, 16, 64, 4096]), min_size=1, max_size=3, unique=True),
        "algorithm": st.lists(
            st.sampled_from(["library:*", "reference:ring", "compressed:ring"]), min_size=1, max_size=3, unique=True
        ),
        "codec": st.lists(st.sampled_from(["none", "zfp", "bf16"]), min_size=1, max_size=3, unique=True),
        "error_bound": st.lists(st.sampled_from(["rel 1e-2", "abs 0.5"]), min_size=1, max_size=2, unique=True),
    }
)
_fixtures_do_not_change = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def _block(axes: dict[str, list[Any]]) -> str:
    return f"matrix: {{{', '.join(f'{k}: {list(map(str, v))}' for k, v in axes.items())}}}"


@given(axes=_axes, data=st.data())
@_fixtures_do_not_change
def test_the_order_of_factors_and_values_does_not_matter(
    expanded: Any, axes: dict[str, list[Any]], data: st.DataObject
) -> None:
    shuffled = {k: data.draw(st.permutations(axes[k])) for k in data.draw(st.permutations(sorted(axes)))}
    one, two = expanded(_block(axes)), expanded(_block(shuffled), title="Another")
    assert {(p.id, p.unsupported) for p in one.points} == {(p.id, p.unsupported) for p in two.points}


@given(axes=_axes, size=st.integers(100, 200))
@_fixtures_do_not_change
def test_adding_a_value_leaves_the_other_points_alone(expanded: Any, axes: dict[str, list[Any]], size: int) -> None:
    before = {p.id for p in expanded(_block(axes)).points}
    after = {p.id: p for p in expanded(_block(axes | {"message_bytes": [*axes["message_bytes"], size * 4]})).points}
    assert before < set(after)
    assert all(after[i].factors["message_bytes"] == size * 4 for i in set(after) - before)


@given(axes=_axes)
@_fixtures_do_not_change
def test_every_combination_is_one_point_and_none_is_lost(expanded: Any, axes: dict[str, list[Any]]) -> None:
    found = expanded(_block(axes))
    library = 2 if "library:*" in axes["algorithm"] else 0
    codecs = sum(len(axes["error_bound"]) if c == "zfp" else 1 for c in axes["codec"])
    algorithms = library + ("reference:ring" in axes["algorithm"]) + codecs * ("compressed:ring" in axes["algorithm"])
    assert (
        len(found.points)
        == algorithms * len(axes["ranks"]) * len(axes["message_bytes"])
        == len({p.id for p in found.points})
    )
