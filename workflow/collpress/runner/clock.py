"""The clock of every measurement: Python's own for short times, in ns; on Linux the core's, CLOCK_MONOTONIC."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise

now_ns = time.perf_counter_ns


def description() -> dict[str, str | float]:
    """What a launch line says of the clock. `overhead_s` is the median between two readings in a row, as Python reads
    it: a time has this much of the clock in it."""
    facts = time.get_clock_info("perf_counter")
    resolution = time.clock_getres(time.CLOCK_MONOTONIC) if "CLOCK_MONOTONIC" in facts.implementation else 0.0
    readings = [now_ns() for _ in range(1001)]
    gaps = [later - earlier for earlier, later in pairwise(readings)]
    return {
        "name": f"{facts.implementation}, read by time.perf_counter_ns",
        "resolution_s": resolution or facts.resolution,
        "overhead_s": statistics.median(gaps) * 1e-9,
    }
