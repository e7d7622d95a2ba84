"""What a process used, what the machine has left, and what else went on."""

from __future__ import annotations

import re
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
class Spent:
    """What one rank's process and machine spent between two moments.

    cpu_pressure : share of the time in which some task waited for a CPU. steal : share of the CPUs' ticks that a
    hypervisor gave to others; None for times too short for ticks. Both None where the system does not count.
    """

    usage: Usage
    cpu_pressure: float | None
    steal: float | None


@dataclass(frozen=True)
class Moment:
    """When spending began."""

    usage: Usage
    counters: NoiseCounters

    @staticmethod
    def now() -> Moment:
        return Moment(usage(), noise_counters())

    def spent(self) -> Spent:
        used, counters = usage(), noise_counters()
        before, seconds = self.counters, (counters.at_ns - self.counters.at_ns) * 1e-9
        pressure = steal = None
        if before.stalled_us is not None and counters.stalled_us is not None and seconds > 0:
            pressure = (counters.stalled_us - before.stalled_us) / (seconds * 1e6)
        if before.ticks is not None and counters.ticks is not None and seconds >= _SHORTEST_FOR_TICKS_S:
            ticks = sum(counters.ticks) - sum(before.ticks)
            steal = (counters.ticks[-1] - before.ticks[-1]) / ticks if ticks > 0 else None
        switches = (
            used.voluntary_switches - self.usage.voluntary_switches,
            used.involuntary_switches - self.usage.involuntary_switches,
        )
        return Spent(Usage(used.max_rss_bytes, *switches), pressure, steal)


@dataclass(frozen=True)
class Noise:
    """Of all ranks: shares where they are largest; involuntary switches for each rank and iteration; why the times are
    called noisy: precision, pressure, steal, preemption."""

    cpu_pressure: float | None
    steal: float | None
    preemptions: float
    reasons: list[str]


def total_usage(of_all: Sequence[Spent]) -> Usage:
    """The largest resident set, and the switches of all ranks together."""
    return Usage(
        max(one.usage.max_rss_bytes for one in of_all),
        sum(one.usage.voluntary_switches for one in of_all),
        sum(one.usage.involuntary_switches for one in of_all),
    )


def judge_noise(of_all: Sequence[Spent], iterations: int, precise: bool) -> Noise:
    """`iterations` of each rank."""
    pressure = max((one.cpu_pressure for one in of_all if one.cpu_pressure is not None), default=None)
    steal = max((one.steal for one in of_all if one.steal is not None), default=None)
    preemptions = total_usage(of_all).involuntary_switches / (iterations * len(of_all))
    exceeded = {
        "precision": not precise,
        "pressure": (pressure or 0) > MOST_PRESSURE,
        "steal": (steal or 0) > MOST_STEAL,
        "preemption": preemptions > MOST_PREEMPTIONS,
    }
    return Noise(pressure, steal, preemptions, [reason for reason, is_so in exceeded.items() if is_so])


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
