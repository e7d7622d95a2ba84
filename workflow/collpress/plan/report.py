"""A plan told to people: experiments, cost, what is cut and why, what the platform cannot do and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from collpress.plan.estimate import cost
from collpress.plan.expansion import Excluded, Expansion, Point
from collpress.spec.campaign import Campaign
from collpress.spec.factors import FACTORS, Value
from collpress.spec.platform import Platform
from collpress.spec.quantities import format_size

SHOWN = 8
"""Combinations listed for one reason; the rest are counted."""


def plan_json(
    campaign: Campaign, platform: Platform, expansion: Expansion, batches: int, fetch: Mapping[str, int]
) -> dict[str, Any]:
    """Machine-readable plan: one row an experiment, every point, every exclusion.

    Parameters
    ----------
    fetch : files that must be downloaded first, by name, and their bytes.
    """
    runnable = _runnable(expansion)
    return {
        "campaign": campaign.name,
        "platform": platform.name,
        "exact": not expansion.unknown,
        "unknown": expansion.unknown,
        "at_least": expansion.at_least,
        "cost": cost((p.factors for p in runnable), batches, campaign.measure).as_json(),
        "fetch": dict(fetch),
        "experiments": [_experiment(name, expansion) for name in campaign.experiments],
        "points": [vars(p) for p in expansion.points],
        "excluded": [vars(e) for e in expansion.excluded],
        "warnings": expansion.warnings,
    }


def plan_text(
    campaign: Campaign, platform: Platform, expansion: Expansion, batches: int, fetch: Mapping[str, int]
) -> str:
    """The same for people."""
    total = cost((p.factors for p in _runnable(expansion)), batches, campaign.measure)
    count = f"{total.points} points"
    if len(expansion.unknown) > 1:  # more than whether each point can run
        count = f"about {count} (at least {expansion.at_least})"
    lines = [f"{campaign.name} on {platform.name}: {campaign.title}", ""]
    for row in (_experiment(name, expansion) for name in campaign.experiments):
        extra = [f"{row[what]} {what}" for what in ("excluded", "unsupported") if row[what]]
        lines.append(f"  {row['experiment']:<20} {row['points']:>6} points{', ' if extra else ''}{', '.join(extra)}")
    lines += [
        "",
        f"  {count} in {total.batches} batch(es), {campaign.measure.launches} launches each",
        f"  at most {_duration(total.seconds)}; one call of each point sends {_bytes(total.bytes_per_iteration)};"
        f" at most {_bytes(total.memory_per_rank)} of buffers a rank",
    ]
    if fetch:
        files = "file" if len(fetch) == 1 else "files"
        lines.append(
            f"  {sum(fetch.values()) / 1e6:,.1f} MB of data to fetch first ({len(fetch)} {files}: {', '.join(fetch)})"
        )
    lines += _section("not known before the build (run the inventory, or ./run):", expansion.unknown)
    lines += _section("excluded:", _grouped(expansion.excluded, lambda e: e.why))
    lines += _section(
        "unsupported here:", _grouped([p for p in expansion.points if p.unsupported], lambda p: str(p.unsupported))
    )
    lines += _section("warnings:", expansion.warnings)
    return "\n".join(lines)


def _runnable(expansion: Expansion) -> list[Point]:
    return [p for p in expansion.points if p.unsupported is None]


def _experiment(name: str, expansion: Expansion) -> dict[str, Any]:
    own = [p for p in expansion.points if p.experiment == name]
    unsupported = sum(p.unsupported is not None for p in own)
    excluded = sum(e.experiment == name for e in expansion.excluded)
    return {"experiment": name, "points": len(own) - unsupported, "unsupported": unsupported, "excluded": excluded}


def _section(title: str, lines: Iterable[str]) -> list[str]:
    listed = [f"  - {line}" for line in lines]
    return ["", title, *listed] if listed else []


def _grouped(items: list[Any], reason: Callable[[Any], str]) -> list[str]:
    groups: dict[tuple[str, str], list[Point | Excluded]] = {}
    for item in items:
        groups.setdefault((item.experiment, reason(item)), []).append(item)
    lines = []
    for (experiment, why), members in groups.items():
        listed = [_told(m.factors) for m in members[:SHOWN]]
        if len(members) > SHOWN:
            listed.append(f"... and {len(members) - SHOWN} more (--json lists all)")
        lines.append("\n      ".join([f"{experiment}: {why} ({len(members)})", *listed]))
    return lines


def _told(factors: Mapping[str, Value]) -> str:
    return " ".join(
        f"{name}={FACTORS[name].text(value)}" for name, value in factors.items() if value != FACTORS[name].default
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _bytes(number: int) -> str:
    for prefix, factor in (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if number >= factor:
            return f"{number / factor:.1f} {prefix}B"
    return f"{format_size(number)} B"
