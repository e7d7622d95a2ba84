"""SYNTHETIC fixture: what the core might say of rounds of feedback. Nothing in it was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def grows(first: float, power: float, *, asked: int = 100, done: int = 0) -> Callable[[int], dict[str, Any]]:
    """An outcome whose error is `first` times round to the `power`; 0 for none at all. Launches differ by a tenth."""
    rounds = [n for n in (1, 2, 4, 10, 30, 64, 100, 1000) if n < (done or asked)] + [done or asked]

    def outcome(launch: int) -> dict[str, Any]:
        errors = [float(f"{first * number**power * (1 + launch / 10):.6g}") for number in rounds]
        return {
            "feedback": {
                "asked": asked,
                "done": done or asked,
                "compared": 1000,
                "value_range": 2.0,
                "round": rounds,
                "max_abs_error": errors,
                "nrmse": [float(f"{error / 8:.6g}") for error in errors],
                "bias": [float(f"{-error / 64:.6g}") for error in errors],
                "lost": [0] * len(rounds),
            }
        }

    return outcome
