"""SYNTHETIC fixture: `phases_s` of records whose algorithm tags its phases; no number in it was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PARTS = ("compress", "send", "decompress", "reduce", "wait", "copy")


def tagged(
    phases: Mapping[str, Mapping[str, float]], beyond: float = 0.0, scale: Callable[[int], float] = lambda launch: 1.0
) -> Callable[[int], dict[str, Any]]:
    """An outcome: seconds of each part in each phase, where `other` may be one; `beyond` is in no phase and no part.

    All seconds are multiplied by `scale(launch)`. The empty name stands for what is in no phase.
    """

    def outcome(launch: int) -> dict[str, Any]:
        by = scale(launch)
        told = [_phase(name, {part: by * s for part, s in parts.items()}) for name, parts in phases.items()]
        sums = {part: sum(phase[part] for phase in told) for part in PARTS}
        total = sum(phase["total"] for phase in told) + by * beyond
        other = total - sum(sums.values())
        return {"phases_s": {"iterations": 5, "rank": 1, "total": total, **sums, "other": other, "phases": told}}

    return outcome


def _phase(name: str, parts: Mapping[str, float]) -> dict[str, Any]:
    calls = {part: parts.get(part, 0.0) for part in PARTS}
    return {"name": name, "total": sum(parts.values()), **calls}
