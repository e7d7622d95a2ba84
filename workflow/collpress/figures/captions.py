"""The sentences that every caption needs: what was summarised and how, how often, and on which machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import xarray as xr

from collpress.analysis.circumstances import CROWDED, load
from collpress.analysis.link import link
from collpress.analysis.statistics import CONFIDENCE, coverage
from collpress.analysis.table import Row
from collpress.analysis.wrapping import wrapped


def experiments(cube: xr.DataTree) -> dict[str, xr.Dataset]:
    """The groups of a cube in the order of the campaign."""
    names = str(cube.attrs["experiments"]).split(" ")
    return {name: cube[name].to_dataset() for name in names}


def statistic(cube: xr.DataTree) -> str:
    """Median and limits in words; states the exact confidence of the limits."""
    launches = int(cube.attrs["launches"])
    if launches == 1:
        return "Times are medians over the iterations of a single launch; one launch gives no confidence limits."
    limits = (
        f"nonparametric limits of that median (order statistics, {100 * coverage(launches):.3g} %, exact binomial)"
        if launches >= 6
        else f"the range of the {launches} launches, holding it with {100 * coverage(launches):.4g} % (exact binomial)"
    )
    return (
        f"Times are medians over {launches} launches of each launch's median over iterations "
        f"(an iteration counts as its slowest rank); bands and bars are {limits}."
    )


def ratio_statistic(cube: xr.DataTree) -> str:
    """What a ratio of times is made of, and where its limits come from."""
    launches = int(cube.attrs["launches"])
    made = "a launch's time is its median over iterations (an iteration counts as its slowest rank)"
    if launches == 1:
        return f"n = 1 launch a point: ratios have no limits, and no difference is shown; {made}."
    return (
        f"n = {launches} launches a point; {made}. Ratios are of medians over launches, with exact bootstrap limits of "
        f"{100 * CONFIDENCE:g} %."
    )


def sample_sizes(rows: Iterable[Row]) -> str:
    """How many iterations stand behind a point, and how many points are noisy."""
    counted = [row for row in rows if row["status"] == "ok"]
    if not counted:
        return "No point is ok."
    n = sorted(int(row["n_iterations"]) for row in counted)
    noisy = sum(row["noisy"] == "noisy" for row in counted)
    spread = f"{n[0]}" if n[0] == n[-1] else f"{n[0]} to {n[-1]}"
    flagged = f"; {noisy} of {len(counted)} points missed the asked precision in some launch" if noisy else ""
    return f"n = {spread} timed iterations a point{flagged}."


def origin(cube: xr.DataTree) -> dict[str, Any]:
    """The provenance that the cube carries."""
    return dict(json.loads(cube.attrs["provenance"]))


def machine(cube: xr.DataTree) -> str:
    """What ran where, as the records observed it; and first, which data do not fill their messages by themselves."""
    found = origin(cube)
    said = [f"campaign {cube.attrs['campaign']} on platform {cube.attrs['platform']}"]
    hardware = found.get("hardware") or {}
    if hardware.get("cpu_model"):
        said.append(str(hardware["cpu_model"]))
    world = found.get("world") or {}
    if world.get("hosts"):
        n = len(world["hosts"])
        said.append("1 host" if n == 1 else f"{n} hosts")
    said += [str(name) for name in world.get("mpi_libraries", [])]
    said += [f"over {over.words}"] if (over := link(cube)) else []
    busy = load(cube)
    said += [busy.words + (f": {CROWDED}" if busy.crowded else "")] if busy else []
    return _stretched(cube) + "Measured by " + ", ".join(said) + "."


def _stretched(cube: xr.DataTree) -> str:
    """A sentence that nobody may miss who reads of ratios."""
    found = wrapped(experiments(cube).values())
    return f"Wrapped data: {'; '.join(w.words for w in found)}. " if found else ""


def iterations(counts: Iterable[int | None]) -> str:
    """How many instrumented iterations stand behind each bar, as far as the cube knows."""
    n = sorted({count for count in counts if count})
    if not n:
        return ""
    spread = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}, by point"
    return f" (at least {spread}, in the launch with the fewest)"
