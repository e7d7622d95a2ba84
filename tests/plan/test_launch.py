"""How ranks are placed, by what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.plan.launch import launch_of
from collpress.plan.machine import Machine, this_machine
from collpress.spec import Platform


@pytest.mark.parametrize(
    ("ranks", "binding", "oversubscribed"),
    [(1, "core", False), (2, "core", False), (3, "hwthread", False), (4, "hwthread", False), (5, "none", True)],
)
def test_ranks_are_bound_as_long_as_there_are_processors(
    platform: Platform, ranks: int, binding: str, oversubscribed: bool
) -> None:
    launch = launch_of(platform, Machine("p", cpus=4, cores=2, memory_bytes=None), ranks)
    assert (launch.binding, launch.oversubscribed) == (binding, oversubscribed)
    assert ("OMPI_MCA_mpi_yield_when_idle" in launch.environment) is oversubscribed


def test_the_platforms_own_environment_goes_last(platform: Platform, machine: Machine) -> None:
    mine = platform.model_copy(update={"environment": {"OMPI_MCA_coll_tuned_use_dynamic_rules": "0", "A": "b"}})
    environment = launch_of(mine, machine, 2).environment
    assert environment["OMPI_MCA_coll_tuned_use_dynamic_rules"] == "0"
    assert list(environment) == sorted(environment)
    assert not any("ROOT" in name for name in environment)


def test_without_controls_the_library_is_left_alone(platform: Platform, machine: Machine) -> None:
    name = "OMPI_MCA_coll_tuned_use_dynamic_rules"
    assert name in launch_of(platform, machine, 2).environment
    plain = platform.model_copy(
        update={"backends": type(platform.backends).model_validate({"mpi": {"controls": "none"}})}
    )
    assert name not in launch_of(plain, machine, 2).environment


def test_each_mpi_gets_its_own_settings_only(platform: Platform, machine: Machine) -> None:
    other = {"toolchain": {"mpi": "mpich", "from": "wheel"}, "backends": {"mpi": {"controls": "mpich"}}}
    mpich = Platform.model_validate(platform.model_dump(by_alias=True) | other)
    launch = launch_of(mpich, machine, machine.cpus + 1)
    assert launch.environment == {"HYDRA_LAUNCHER": "fork", "HYDRA_RMK": "user", "OMP_NUM_THREADS": "1"}
    assert (launch.binding, launch.oversubscribed) == ("none", True)


def test_this_machine_is_seen() -> None:
    machine = this_machine()
    assert machine.cpu_model
    assert 1 <= machine.cores <= machine.cpus
    assert machine.memory_bytes is None or machine.memory_bytes > 1 << 20


def test_a_control_group_limits_processors_and_memory(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("model name\t: Fast 9000\n", encoding="utf-8")
    (tmp_path / "proc/meminfo").write_text("MemTotal:       1000000 kB\n", encoding="utf-8")
    assert this_machine(tmp_path).memory_bytes == 1_024_000_000
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cpu.max").write_text("50000 100000\n", encoding="utf-8")
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("1000000\n", encoding="utf-8")
    machine = this_machine(tmp_path)
    assert (machine.cpu_model, machine.cpus, machine.cores, machine.memory_bytes) == ("Fast 9000", 1, 1, 1_000_000)
