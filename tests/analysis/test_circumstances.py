"""What is warned about before two cubes are compared."""

from __future__ import annotations

import json
from typing import Any

import pytest
import xarray as xr

from collpress.analysis.circumstances import differences

ALIKE: dict[str, Any] = {
    "datasets": {"colpex/theta": "a" * 64},
    "measure": {"warmup": ["5"], "at_most": ["0.2"]},
    "hardware": {"cpu_model": "A", "cpus": 2, "memory_bytes": 1 << 30},
    "world": {"hosts": ["node"], "mpi_libraries": ["Open MPI v5"]},
    "load": {"launches": 5, "cpus": 2, "load_average": [0.5, 1.4], "runnable": [1, 3]},
}


BUSY = ALIKE["load"]
BUS = {"kind": "loopback", "medium": "loopback, shared by both directions", "rate": 25 * 10**8, "found": None}


def cube(schema: int = 1, launches: int = 5, **changes: Any) -> xr.DataTree:
    attrs = {"schema_version": schema, "launches": launches, "provenance": json.dumps(ALIKE | changes)}
    return xr.DataTree(xr.Dataset(attrs=attrs))


def test_cubes_that_were_measured_alike_need_no_warning_even_with_another_mpi() -> None:
    assert differences(cube(), cube()) == []
    other = {"hosts": ["node"], "mpi_libraries": ["MPICH 5"]}
    assert differences(cube(), cube(world=other)) == []
    assert differences(cube(links=[BUS]), cube(links=[BUS | {"found": [2.4e9, 2.5e9]}])) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": 2}, "different schemas: A has 1, B has 2"),
        ({"launches": 3}, "another number of launches: A has 5, B has 3"),
        (
            {"links": [BUS]},
            "over different links: A over none made, B over loopback, shared by both directions, 2.5 Gbit/s",
        ),
        ({"datasets": {"colpex/theta": "b" * 64}}, "the dataset colpex/theta is another one"),
        ({"measure": {"warmup": ["5"], "at_most": ["0.4"]}}, "another at_most: A with 0.2, B with 0.4"),
        ({"measure": {"warmup": ["5"]}}, "another at_most: A with 0.2, B with nothing said"),
        ({"measure": {"warmup": ["5"], "at_most": ["0.33333333333333331"]}}, "A with 0.2, B with 0.3333"),
        ({"measure": {"warmup": ["5"], "at_most": ["0.200000004"]}}, "A with 0.2, B with 0.200000004"),
        ({"measure": {"warmup": ["100000"], "at_most": ["0.2"]}}, "another warmup: A with 5, B with 100000"),
        ({"hardware": {"cpu_model": "B", "cpus": 2, "memory_bytes": 1 << 30}}, "another machine: processor: A A, B B"),
        ({"world": {"hosts": ["other"]}}, "different hosts: A on node, B on other"),
        ({"datasets": None}, "cube B does not tell the checksums of the datasets"),
        ({"measure": None}, "cube B does not tell the measure settings"),
        ({"measure": {}}, "cube B does not tell the measure settings"),
        ({"hardware": None}, "cube B does not tell the machine"),
        ({"load": None}, "cube B does not tell the load of the machine"),
        ({"load": BUSY | {"load_average": [0.5, 2.1]}}, "while B was measured: load 0.5 to 2.1 on 2 CPUs when"),
        ({"load": BUSY | {"load_average": [1.6, 1.9]}}, "not equally busy: A load 0.5 to 1.4 on 2 CPUs when launches"),
    ],
)
def test_each_difference_that_spoils_a_comparison_is_told(change: dict[str, Any], told: str) -> None:
    (warning,) = differences(cube(), cube(**change))
    assert told in warning


def test_datasets_that_only_one_uses_are_no_difference() -> None:
    assert differences(cube(), cube(datasets={"colpex/theta": "a" * 64, "synthetic/normal": "c" * 64})) == []


def test_a_cube_without_provenance_is_not_taken_for_alike() -> None:
    silent = xr.DataTree(xr.Dataset(attrs={"schema_version": 1, "launches": 5}))
    assert len(differences(silent, silent)) == 4
    damaged = xr.DataTree(xr.Dataset(attrs={"schema_version": 1, "launches": 5, "provenance": "{"}))
    assert len(differences(damaged, silent)) == 4


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("cpu_model", "processor"),
        ("allowed_cpus", "CPUs that may be used"),
        ("cpus", "CPUs"),
        ("cores", "cores"),
        ("memory_bytes", "bytes of memory"),
        ("kernel", "kernel"),
        ("governor", "frequency governor"),
    ],
)
def test_each_property_of_the_machine_is_compared(key: str, words: str) -> None:
    (warning,) = differences(cube(hardware={key: "x"}), cube(hardware={key: "y"}))
    assert warning == f"another machine: {words}: A x, B y"
