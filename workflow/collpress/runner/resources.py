"""What a process used, what the machine has left, and what else went on."""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass
from pathlib import Path

from mpi4py import MPI

from collpress.runner.clock import now_ns

MOST_PRESSURE, MOST_STEAL, MOST_PREEMPTIONS = 0.05, 0.01, 0.05
"""Above these, times are called noisy: the core's numbers."""
_SHORTEST_FOR_TICKS_S = 0.1  # ten ticks of the slowest usual kernel


@dataclass(frozen=True)
class Usage:
    """Of this process since its beginning."""

    max_rss_bytes: int
    voluntary_switches: int
    involuntary_switches: int


def usage() -> Usage:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Usage(used.ru_maxrss * 1024, used.ru_nvcsw, used.ru_nivcsw)


def total_usage(comm: MPI.Intracomm, before: Usage, after: Usage) -> Usage:
    """Collective: the largest resident set of all ranks, the switches of all ranks between two moments."""
    return Usage(
        comm.allreduce(after.max_rss_bytes, MPI.MAX),
        comm.allreduce(after.voluntary_switches - before.voluntary_switches),
        comm.allreduce(after.involuntary_switches - before.involuntary_switches),
    )


def available_memory() -> int | None:
    """Bytes that this machine can still give; None where the system does not say."""
    found = re.search(r"^MemAvailable: +(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def runnable_tasks() -> int | None:
    words = _text("/proc/loadavg").split()
    return int(words[3].split("/")[0]) if len(words) > 3 else None


@dataclass(frozen=True)
class NoiseCounters:
    """What the system counts; None where it does not.

    stalled_us : some task waited for a CPU (Linux pressure stall information). ticks : of all CPUs in the eight states
    of /proc/stat, of which the last is stolen by a hypervisor.
    """

    at_ns: int
    stalled_us: int | None
    ticks: tuple[int, ...] | None


def noise_counters() -> NoiseCounters:
    stalled = re.search(r"^some .*total=(\d+)", _text("/proc/pressure/cpu"), re.MULTILINE)
    ticks = re.match(r"cpu" + r" +(\d+)" * 8, _text("/proc/stat"))
    return NoiseCounters(
        now_ns(), int(stalled[1]) if stalled else None, tuple(map(int, ticks.groups())) if ticks else None
    )


@dataclass(frozen=True)
class Noise:
    """Shares of the time, of the machine where it is largest; None where unknown, or too short for clock ticks."""

    cpu_pressure: float | None
    steal: float | None
    preemptions: float
    reasons: list[str]


def judge_noise(
    comm: MPI.Intracomm, before: NoiseCounters, after: NoiseCounters, preemptions: float, precise: bool
) -> Noise:
    """Collective; the same on every rank. `preemptions`: involuntary switches for each rank and iteration."""
    span_s = (after.at_ns - before.at_ns) * 1e-9
    pressure = steal = -1.0
    if before.stalled_us is not None and after.stalled_us is not None and span_s > 0:
        pressure = (after.stalled_us - before.stalled_us) / (span_s * 1e6)
    if before.ticks is not None and after.ticks is not None and span_s >= _SHORTEST_FOR_TICKS_S:
        spent = sum(after.ticks) - sum(before.ticks)
        steal = (after.ticks[-1] - before.ticks[-1]) / spent if spent > 0 else -1.0
    pressure, steal = comm.allreduce(pressure, MPI.MAX), comm.allreduce(steal, MPI.MAX)
    reasons = [] if precise else ["precision"]
    reasons += ["pressure"] if pressure > MOST_PRESSURE else []
    reasons += ["steal"] if steal > MOST_STEAL else []
    reasons += ["preemption"] if preemptions > MOST_PREEMPTIONS else []
    return Noise(pressure if pressure >= 0 else None, steal if steal >= 0 else None, preemptions, reasons)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
