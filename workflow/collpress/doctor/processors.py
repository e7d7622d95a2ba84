"""Processors: enough for the ranks, idle, and granted whole by the control group."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from collpress.doctor.result import Result, note, ok, problem, skipped
from collpress.plan.launch import cpu_ranks
from collpress.plan.machine import Machine
from collpress.provenance.machine import cpu_limit
from collpress.spec.platform import Platform

_LOOKS, _EVERY_S = 11, 0.05


def oversubscription(platform: Platform, machine: Machine) -> Result:
    """How many ranks the platform allows on how many processors."""
    check, limits = "ranks and CPUs", platform.limits
    ranks = cpu_ranks(platform, limits.nodes, limits.ranks_per_node)
    if ranks > machine.cpus and not limits.oversubscribe:
        return ok(check, f"{machine.cpus} CPUs; more ranks than that are unsupported, as the platform says")
    if ranks > machine.cpus:
        return note(
            check,
            f"up to {ranks} ranks on {machine.cpus} CPUs: points with more than {machine.cpus} are oversubscribed, "
            "and their times say little of a machine with enough CPUs",
        )
    threads = "" if ranks <= machine.cores else f", on {machine.cores} cores: two hardware threads of a core share it"
    return ok(check, f"up to {ranks} ranks on {machine.cpus} CPUs{threads}")


def load(machine: Machine, proc: Path = Path("/proc")) -> Result:
    """Whether other processes keep the processors busy now; the load average lags by minutes, so that both are told."""
    check = "load"
    seen: list[int] = []
    for _ in range(_LOOKS):
        words = _words(proc / "loadavg")
        if len(words) < 4:
            return skipped(check, f"{proc / 'loadavg'} cannot be read")
        seen.append(max(0, int(words[3].partition("/")[0]) - 1))  # this process runs, too
        time.sleep(_EVERY_S)
    busy = statistics.median(seen)
    said = f"{busy:g} other processes run now on {machine.cpus} CPUs; load average {_words(proc / 'loadavg')[0]}"
    if busy >= machine.cpus:
        return problem(check, said, "measure when nobody else works here; exclusive nodes on a cluster")
    return ok(check, said) if busy < 1 else note(check, said)


def quota(machine: Machine, sys: Path = Path("/sys")) -> Result:
    """The control group's limit of processor time: ranks beyond it are stopped for a part of each period."""
    check = "CPU quota"
    files = (sys / "fs/cgroup/cpu.max", sys / "fs/cgroup/cpu/cpu.cfs_quota_us")
    if not any(path.is_file() for path in files):
        return skipped(check, "no control group tells its limit here")
    limit = cpu_limit(sys)
    if limit is None:
        return ok(check, "none")
    if limit < machine.cpus or limit != int(limit):
        said = f"time of {limit:g} CPUs, {machine.cpus} are used"
        return problem(check, said, "ask for whole CPUs (container: --cpus=N --cpuset-cpus=...)")
    return ok(check, f"time of {limit:g} CPUs, {machine.cpus} are used")


def governor(sys: Path = Path("/sys")) -> Result:
    """How frequencies are chosen; for information."""
    check = "frequency governor"
    found = _words(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return note(check, found[0]) if found else skipped(check, "cannot be seen here (virtual machines hide it)")


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return []
