"""The machine: processors, memory, caches, kernel; from /proc and /sys, `null` where a system does not tell."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

PROC, SYS = Path("/proc"), Path("/sys")


def machine(proc: Path = PROC, sys: Path = SYS) -> dict[str, Any]:
    """Everything about this machine; sizes in bytes.

    Only `load_average` changes between two calls on an idle machine.
    """
    return {
        **stable(proc, sys),
        "kernel": f"{platform.system()} {platform.release()}",
        "allowed_cpus": allowed_cpus(),
        "cpu_limit": cpu_limit(sys),
        "governor": _text(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo_off": _text(sys / "devices/system/cpu/intel_pstate/no_turbo"),
        "transparent_hugepages": _chosen(_text(sys / "kernel/mm/transparent_hugepage/enabled")),
        "load_average": _load_average(proc),
    }


def stable(proc: Path = PROC, sys: Path = SYS) -> dict[str, Any]:
    """The part that stays as long as the hardware does: no frequencies, no loads."""
    info = _fields(proc / "cpuinfo")
    return {
        "cpu_model": info.get("model name") or info.get("cpu model") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "cores": _cores(proc),
        "sockets": len(set(_column(proc / "cpuinfo", "physical id"))) or None,
        "numa_nodes": len(list((sys / "devices/system/node").glob("node[0-9]*"))) or None,
        "caches": _caches(sys),
        "memory_bytes": _memory(proc),
        "flags": sorted(set(info.get("flags", "").split()) & {"avx2", "avx512f", "fma", "sse4_2"}),
    }


def machine_key(proc: Path = PROC, sys: Path = SYS) -> str:
    """16 hex digits that change when the processors do.

    Memory is left out: what Linux calls its total differs by a few MiB from kernel to kernel.
    """
    seen = stable(proc, sys)
    chosen = {name: seen[name] for name in ("cpu_model", "architecture", "cpus", "cores", "sockets", "flags")}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def allowed_cpus() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def allowed_cores(sys: Path = SYS) -> int:
    """Cores that this process may use: hardware threads of one core count once."""
    return len(cpus_by_core(sys)) or allowed_cpus()


def cpus_by_core(sys: Path = SYS) -> list[list[int]]:
    """The processors that this process may use, those of one core together; each by itself where cores are not told.

    Empty where a system does not say which processors may be used.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    siblings = {
        cpu: _text(sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        for cpu in sorted(os.sched_getaffinity(0))
    }
    if not all(siblings.values()):
        return [[cpu] for cpu in siblings]
    return [[cpu for cpu in siblings if siblings[cpu] == core] for core in dict.fromkeys(siblings.values())]


def cpu_limit(sys: Path = SYS) -> float | None:
    """Processors' worth of time that the control group allows; `null` without a limit."""
    quota = (_text(sys / "fs/cgroup/cpu.max") or "").split()
    if len(quota) == 2 and quota[0].isdecimal():
        return int(quota[0]) / int(quota[1])
    old = _text(sys / "fs/cgroup/cpu/cpu.cfs_quota_us"), _text(sys / "fs/cgroup/cpu/cpu.cfs_period_us")
    if old[0] and old[1] and old[0].isdecimal() and old[1].isdecimal():
        return int(old[0]) / int(old[1])
    return None


def _cores(proc: Path) -> int | None:
    pairs = set(zip(_column(proc / "cpuinfo", "physical id"), _column(proc / "cpuinfo", "core id"), strict=False))
    return len(pairs) or None


def _caches(sys: Path) -> list[dict[str, Any]]:
    found = []
    for index in sorted((sys / "devices/system/cpu/cpu0/cache").glob("index[0-9]*")):
        level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
        shared = _text(index / "shared_cpu_list")
        found.append({"level": int(level) if level else None, "type": kind, "bytes": _size(size), "shared_by": shared})
    return found


def _size(text: str | None) -> int | None:
    """
    >>> _size("32K")
    32768
    """
    if not text or not text.rstrip("KMG").isdecimal():
        return None
    return int(text.rstrip("KMG")) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1], 1)


def _memory(proc: Path) -> int | None:
    kilobytes = _fields(proc / "meminfo").get("MemTotal", "").removesuffix("kB").strip()
    return int(kilobytes) * 1024 if kilobytes.isdecimal() else None


def _load_average(proc: Path) -> float | None:
    text = _text(proc / "loadavg")
    return float(text.split()[0]) if text else None


def _chosen(text: str | None) -> str | None:
    """The bracketed word of `always [madvise] never`."""
    return text.split("[")[1].split("]")[0] if text and "[" in text else None


def _fields(path: Path) -> dict[str, str]:
    """First value of each `name : value` line."""
    found: dict[str, str] = {}
    for line in (_text(path) or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def _column(path: Path, name: str) -> list[str]:
    lines = (line.partition(":") for line in (_text(path) or "").splitlines())
    return [value.strip() for key, _, value in lines if key.strip() == name]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
