"""Ids and keys: what changes them and what does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.plan.identity import Build, batch_digest, launch_identity, point_id, point_key
from collpress.plan.launch import Launch
from collpress.plan.machine import Machine
from collpress.plan.offer import Dataset, Metric, Offer
from collpress.spec.campaign import Measure
from collpress.spec.factors import FACTORS

FACTOR_VALUES: dict[str, Any] = {
    "collective": "allreduce",
    "algorithm": "compressed:ring",
    "codec": "zfp",
    "error_bound": "rel 1e-3",
    "dataset": "weather/theta",
    "wrap": "none",
    "dtype": "float32",
    "op": "sum",
    "message_bytes": 64,
    "ranks": 2,
    "nodes": 1,
}
BUILD = Build("core", "g++ 12", "-O3", ("openmpi", "5.0", "lib"))
PSNR = Metric("psnr", ("psnr",), ("dB",), "a ratio", "plugins/psnr.so", "m1")
LAUNCH = Launch({"A": "1"}, "core", False)


def _key(
    offer: Offer,
    datasets: dict[str, Dataset],
    machine: Machine,
    *,
    build: Build = BUILD,
    launch: Launch = LAUNCH,
    launcher: str = "mpiexec",
    measure: Measure | None = None,
    metrics: tuple[Metric, ...] = (),
    **factors: Any,
) -> str:
    values = FACTOR_VALUES | factors
    shared = launch_identity(build, launcher, launch)
    return point_key(point_id(values), values, offer, datasets, shared, measure or Measure(), machine, metrics)


@given(st.permutations(list(FACTOR_VALUES.items())))
def test_an_id_does_not_depend_on_the_order_of_factors(items: list[tuple[str, Any]]) -> None:
    assert point_id(dict(items)) == point_id(FACTOR_VALUES)
    assert len(point_id(FACTOR_VALUES)) == 32


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "library:ring"},
        {"codec": "bf16"},
        {"error_bound": "rel 1e-4"},
        {"dataset": "pattern"},
        {"dtype": "float64"},
        {"op": "max"},
        {"message_bytes": 128},
        {"ranks": 4},
        {"nodes": 2},
    ],
)
def test_every_factor_is_part_of_the_id(change: dict[str, Any]) -> None:
    assert point_id(FACTOR_VALUES | change) != point_id(FACTOR_VALUES)


def test_a_factor_at_its_default_leaves_the_id_alone() -> None:
    without = {k: v for k, v in FACTOR_VALUES.items() if v != FACTORS[k].default}
    assert len(without) < len(FACTOR_VALUES)
    assert point_id(without) == point_id(FACTOR_VALUES)


def test_an_id_is_the_same_for_ever() -> None:
    # sha256 of the canonical JSON of the factors that are not at their default.
    assert point_id(FACTOR_VALUES) == "721bf4c6e1867712d3d4cc4f3c6f3ce1"


def test_a_key_changes_with_all_that_could_change_the_value(
    offer: Offer, datasets: dict[str, Dataset], machine: Machine
) -> None:
    def with_codec(sha256: str, name: str) -> Offer:
        return replace(offer, codecs=tuple(replace(c, sha256=sha256) if c.name == name else c for c in offer.codecs))

    def with_algorithm(sha256: str, name: str) -> Offer:
        return replace(
            offer, algorithms=tuple(replace(a, sha256=sha256) if a.name == name else a for a in offer.algorithms)
        )

    theta = datasets["weather/theta"]
    keys = [
        _key(offer, datasets, machine),
        _key(with_codec("new", "zfp"), datasets, machine),
        _key(with_algorithm("new", "compressed:ring"), datasets, machine),
        _key(offer, datasets | {theta.id: replace(theta, sha256="new")}, machine),
        _key(offer, datasets, replace(machine, cpu_model="Another")),
        _key(offer, datasets, machine, build=replace(BUILD, core="new")),
        _key(offer, datasets, machine, build=replace(BUILD, flags="-O2")),
        _key(offer, datasets, machine, build=replace(BUILD, compiler="g++ 13")),
        _key(offer, datasets, machine, build=replace(BUILD, mpi=("openmpi", "5.0", "new"))),
        _key(offer, datasets, machine, launch=replace(LAUNCH, environment={"A": "2"})),
        _key(offer, datasets, machine, launch=replace(LAUNCH, binding="none")),
        _key(offer, datasets, machine, launcher="srun"),
        _key(offer, datasets, machine, measure=Measure.model_validate({"precision": "1%"})),
        _key(offer, datasets, machine, measure=Measure.model_validate({"at_most": "9 s"})),
        _key(offer, datasets, machine, ranks=4),
        _key(offer, datasets, machine, metrics=(PSNR,)),
        _key(offer, datasets, machine, metrics=(replace(PSNR, sha256="new"),)),
    ]
    assert len(set(keys)) == len(keys)


def test_a_key_does_not_change_with_what_the_point_does_not_use(
    offer: Offer, datasets: dict[str, Dataset], machine: Machine
) -> None:
    other = replace(
        offer,
        codecs=tuple(c if c.name == "zfp" else replace(c, sha256="new") for c in offer.codecs),
        algorithms=tuple(a if a.name == "compressed:ring" else replace(a, sha256="new") for a in offer.algorithms),
    )
    moved = {
        name: replace(d, path="elsewhere", sha256=d.sha256 if name == "weather/theta" else "new")
        for name, d in datasets.items()
    }
    measure = Measure.model_validate({"launches": 50})
    roomy = replace(machine, cpus=64, memory_bytes=None)
    assert _key(other, moved, roomy, measure=measure) == _key(offer, datasets, machine)
    elsewhere = replace(PSNR, path="elsewhere", summary="in other words")
    assert _key(offer, datasets, machine, metrics=(elsewhere,)) == _key(offer, datasets, machine, metrics=(PSNR,))


def test_a_codec_does_not_touch_points_that_do_not_compress(
    offer: Offer, datasets: dict[str, Dataset], machine: Machine
) -> None:
    rebuilt = replace(offer, codecs=tuple(replace(c, sha256="new") for c in offer.codecs))
    plain = {"algorithm": "library:default", "codec": "none", "error_bound": "none"}
    assert _key(rebuilt, datasets, machine, **plain) == _key(offer, datasets, machine, **plain)


@given(st.lists(st.text("0123456789abcdef", min_size=4, max_size=4), min_size=1, unique=True), st.data())
def test_a_batch_runs_again_when_its_keys_or_launches_change(keys: list[str], data: st.DataObject) -> None:
    assert batch_digest(data.draw(st.permutations(keys)), 5) == batch_digest(keys, 5)
    assert batch_digest(keys, 6) != batch_digest(keys, 5)
    assert batch_digest([*keys, "extra"], 5) != batch_digest(keys, 5)
