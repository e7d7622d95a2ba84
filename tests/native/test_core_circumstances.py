"""How iterations start, where their buffers lie, and what else went on: asked for, done and told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, point

CPUS_FOR_TWO = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs: ranks look at the clock while they wait"
)


def record(core: Core, folder: Path, ranks: int = 2, **changes: object) -> dict[str, Any]:
    outcome = core.launch(folder, ranks, [point(min_iterations=20, max_iterations=20, **changes)])
    assert outcome.code == 0, outcome.errors
    (found,) = outcome.records()
    return found


@pytest.mark.parametrize("sync", ["dissemination", "barrier", "none"])
def test_ranks_start_as_asked(core: Core, tmp_path: Path, sync: str) -> None:
    found = record(core, tmp_path, sync=sync)
    assert (found["status"], found["n"], found["late"], found["clock_residual_s"]) == ("ok", 20, 0, None)


@CPUS_FOR_TWO
def test_a_window_counts_iterations_that_all_ranks_began_in_time(core: Core, tmp_path: Path) -> None:
    found = record(core, tmp_path, sync="window")
    assert found["status"] == "ok" or "could not start at the agreed moment" in found["reason"]
    if found["status"] == "ok":
        assert found["late"] <= found["n"] + found["late"]
        assert found["clock_residual_s"] == 0  # the ranks of one machine share its clock


def test_a_window_is_refused_where_ranks_would_wait_on_each_others_cpus(core: Core, tmp_path: Path) -> None:
    ranks = len(os.sched_getaffinity(0)) + 1
    found = record(core, tmp_path, ranks=ranks, sync="window")
    assert found["status"] == "unsupported"
    assert "needs a CPU for each rank" in found["reason"]


def test_cold_buffers_cost_more_than_warm_ones(core: Core, tmp_path: Path) -> None:
    """A reading of a megabyte from memory takes longer than from a cache: the smallest of many times shows it."""
    entries = [
        point(message_bytes=1 << 20, min_iterations=40, max_iterations=40, cache=cache, at_most=20)
        for cache in ("warm", "cold")
    ]
    outcome = core.launch(tmp_path, 1, entries)
    warm, cold = (outcome.record(entry)["time_s"]["min"] for entry in entries)
    assert cold > 1.2 * warm


@pytest.mark.parametrize("alignment", [64, 4096, 65536])
def test_buffers_may_be_asked_to_lie_anywhere(core: Core, tmp_path: Path, alignment: int) -> None:
    assert record(core, tmp_path, alignment=alignment)["status"] == "ok"


def test_a_record_tells_what_else_went_on(core: Core, tmp_path: Path) -> None:
    found = record(core, tmp_path, precision=1e-9)
    assert found["noisy"]
    assert "precision" in found["noise"]["reasons"]
    assert found["noise"]["preemptions"] >= 0
    assert set(found["noise"]) == {"cpu_pressure", "steal", "preemptions", "reasons"}


@pytest.mark.parametrize(("ranks", "together"), [(2, 1), (3, 1), (4, 2)])
def test_clocks_that_run_apart_are_brought_together(core: Core, ranks: int, together: int) -> None:
    """Clocks a second apart that drift by 20 ppm and more; who learns their offset only is 10 us off 0.5 s later."""

    def errors(fit_points: int) -> tuple[float, float, float]:
        done = core.program_on_ranks(ranks, "clock-sync", fit_points, together)
        assert done.returncode == 0, done.stderr
        at_once, later, residual = map(float, done.stdout.split())
        return at_once, later, residual

    drifted = max(errors(1)[1], 10_000)
    tries: list[tuple[float, float, float]] = []
    while len(tries) < 20:  # a busy machine may take a CPU away in the middle of one
        tries.append(errors(100))
        together_at_once = min(at_once for at_once, _, _ in tries) < 100_000
        together_later = min(later for _, later, _ in tries) < 0.6 * drifted
        known = min(abs(residual - later) for _, later, residual in tries) < 20_000  # how far off it is
        if together_at_once and together_later and known:
            return
    if os.getloadavg()[0] > len(os.sched_getaffinity(0)):
        pytest.skip("other processes take the CPUs away: clocks cannot be read at one moment")
    pytest.fail(f"after {len(tries)} tries: {tries}, the error with one point is {drifted} ns")
