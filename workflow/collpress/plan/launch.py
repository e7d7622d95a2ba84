"""How a batch is started: environment, binding, and whether ranks share CPUs. Decided once, frozen in the plan."""

from __future__ import annotations

import os
from dataclasses import dataclass

from collpress.plan.machine import Machine
from collpress.provenance.namespaces import INTERFACE
from collpress.spec.platform import Hosts, Platform

_ONE_MACHINE = {
    # Everything stays inside the machine: neither a network nor a resolvable host name is needed.
    "openmpi": {
        # By what is left out: shared memory is `sm` in Open MPI 5 and `vader` in 4.1.
        "OMPI_MCA_btl": "^ofi,openib,smcuda,tcp,uct,usnic",
        "PMIX_MCA_ptl_base_if_include": "lo",
        # Settings come from the platform file, not from files in somebody's home directory.
        "OMPI_MCA_mca_base_param_files": "none",
        "PMIX_MCA_mca_base_param_files": "none",
        "PRTE_MCA_mca_base_param_files": "none",
    },
    # Not the nodes of a job that this may be part of.
    "mpich": {"HYDRA_LAUNCHER": "fork", "HYDRA_RMK": "user"},
}
_YIELDING = {"openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"}}  # MPICH yields now and then by itself, and no more


_TWO_HOSTS = {
    "OMPI_MCA_btl": "^ofi,openib,smcuda,uct,usnic",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl_tcp_if_include": INTERFACE,
}
_LOOPBACK = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "lo"}
"""No shared memory: between all ranks, neighbours too, lies the loopback."""
_THROTTLED = {"OMPI_MCA_btl_tcp_sndbuf": "131072"}
"""With the default, acknowledgements queue behind megabytes of own data, and exchanges get half of the rate."""


@dataclass(frozen=True)
class Launch:
    """Part of a batch's identity and of every point's key.

    Parameters
    ----------
    environment : variables for the launcher and all ranks, sorted by name.
    binding : `core`, `hwthread` or `none`; the launcher's command line asks for it.
    oversubscribed : more ranks than CPUs; Open MPI's ranks then yield while they wait.
    hosts : what is made of this machine before the batch: two hosts, or one with a throttled loopback; None: nothing.
    """

    environment: dict[str, str]
    binding: str
    oversubscribed: bool
    hosts: Hosts | None = None


def launch_of(platform: Platform, machine: Machine, ranks_per_node: int, knobs: str = "none", nodes: int = 1) -> Launch:
    """The launch of a batch with that many ranks on a node, with a set of the platform's knobs.

    One rank a core where there are enough cores, one a hardware thread where there are enough of those, else unbound:
    two ranks that are bound to one CPU and poll starve each other. Ranks of two hosts made of this machine share its
    CPUs, and are never bound: each host would begin with the same core.
    """
    mpi = platform.toolchain.mpi
    variables = dict(_ONE_MACHINE[mpi])
    if platform.backends.mpi.controls == "openmpi":
        # Without this, writing an algorithm's control variable succeeds, reads back, and has no effect.
        variables["OMPI_MCA_coll_tuned_use_dynamic_rules"] = "1"
    hosts = platform.hosts if nodes > 1 or is_loopback(platform) else None
    if hosts is not None:
        variables |= _LOOPBACK if is_loopback(platform) else _TWO_HOSTS
        variables |= _THROTTLED if hosts.rate else {}
    oversubscribed = cpu_ranks(platform, nodes, ranks_per_node) > machine.cpus
    if oversubscribed:
        binding = "none"
        variables |= _YIELDING.get(mpi, {})
    elif hosts is not None and not is_loopback(platform):
        binding = "none"
    elif ranks_per_node > machine.cores:
        binding = "hwthread"
    else:
        binding = "core"
    variables.update(platform.environment)
    variables.update(platform.knobs.get(knobs, {}))
    return Launch(dict(sorted(variables.items())), binding, oversubscribed, hosts)


def is_loopback(platform: Platform) -> bool:
    """Whether ranks talk over a throttled loopback, on one node too."""
    return platform.hosts is not None and platform.hosts.kind == "loopback"


def cpu_ranks(platform: Platform, nodes: int, ranks_per_node: int) -> int:
    """Ranks on the processors and in the memory of one machine."""
    return ranks_per_node * (nodes if platform.hosts else 1)


def root_permissions(*, made_root: bool = False) -> dict[str, str]:
    """What Open MPI and its launcher want to be told before they start for root; no part of a plan's identity.

    made_root : whether the ranks believe to be root, as in a user namespace of our own.
    """
    names = ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")
    told = {f"{name}{suffix}": "1" for name in names for suffix in ("", "_CONFIRM")}
    return told if made_root or os.geteuid() == 0 else {}
