"""Print two cubes side by side: where B is better or worse than A, and where no difference is shown.

A and B are CAMPAIGN/PLATFORM or the path of a cube.nc. A point is compared where both have it and it is ok in both:
medians over launches, the ratio B/A with its bootstrap confidence limits over launches. Other points are listed with
their statuses. --json prints {"machine": ..., "rows": [...], "summary": {...}}; times in seconds.

example: collpress compare quick/local quick/mpich
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collpress.errors import CollpressError, did_you_mean
from collpress.layout import Places

if TYPE_CHECKING:
    import xarray as xr

    from collpress.analysis.comparison import Comparison, Odd, Pair, Side

FEW = 20
"""Points listed for one pair of statuses; the rest are counted."""


def configure(parser: argparse.ArgumentParser) -> None:
    for name in ("A", "B"):
        parser.add_argument(name.lower(), metavar=name, help="CAMPAIGN/PLATFORM, or the path of a cube.nc")
    parser.add_argument("--metric", default="latency_median", help="latency_median (default) or latency_p99")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from collpress.analysis.circumstances import differences
    from collpress.analysis.comparison import METRICS, compare

    if args.metric not in METRICS:
        hint = did_you_mean(args.metric, METRICS)
        raise CollpressError(
            f'"{args.metric}" cannot be compared', where="--metric", allowed=", ".join(METRICS), fix=hint
        )
    a, b = _cube(args.a), _cube(args.b)
    comparison = compare(a, b, args.metric)
    warnings = [*_unlike(a, b), *map(_rounded, differences(a, b))]
    if args.json:
        print(json.dumps(_document(args, a, b, comparison, warnings), ensure_ascii=False, allow_nan=False))
    else:
        _tell(args, a, b, comparison, warnings)
    if not comparison.pairs:
        raise CollpressError("no point is ok in both cubes: there is nothing to compare", where=f"{args.a}, {args.b}")
    return 0


def _unlike(a: xr.DataTree, b: xr.DataTree) -> list[str]:
    """What two cubes are to each other, where that makes a comparison doubtful."""
    if a.encoding["sha256"] == b.encoding["sha256"]:
        return ["A and B are the same cube"]
    campaigns = [cube.attrs["campaign"] for cube in (a, b)]
    return [f"different campaigns: A is {campaigns[0]}, B is {campaigns[1]}"] if campaigns[0] != campaigns[1] else []


def _rounded(text: str) -> str:
    """Numbers in a text with at most four digits behind the point: what is left of them is noise of a division.

    >>> _rounded("another at_most: A with 0.16666666666666666, B with 0.4")
    'another at_most: A with 0.1667, B with 0.4'
    """
    return re.sub(r"\b[0-9]+\.[0-9]{5,}\b", lambda number: f"{float(number[0]):.4g}", text)


def _cube(word: str) -> xr.DataTree:
    """The cube that a word on the command line means."""
    from collpress.cube.file import open_cube

    path = Path(word)
    if path.suffix != ".nc" and not path.is_file():
        campaign, slash, platform = word.partition("/")
        if not slash or "/" in platform:
            raise CollpressError(f'"{word}" names no cube', allowed="CAMPAIGN/PLATFORM, or the path of a cube.nc")
        path = Places(campaign, platform).cube
        if not path.exists():
            raise CollpressError(
                "there is no cube", where=str(path), fix=f"collpress run {campaign} --platform {platform}"
            )
    return open_cube(path)


def _document(
    args: argparse.Namespace, a: xr.DataTree, b: xr.DataTree, comparison: Comparison, warnings: list[str]
) -> dict[str, Any]:
    from collpress.analysis.circumstances import provenance

    only_a, both, only_b = comparison.algorithms
    return {
        "machine": {side: provenance(cube).get("hardware") for side, cube in (("a", a), ("b", b))},
        "rows": [_pair(pair) for pair in comparison.pairs] + [_odd(odd) for odd in comparison.odd],
        "summary": {
            "a": _identity(args.a, a),
            "b": _identity(args.b, b),
            "metric": comparison.metric,
            **{name.replace(" ", "_"): count for name, count in comparison.counts().items()},
            "expected_by_chance": comparison.expected_by_chance(),
            "library_algorithms": {"only_a": only_a, "both": both, "only_b": only_b},
            "warnings": warnings,
        },
    }


def _identity(word: str, cube: xr.DataTree) -> dict[str, str]:
    named = {name: str(cube.attrs.get(name, "")) for name in ("campaign", "platform", "id")}
    return {"asked": word, **named, "mpi": _mpi(cube)}


def _mpi(cube: xr.DataTree) -> str:
    """The MPI library that measured, as far as the first comma."""
    from collpress.analysis.circumstances import provenance

    libraries = (provenance(cube).get("world") or {}).get("mpi_libraries") or ["an MPI library that is not told"]
    return "; ".join(str(library).split(",")[0] for library in libraries)


def _pair(pair: Pair) -> dict[str, Any]:
    ratio = pair.ratio
    limits = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "confidence": ratio.confidence}
    return {
        "experiment": pair.experiment,
        "factors": pair.factors,
        "a": pair.a.median,
        "b": pair.b.median,
        **limits,
        "launches": list(ratio.n)[::-1],
        "verdict": pair.verdict,
    }


def _odd(odd: Odd) -> dict[str, Any]:
    told = {
        side: {"status": seen.status, "reason": seen.reason or None, "median": seen.median}
        for side, seen in (("a", odd.a), ("b", odd.b))
    }
    return {"experiment": odd.experiment, "factors": odd.factors, **told, "verdict": "not compared"}


def _tell(
    args: argparse.Namespace, a: xr.DataTree, b: xr.DataTree, comparison: Comparison, warnings: list[str]
) -> None:
    from collpress.analysis.statistics import CONFIDENCE

    print(f"A: {args.a}, {_mpi(a)}\nB: {args.b}, {_mpi(b)}")
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(
        f"{comparison.metric}, medians over launches; ratio B/A with its limits of {100 * CONFIDENCE:g} %; "
        "the verdict is on B"
    )
    for experiment in dict.fromkeys(pair.experiment for pair in comparison.pairs):
        _tell_experiment(experiment, [pair for pair in comparison.pairs if pair.experiment == experiment])
    _tell_odd(comparison)
    _tell_summary(comparison)


def _tell_experiment(experiment: str, pairs: list[Pair]) -> None:
    varying, fixed = _parted([pair.factors for pair in pairs])
    rows = [[*varying, "A", "B", "B/A", "limits", "B is"]]
    for pair in pairs:
        low, high = pair.ratio.low, pair.ratio.high
        limits = f"{low:.3g} .. {high:.3g}" if low is not None and high is not None else "too few launches"
        times = [seconds(median) for median in (pair.a.median, pair.b.median) if median is not None]
        verdict = "unknown: too few launches" if pair.verdict == "unknown" else pair.verdict
        rows.append(
            [
                *(_factor(name, pair.factors[name]) for name in varying),
                *times,
                f"{pair.ratio.value:.3g}",
                limits,
                verdict,
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{experiment} ({fixed})")
    for row in rows:
        print("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _tell_odd(comparison: Comparison) -> None:
    groups: dict[tuple[str, str, str], list[Odd]] = {}
    for odd in comparison.odd:
        group = odd.experiment, _told(odd.a), _told(odd.b)
        groups.setdefault(group, []).append(odd)
    if groups:
        print("\nnot compared:")
    for (experiment, a, b), members in groups.items():
        varying, fixed = _parted([odd.factors for odd in members])
        print(f"  {experiment}: A {a}; B {b} ({len(members)}: {fixed})")
        for odd in members[:FEW] if varying else []:
            print("    " + ", ".join(f"{name} {_factor(name, odd.factors[name])}" for name in varying))
        if len(members) > FEW:
            print(f"    ... and {len(members) - FEW} more; --json has all")


def _told(side: Side) -> str:
    word = "does not have it" if side.status == "not_planned" else side.status
    return f"{word}: {side.reason}" if side.reason else word


def _parted(points: list[dict[str, int | str]]) -> tuple[list[str], str]:
    """The factors in which points differ, and in words those in which they do not."""
    varying = [name for name in points[0] if len({point[name] for point in points}) > 1]
    fixed = (f"{name} {_factor(name, value)}" for name, value in points[0].items() if name not in varying)
    return varying, ", ".join(fixed)


def _factor(name: str, value: int | str) -> str:
    from collpress.analysis.sizes import iec

    return iec(value) if name == "message_bytes" and isinstance(value, int) else str(value)


def _tell_summary(comparison: Comparison) -> None:
    counts = comparison.counts()
    only_a, both, only_b = comparison.algorithms
    print(
        f"\n{counts['compared']} points compared: B is better in {counts['better']}, worse in {counts['worse']}, "
        f"no difference shown in {counts['no difference shown']}"
        + (f", {counts['unknown']} with too few launches to tell" if counts["unknown"] else "")
    )
    if comparison.pairs:
        print(
            "each point is judged alone: if nothing differed, chance would show about "
            f"{comparison.expected_by_chance():.1f} differences. Launches of one campaign do not cover drift: "
            "what changed on the machine between the two campaigns counts as a difference"
        )
    left = [(counts["only_a"], "only in A"), (counts["only_b"], "only in B"), (counts["not_ok"], "not ok in both")]
    print("not compared: " + (", ".join(f"{count} {words}" for count, words in left if count) or "none"))
    print(
        f"library algorithms by name: {len(both)} in both ({', '.join(both) or 'none'}); "
        f"{len(only_a)} only in A, {len(only_b)} only in B"
    )


def seconds(value: float) -> str:
    """
    >>> seconds(3.456e-6), seconds(0.0123), seconds(2.0)
    ('3.46 us', '12.3 ms', '2 s')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
