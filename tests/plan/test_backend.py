"""Points of Python's backend: their own ids, keys, lines and batches; what it cannot do is said."""

from __future__ import annotations

from typing import Any

import pytest

from collpress.fidelity import measures_fidelity
from collpress.plan import identity
from collpress.plan.expansion import expand
from collpress.plan.frozen import FrozenPlan, Site, freeze
from collpress.plan.identity import Build
from collpress.plan.machine import Machine
from collpress.plan.offer import Offer
from collpress.spec import Platform, platform_text

BUILD = Build("core", "g++ 12", "-O3", ("openmpi", "5.0", "lib"))


def planned(write: Any, platform: Platform, machine: Machine, offer: Offer, matrix: str) -> FrozenPlan:
    campaign = write(f"matrix: {{{matrix}}}")
    site = Site(platform, machine, offer, {}, BUILD, "core", "build.json")
    return freeze(campaign, site, expand(campaign, platform, {}, offer, 8 << 30), {})


def test_a_batch_has_points_of_one_backend(write: Any, platform: Platform, machine: Machine, offer: Offer) -> None:
    both = planned(write, platform, machine, offer, "backend: [mpi, mpi4py], message_bytes: [8, 16]")
    indices = {index.get("backend", "mpi"): index for index in both.indices.values()}
    assert set(indices) == {"mpi", "mpi4py"}
    assert [[p["line"].get("backend") for p in indices[b]["points"]] for b in ("mpi", "mpi4py")] == [
        [None] * 2,
        ["mpi4py"] * 2,
    ]
    alone = planned(write, platform, machine, offer, "message_bytes: [8, 16]")
    assert alone.indices == {indices["mpi"]["batch"]: indices["mpi"]}, "the core's batch and keys are as before"


def test_only_the_runners_points_depend_on_the_runner(
    write: Any, platform: Platform, machine: Machine, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keys() -> list[str]:
        plan = planned(write, platform, machine, offer, "backend: [mpi, mpi4py]")
        return [point["key"] for point in plan.points["points"]]

    before = keys()
    own = identity.runner_identity()
    assert set(own) == {"sources", "python", "mpi4py", "numpy"}
    monkeypatch.setattr(identity, "runner_identity", lambda: own | {"numpy": "99"})
    after = keys()
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ("backend: mpi4py", None),
        ("backend: mpi4py, algorithm: library:ring", "mpi4py calls library:default only, not library:ring"),
        ("backend: mpi4py, algorithm: reference:ring", "mpi4py calls library:default only, not reference:ring"),
        ("backend: mpi4py, cache: cold", "mpi4py knows no cache cold"),
        ("backend: mpi4py, sync: window", "mpi4py knows no sync window"),
        ("sync: window", None),
    ],
)
def test_what_python_cannot_do_is_unsupported(
    write: Any, platform: Platform, offer: Offer, matrix: str, reason: str | None
) -> None:
    [point] = expand(write(f"matrix: {{{matrix}}}"), platform, {}, offer, 8 << 30).points
    assert (reason is None and point.unsupported is None) or str(reason) in str(point.unsupported)


def test_mpi4py_has_the_library_of_the_wheel_only(write: Any, offer: Offer) -> None:
    elsewhere = platform_text(
        "title: A machine\ntoolchain: {mpi: openmpi, from: /usr}\nlauncher: mpiexec\nlimits: {nodes: 1, "
        "ranks_per_node: 8}\nbackends: {mpi: {controls: openmpi}}\n",
        "there.yaml",
    )
    [point] = expand(write("matrix: {backend: mpi4py}"), elsewhere, {}, offer, 8 << 30).points
    assert "Open MPI's wheel only" in str(point.unsupported)


def test_the_runner_measures_no_fidelity() -> None:
    factors = {"dataset": "weather/theta", "dtype": "float32"}
    assert measures_fidelity(factors)
    assert not measures_fidelity(factors | {"backend": "mpi4py"})
